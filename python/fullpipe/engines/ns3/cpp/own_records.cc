// The records of path, acknowledgement and losses that fullpipe's algorithms get.

#include "host.h"
#include "own.h"

#include "ns3/simulator.h"

#include <algorithm>

using namespace ns3;

namespace fullpipe
{

fullpipe_path
OwnAlgorithm::Path() const
{
    const TcpSocketState& state = State();
    fullpipe_path path{};
    path.now = static_cast<uint64_t>(NowNanos());
    path.srtt = m_srtt < 0 ? FULLPIPE_NONE : static_cast<uint64_t>(m_srtt);
    path.min_rtt = m_minRtt < 0 ? FULLPIPE_NONE : static_cast<uint64_t>(m_minRtt);
    path.next = m_scoreboard->FirstNumber() + m_scoreboard->Outstanding();
    path.delivered = m_scoreboard->Delivered();
    path.delivered_time = static_cast<uint64_t>(m_scoreboard->DeliveredTime());
    path.lost = m_scoreboard->Lost();
    path.marked = m_marked;
    path.next_departure = path.now;
    path.pacing_bps = state.m_pacingRate.Get().GetBitRate();
    path.mss = state.m_segmentSize;
    path.state = static_cast<uint32_t>(state.m_congState.Get());
    path.in_flight = InFlight();
    path.packets_out = static_cast<uint32_t>(m_scoreboard->Outstanding());
    path.max_burst_bytes = 65536; // Linux's algorithms compute with this value, even if packets leave one by one
    path.ecn = state.m_ecnState != TcpSocketState::ECN_DISABLED;
    path.cwnd_limited = IsCwndLimited();
    path.app_limited = m_appLimited;
    path.paced = state.m_pacing;
    return path;
}

fullpipe_ack
OwnAlgorithm::Ack() const
{
    const auto state = static_cast<uint32_t>(State().m_congState.Get());
    const bool reducing = !m_traits.owns_recovery && (state == FULLPIPE_CWR || state == FULLPIPE_RECOVERY);
    fullpipe_ack ack{};
    ack.rtt = m_digest.newestRtt ? static_cast<uint64_t>(*m_digest.newestRtt) : FULLPIPE_NONE;
    ack.one_way_delay = m_oneWayDelay < 0 ? FULLPIPE_NONE : static_cast<uint64_t>(m_oneWayDelay);
    ack.una = m_scoreboard->FirstNumber();
    ack.acked = m_digest.delivered;
    ack.cumulative = m_digest.cumulative;
    ack.lost = static_cast<uint32_t>(m_digest.lost.size());
    ack.marked = m_digest.ece ? m_digest.delivered : 0;
    ack.prior_state = m_priorState;
    ack.prior_in_flight = m_priorInFlight;
    ack.may_grow = m_digest.advanced && !reducing;
    ack.advanced = m_digest.advanced;
    AddRate(ack);
    return ack;
}

// The delivery-rate sample (draft-ietf-ccwg-bbr, section 4.1): the packets delivered since the newest segment left,
// over the longer of two times: the time to send these packets, and the time to acknowledge them.
void
OwnAlgorithm::AddRate(fullpipe_ack& ack) const
{
    ack.rate_interval = FULLPIPE_NONE;
    if (!m_digest.newest)
    {
        return;
    }
    const Segment& newest = *m_digest.newest;
    const int64_t now = NowNanos();
    const int64_t interval = std::max(newest.sent - newest.flightStart, now - newest.deliveredTime);
    ack.has_rate = 1;
    ack.rate_delivered = static_cast<uint32_t>(m_scoreboard->Delivered() - newest.delivered);
    ack.rate_prior_delivered = newest.delivered;
    ack.rate_app_limited = newest.hidden;
    ack.rate_lost = static_cast<uint32_t>(m_scoreboard->Lost() - newest.lostBefore);
    ack.rate_tx_in_flight = newest.inFlight;
    // An interval below the smallest RTT shows that the ACK is for the original of a retransmission. The sample is then
    // invalid.
    if (interval > 0 && interval / 1000 >= m_minRtt / 1000)
    {
        ack.rate_interval = static_cast<uint64_t>(interval);
    }
}

void
OwnAlgorithm::TellLost(const Digest& digest)
{
    if (!m_traits.watches_losses || digest.lost.empty())
    {
        return;
    }
    const fullpipe_path path = Path();
    for (const auto& [number, segment] : digest.lost)
    {
        fullpipe_lost_packet packet{};
        packet.number = number;
        packet.tx_in_flight = segment.inFlight;
        packet.lost = static_cast<uint32_t>(m_scoreboard->Lost() - segment.lostBefore);
        packet.app_limited = segment.hidden;
        Require(m_api->lost(m_handle, &packet, &path), "lost");
    }
}

} // namespace fullpipe
