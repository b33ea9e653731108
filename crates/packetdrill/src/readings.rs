//! Values of `tcp_info` that the model can read.

use crate::host::Host;
use congestion::CaState;
use units::Duration;

/// `tcpi_snd_ssthresh` before the first reduction (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

impl Host {
    /// The value of a name; `None` if the model has no such value.
    pub fn read(&self, name: &str) -> Option<f64> {
        if let Some(state) = state(name) {
            return Some(f64::from(state as u32));
        }
        let connection = self.connection.as_ref()?;
        let (sender, counters) = (&connection.sender, connection.sender.counters());
        let micros = |duration: Duration| duration.as_nanos() as f64 / 1e3;
        let value = match name {
            "tcpi_snd_cwnd" => counters.cwnd.into(),
            "tcpi_snd_ssthresh" => counters.ssthresh.min(INFINITE_SSTHRESH).into(),
            "tcpi_ca_state" => f64::from(counters.state as u32),
            "tcpi_unacked" => counters.unacked.into(),
            "tcpi_sacked" => counters.sacked.into(),
            "tcpi_lost" => counters.lost.into(),
            "tcpi_retrans" => counters.retrans.into(),
            "tcpi_reordering" => counters.reordering.into(),
            "tcpi_total_retrans" => sender.stats().retransmitted_packets as f64,
            "tcpi_delivered_ce" => sender.stats().marked_packets as f64,
            "tcpi_bytes_acked" => sender.stats().acked_bytes as f64,
            "tcpi_bytes_received" => connection.receiver.delivered_bytes() as f64,
            "tcpi_rcv_mss" => connection.receiver.largest_payload().into(),
            "tcpi_rtt" => micros(sender.srtt()?),
            "tcpi_rto" => micros(sender.rto()),
            "tcpi_rwnd_limited" => micros(sender.limited(self.now).receiver),
            "tcpi_sndbuf_limited" => micros(sender.limited(self.now).send_buffer),
            _ => return None,
        };
        Some(value)
    }
}

fn state(name: &str) -> Option<CaState> {
    Some(match name {
        "TCP_CA_Open" => CaState::Open,
        "TCP_CA_Disorder" => CaState::Disorder,
        "TCP_CA_CWR" => CaState::Cwr,
        "TCP_CA_Recovery" => CaState::Recovery,
        "TCP_CA_Loss" => CaState::Loss,
        _ => return None,
    })
}
