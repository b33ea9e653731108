//! The structure `tcp_info` of Linux.

/// Names and sizes of the fields in their order. Each begins at a multiple of its size.
const FIELDS: [(&str, usize); 68] = [
    ("state", 1),
    ("ca_state", 1),
    ("retransmits", 1),
    ("probes", 1),
    ("backoff", 1),
    ("options", 1),
    ("wscale", 1),
    ("flags", 1),
    ("rto", 4),
    ("ato", 4),
    ("snd_mss", 4),
    ("rcv_mss", 4),
    ("unacked", 4),
    ("sacked", 4),
    ("lost", 4),
    ("retrans", 4),
    ("fackets", 4),
    ("last_data_sent", 4),
    ("last_ack_sent", 4),
    ("last_data_recv", 4),
    ("last_ack_recv", 4),
    ("pmtu", 4),
    ("rcv_ssthresh", 4),
    ("rtt", 4),
    ("rttvar", 4),
    ("snd_ssthresh", 4),
    ("snd_cwnd", 4),
    ("advmss", 4),
    ("reordering", 4),
    ("rcv_rtt", 4),
    ("rcv_space", 4),
    ("total_retrans", 4),
    ("pacing_rate", 8),
    ("max_pacing_rate", 8),
    ("bytes_acked", 8),
    ("bytes_received", 8),
    ("segs_out", 4),
    ("segs_in", 4),
    ("notsent_bytes", 4),
    ("min_rtt", 4),
    ("data_segs_in", 4),
    ("data_segs_out", 4),
    ("delivery_rate", 8),
    ("busy_time", 8),
    ("rwnd_limited", 8),
    ("sndbuf_limited", 8),
    ("delivered", 4),
    ("delivered_ce", 4),
    ("bytes_sent", 8),
    ("bytes_retrans", 8),
    ("dsack_dups", 4),
    ("reord_seen", 4),
    ("rcv_ooopack", 4),
    ("snd_wnd", 4),
    ("rcv_wnd", 4),
    ("rehash", 4),
    ("total_rto", 2),
    ("total_rto_recoveries", 2),
    ("total_rto_time", 4),
    ("received_ce", 4),
    ("delivered_e1_bytes", 4),
    ("delivered_e0_bytes", 4),
    ("delivered_ce_bytes", 4),
    ("received_e1_bytes", 4),
    ("received_e0_bytes", 4),
    ("received_ce_bytes", 4),
    ("accecn_fail_mode", 2),
    ("accecn_opt_seen", 2),
];

/// Parts of the byte `wscale`: the exponents of the windows that the kernel sends and receives.
const SCALES: [&str; 2] = ["snd_wscale", "rcv_wscale"];

/// Whether the structure has a field, whose name is without `tcpi_`.
pub(super) fn has_field(name: &str) -> bool {
    SCALES.contains(&name) || FIELDS.iter().any(|(field, _)| *field == name)
}

/// The value of a field such as `tcpi_snd_cwnd` in the bytes of the structure; `None` if the kernel has no such field.
pub(super) fn field(bytes: &[u8], name: &str) -> Option<f64> {
    let name = name.strip_prefix("tcpi_")?;
    match name {
        "snd_wscale" => return Some(f64::from(bytes.get(6)? & 15)),
        "rcv_wscale" => return Some(f64::from(bytes.get(6)? >> 4)),
        _ => {}
    }
    let mut at = 0_usize;
    for (field, size) in FIELDS {
        at = at.next_multiple_of(size);
        if field == name {
            let raw = bytes.get(at..at + size)?;
            return Some(raw.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte)) as f64);
        }
        at += size;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_offsets_of_the_kernel() {
        let mut bytes = vec![0; 232];
        bytes[6] = 0x87;
        bytes[80] = 10;
        (bytes[120], bytes[121]) = (1, 1);
        bytes[228] = 5;
        let value = |name| field(&bytes, name);
        assert_eq!(value("tcpi_snd_cwnd"), Some(10.0));
        assert_eq!(value("tcpi_bytes_acked"), Some(257.0));
        assert_eq!((value("tcpi_snd_wscale"), value("tcpi_rcv_wscale")), (Some(7.0), Some(8.0)));
        assert_eq!((value("tcpi_snd_wnd"), value("tcpi_rcv_wnd"), value("cwnd")), (Some(5.0), None, None));
    }
}
