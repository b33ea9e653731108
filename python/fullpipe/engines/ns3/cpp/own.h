// An algorithm of fullpipe on ns-3's stack. All of fullpipe's algorithms use this class, a subclass of ns-3's
// TcpCongestionOps.
//
// ns-3 detects losses, retransmits, and runs the timers. ns-3 does not tell an algorithm how much was in flight when a
// packet left, which packets were lost, or RTTs finer than a millisecond. The data that ns-3 does not report come from
// a separate scoreboard (scoreboard.h). Delivery-rate samples also come from this scoreboard, because ns-3's sample
// still has its old values at later acknowledgements. Undo, tail loss probes and restarts after idle never happen,
// because ns-3 does not implement them.
#pragma once

#include "scoreboard.h"

#include "fullpipe_congestion.h"
#include "ns3/event-id.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"

#include <functional>
#include <string>

namespace fullpipe
{

// Load the table of functions of a shared library. Throws std::runtime_error if the library has no such table.
const fullpipe_congestion_api* LoadAlgorithms(const std::string& library);

class OwnAlgorithm : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId();
    ~OwnAlgorithm() override;

    // Throws std::runtime_error if there is no such algorithm, or the algorithm requires something that ns-3 lacks.
    void Make(const fullpipe_congestion_api* api,
              const std::string& name,
              const std::string& parameters,
              uint64_t seed);

    void Attach(ns3::TcpSocketBase* socket, Scoreboard* scoreboard);

    // Start the algorithm when the handshake is complete.
    void Established(uint32_t initialWindow, int64_t rtt);

    // Process a segment that leaves. Returns whether the segment's delivery-rate sample counts as application-limited.
    bool Sending();

    // Process an acknowledgement that the scoreboard has processed, before ns-3 processes it.
    void Arrived(const Digest& digest, int64_t oneWayDelay);

    void Observe(fullpipe_see see, void* context) const;

    // Whether the receiver must echo every mark, as for DCTCP.
    bool WantsEveryMark() const
    {
        return m_traits.ecn == FULLPIPE_ECN_EVERY_MARK;
    }

    // Interface of ns-3.
    std::string GetName() const override;
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb,
                            const ns3::TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb,
                     const ns3::TcpRateOps::TcpRateConnection& connection,
                     const ns3::TcpRateOps::TcpRateSample& sample) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    ns3::TcpSocketState& State() const;
    fullpipe_path Path() const;
    uint32_t Packets(uint32_t bytes) const;
    uint32_t InFlight() const;
    fullpipe_ack Ack() const;
    void AddRate(fullpipe_ack& ack) const;
    void Require(int status, const char* call) const;
    void TellLost(const Digest& digest);
    uint32_t SsThresh() const;
    void Episode(uint32_t episode);
    void LeaveEpisode();
    void Reduce();
    bool IsCwndLimited() const;
    void Apply();
    void Refresh();
    void Wake();

    const fullpipe_congestion_api* m_api = nullptr;
    fullpipe_algorithm* m_handle = nullptr;
    std::string m_name;
    fullpipe_traits m_traits{};
    fullpipe_control m_control{};
    ns3::TcpSocketBase* m_socket = nullptr;
    Scoreboard* m_scoreboard = nullptr;
    Digest m_digest; // information of the acknowledgement in process
    int64_t m_oneWayDelay = -1;
    bool m_processing = false;
    bool m_enteringRecovery = false;
    bool m_reducedByTimer = false; // ns-3 requested a threshold outside of any acknowledgement
    bool m_appLimited = false;
    uint32_t m_priorState = FULLPIPE_OPEN;
    uint32_t m_episode = FULLPIPE_OPEN; // state of recovery after the last acknowledgement
    uint32_t m_priorInFlight = 0;
    uint64_t m_lastSend = 0;
    uint64_t m_marked = 0;
    int64_t m_minRtt = -1;
    int64_t m_srtt = -1;
    uint64_t m_hiddenUntil = 0; // samples count as application-limited up to this count of delivered packets
    // Proportional rate reduction.
    uint32_t m_priorCwnd = 0;
    uint64_t m_reducedDelivered = 0;
    uint64_t m_reducedSent = 0;
    // Use of the congestion window in the current round.
    uint64_t m_roundEnd = 0;
    uint32_t m_mostInFlight = 0;
    bool m_wasLimited = false;
    ns3::EventId m_wakeup;
};

} // namespace fullpipe
