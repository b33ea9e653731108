#include "own.h"

#include "host.h"

#include "ns3/simulator.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <dlfcn.h>
#include <stdexcept>

using namespace ns3;

namespace fullpipe
{

NS_OBJECT_ENSURE_REGISTERED(OwnAlgorithm);

const fullpipe_congestion_api*
LoadAlgorithms(const std::string& library)
{
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = loaded ? dlsym(loaded, "fullpipe_congestion") : nullptr;
    if (!symbol)
    {
        throw std::runtime_error(dlerror());
    }
    const auto* api = reinterpret_cast<const fullpipe_congestion_api* (*)()>(symbol)();
    if (api->abi != FULLPIPE_ABI)
    {
        throw std::runtime_error(library + " has another version of the interface; rebuild it");
    }
    return api;
}

TypeId
OwnAlgorithm::GetTypeId()
{
    static TypeId type = TypeId("fullpipe::OwnAlgorithm")
                             .SetParent<TcpCongestionOps>()
                             .SetGroupName("Internet")
                             .AddConstructor<OwnAlgorithm>();
    return type;
}

OwnAlgorithm::~OwnAlgorithm()
{
    if (m_handle)
    {
        m_api->destroy(m_handle);
    }
}

void
OwnAlgorithm::Make(const fullpipe_congestion_api* api,
                   const std::string& name,
                   const std::string& parameters,
                   uint64_t seed)
{
    char error[500] = "";
    m_api = api;
    m_name = name;
    m_handle = api->create(name.c_str(), parameters.c_str(), seed, error, sizeof error);
    if (!m_handle)
    {
        throw std::runtime_error(error);
    }
    Require(api->traits(m_handle, &m_traits), "traits");
    Refresh();
    if (m_traits.ecn == FULLPIPE_ECN_L4S)
    {
        throw std::runtime_error(name + " needs marks that are counted (AccECN), which ns-3 does not have");
    }
}

void
OwnAlgorithm::Attach(TcpSocketBase* socket, Scoreboard* scoreboard)
{
    m_socket = socket;
    m_scoreboard = scoreboard;
}

TcpSocketState&
OwnAlgorithm::State() const
{
    return Inside::State(*m_socket);
}

uint32_t
OwnAlgorithm::Packets(uint32_t bytes) const
{
    return (bytes + State().m_segmentSize - 1) / State().m_segmentSize;
}

uint32_t
OwnAlgorithm::InFlight() const
{
    return Packets(m_socket->GetTxBuffer()->BytesInFlight());
}

void
OwnAlgorithm::Require(int status, const char* call) const
{
    if (status != FULLPIPE_OK)
    {
        throw std::runtime_error(m_name + " failed in " + call);
    }
}

void
OwnAlgorithm::Established(uint32_t initialWindow, int64_t rtt)
{
    m_minRtt = m_srtt = rtt;
    State().m_pacing = State().m_pacing || m_traits.needs_pacing;
    if (m_control.cwnd != initialWindow)
    {
        Require(m_api->set_cwnd(m_handle, initialWindow), "set_cwnd");
    }
    const fullpipe_path path = Path();
    Require(m_api->established(m_handle, &path), "established");
    Refresh();
    Apply();
}

bool
OwnAlgorithm::Sending()
{
    const uint32_t inFlight = InFlight(); // includes the packet that leaves
    const auto now = static_cast<uint64_t>(NowNanos());
    const bool idle = inFlight <= 1;
    if (idle || m_traits.watches_sends)
    {
        const fullpipe_path path = Path();
        Require(m_api->sent(m_handle, 1, idle, m_lastSend ? now - m_lastSend : 0, &path), "sent");
        Refresh();
        State().m_ssThresh = SsThresh();
    }
    m_lastSend = now;
    m_reducedSent++;
    const bool limited = inFlight >= m_control.cwnd;
    if (m_scoreboard->FirstNumber() >= m_roundEnd || limited || (!m_wasLimited && inFlight > m_mostInFlight))
    {
        m_wasLimited = limited;
        m_mostInFlight = inFlight;
        m_roundEnd = m_scoreboard->FirstNumber() + m_scoreboard->Outstanding() + 1;
    }
    return m_hiddenUntil != 0 || Inside::Rate(*m_socket).GetConnectionRate().m_appLimited != 0;
}

bool
OwnAlgorithm::IsCwndLimited() const
{
    const bool slowStart = !m_traits.owns_recovery && m_control.cwnd < m_control.ssthresh;
    return m_wasLimited || (slowStart && m_control.cwnd < 2 * m_mostInFlight);
}

void
OwnAlgorithm::Arrived(const Digest& digest, int64_t oneWayDelay)
{
    m_digest = digest;
    m_oneWayDelay = oneWayDelay;
    m_processing = true;
    m_priorState = static_cast<uint32_t>(State().m_congState.Get());
    m_priorInFlight = InFlight();
    if (digest.oldestRtt)
    {
        m_srtt += (*digest.oldestRtt - m_srtt) / 8;
    }
    if (digest.newestRtt)
    {
        m_minRtt = std::min(m_minRtt, *digest.newestRtt);
    }
    TellLost(digest);
}

std::string
OwnAlgorithm::GetName() const
{
    return m_name;
}

// ns-3 calls this function once per congestion episode: on entering recovery, on an echoed CE mark, or at a timeout.
uint32_t
OwnAlgorithm::GetSsThresh(Ptr<const TcpSocketState>, uint32_t)
{
    if (!m_processing)
    {
        m_reducedByTimer = true;
        Digest digest;
        m_scoreboard->LoseAll(digest);
        TellLost(digest);
        Episode(FULLPIPE_EPISODE_TIMEOUT);
    }
    else
    {
        Episode(m_enteringRecovery ? FULLPIPE_EPISODE_LOSS : FULLPIPE_EPISODE_ECN);
        m_enteringRecovery = false;
    }
    return SsThresh();
}

uint32_t
OwnAlgorithm::SsThresh() const
{
    const uint64_t bytes = static_cast<uint64_t>(m_control.ssthresh) * State().m_segmentSize;
    return static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
}

void
OwnAlgorithm::Episode(uint32_t episode)
{
    m_priorCwnd = m_control.cwnd;
    m_reducedDelivered = 0;
    m_reducedSent = 0;
    const fullpipe_path path = Path();
    Require(m_api->congestion(m_handle, episode, &path), "congestion");
    Refresh();
}

// ns-3 does not need this function, as CongControl sets the window at every acknowledgement.
void
OwnAlgorithm::IncreaseWindow(Ptr<TcpSocketState>, uint32_t)
{
}

void
OwnAlgorithm::CongestionStateSet(Ptr<TcpSocketState>, const TcpSocketState::TcpCongState_t newState)
{
    if (newState == TcpSocketState::CA_RECOVERY)
    {
        m_enteringRecovery = true;
        Digest head;
        m_scoreboard->LoseHead(head);
        m_digest.lost.insert(m_digest.lost.end(), head.lost.begin(), head.lost.end());
        TellLost(head);
    }
}

void
OwnAlgorithm::CwndEvent(Ptr<TcpSocketState>, const TcpSocketState::TcpCAEvent_t event)
{
    if (event != TcpSocketState::CA_EVENT_LOSS)
    {
        return;
    }
    if (!m_reducedByTimer)
    {
        Episode(FULLPIPE_EPISODE_TIMEOUT_AGAIN);
    }
    m_reducedByTimer = false;
    m_episode = FULLPIPE_LOSS;
    Require(m_api->set_cwnd(m_handle, 1), "set_cwnd"); // ns-3 also sets the window to 1
    Refresh();
}

bool
OwnAlgorithm::HasCongControl() const
{
    return true;
}

void
OwnAlgorithm::CongControl(Ptr<TcpSocketState> tcb,
                          const TcpRateOps::TcpRateConnection& connection,
                          const TcpRateOps::TcpRateSample&)
{
    const auto state = static_cast<uint32_t>(tcb->m_congState.Get());
    m_appLimited = connection.m_appLimited != 0;
    if (m_digest.ece)
    {
        m_marked += m_digest.delivered;
    }
    if (m_episode >= FULLPIPE_CWR && state < FULLPIPE_CWR)
    {
        LeaveEpisode();
    }
    const fullpipe_path path = Path();
    const fullpipe_ack ack = Ack();
    Require(m_api->ack(m_handle, &ack, &path), "ack");
    Refresh();
    if (m_control.reduce && state < FULLPIPE_CWR)
    {
        // ns-3 has no state for reductions that an algorithm requests, so the episode ends immediately.
        Episode(FULLPIPE_EPISODE_DELAY);
        m_episode = FULLPIPE_CWR;
        LeaveEpisode();
    }
    if (!m_traits.owns_recovery && (state == FULLPIPE_CWR || state == FULLPIPE_RECOVERY))
    {
        Reduce();
    }
    if (m_hiddenUntil && path.delivered > m_hiddenUntil)
    {
        m_hiddenUntil = 0;
    }
    if (m_control.hide_samples)
    {
        m_hiddenUntil = std::max<uint64_t>(1, path.delivered + path.in_flight);
    }
    m_episode = state;
    m_processing = false;
    Apply();
}

void
OwnAlgorithm::LeaveEpisode()
{
    const bool reduced = m_episode == FULLPIPE_CWR || m_episode == FULLPIPE_RECOVERY;
    if (reduced && !m_traits.owns_recovery && m_control.ssthresh != UINT32_MAX)
    {
        Require(m_api->set_cwnd(m_handle, m_control.ssthresh), "set_cwnd");
        Refresh();
    }
    const fullpipe_path path = Path();
    Require(m_api->recovery_exit(m_handle, &path), "recovery_exit");
    Refresh();
}

// Proportional rate reduction (RFC 9937): during recovery, packets are sent in proportion to delivered packets.
void
OwnAlgorithm::Reduce()
{
    if (m_digest.delivered == 0)
    {
        return;
    }
    m_reducedDelivered += m_digest.delivered;
    const auto target = static_cast<int64_t>(m_control.ssthresh);
    const auto inFlight = static_cast<int64_t>(InFlight());
    const auto delivered = static_cast<int64_t>(m_reducedDelivered);
    const auto sent = static_cast<int64_t>(m_reducedSent);
    int64_t allowed = 0;
    if (inFlight > target)
    {
        const auto prior = static_cast<int64_t>(std::max(m_priorCwnd, 1u));
        allowed = (target * delivered + prior - 1) / prior - sent;
    }
    else
    {
        const bool progress = m_digest.advanced && m_digest.lost.empty();
        const auto catchUp = std::max<int64_t>(delivered - sent, m_digest.delivered) + progress;
        allowed = std::min<int64_t>(catchUp, target - inFlight);
    }
    const auto cwnd = std::max<int64_t>(1, inFlight + std::max<int64_t>(allowed, sent == 0));
    Require(m_api->set_cwnd(m_handle, static_cast<uint32_t>(cwnd)), "set_cwnd");
    Refresh();
}

// Pass the outputs of the algorithm to ns-3.
void
OwnAlgorithm::Apply()
{
    TcpSocketState& state = State();
    const uint64_t window = static_cast<uint64_t>(std::max(m_control.cwnd, 1u)) * state.m_segmentSize;
    state.m_cWnd = static_cast<uint32_t>(std::min<uint64_t>(window, UINT32_MAX));
    state.m_cWndInfl = state.m_cWnd.Get();
    state.m_ssThresh = SsThresh();
    if (m_control.pacing_bps != FULLPIPE_NONE)
    {
        state.m_pacingRate = DataRate(std::max<uint64_t>(m_control.pacing_bps, 1));
    }
    Wake();
}

void
OwnAlgorithm::Refresh()
{
    Require(m_api->control(m_handle, &m_control), "control");
}

void
OwnAlgorithm::Wake()
{
    const uint64_t at = m_api->next_wakeup(m_handle);
    const auto now = static_cast<uint64_t>(NowNanos());
    m_wakeup.Cancel();
    if (at == FULLPIPE_NONE)
    {
        return;
    }
    m_wakeup = Simulator::Schedule(NanoSeconds(at > now ? at - now : 0), [this]() {
        const fullpipe_path path = Path();
        Require(m_api->wakeup(m_handle, &path), "wakeup");
        Refresh();
        Apply();
    });
}

void
OwnAlgorithm::Observe(fullpipe_see see, void* context) const
{
    Require(m_api->observe(m_handle, see, context), "observe");
}

Ptr<TcpCongestionOps>
OwnAlgorithm::Fork()
{
    throw std::runtime_error("an algorithm belongs to one socket");
}

} // namespace fullpipe
