// One direction of a link: a queue discipline of ns-3, a rate, a propagation delay, and impairments.
//
// Packets go from wire to wire without IP routing. Hosts, sockets and queue disciplines are ns-3's implementations, but
// there are no routers or devices of ns-3 between hosts. As in the native engine, the limit of a queue therefore counts
// waiting packets without the packet in transmission, and the size of a packet is its size on the link that the
// scenario describes.
#pragma once

#include "dice.h"
#include "hop.h"
#include "input.h"

#include "ns3/event-id.h"

#include <deque>
#include <optional>

namespace fullpipe
{

// Loss without congestion. Random loss has the same random number streams and draws as in the native engine.
class LossModel
{
  public:
    LossModel(const LossInput& input, uint64_t seed)
        : m_input(input),
          m_dice(seed, input.stream)
    {
    }

    bool Strikes();

  private:
    LossInput m_input;
    Dice m_dice;
    uint64_t m_seen = 0;
    bool m_bad = false;
};

class Wire : public Hop
{
  public:
    Wire(const LinkInput& input, uint64_t seed, Deliver deliver, Deliver lose);

    void Send(ns3::Ptr<Parcel> parcel) override;
    HopCounters Counters() const override;

    uint32_t BacklogPackets() const override
    {
        return m_disc->GetNPackets() + static_cast<uint32_t>(m_device.size());
    }

    uint32_t BacklogBytes() const override
    {
        return m_disc->GetNBytes() + m_deviceBytes;
    }

    bool HasRate() const override
    {
        return m_input.rate > 0;
    }

  private:
    void Transmit(ns3::Ptr<Parcel> parcel);
    void Begin();
    void Continue();
    void Complete();
    void Sent(ns3::Ptr<Parcel> parcel);
    int64_t ArrivalAfter(int64_t now);
    int64_t WifiJitter();
    int64_t RecordedJitter();
    void Apply(const ChangeInput& change);
    void ChangeRate(int64_t rate);

    LinkInput m_input;
    uint64_t m_seed;
    std::optional<LossModel> m_loss;
    Dice m_jitterDice, m_wifiDice, m_recordedDice;
    int64_t m_rate; // bit/s; 0 during an outage
    int64_t m_delay;
    std::deque<ns3::Ptr<Parcel>> m_device; // packets below the queue discipline
    uint32_t m_deviceBytes = 0;
    ns3::Ptr<Parcel> m_sending;  // the packet in transmission; null if the wire is free
    double m_bitsLeft = 0;       // bits of m_sending that are left at time m_since
    int64_t m_since = 0;
    double m_spareNanos = 0; // time by which the last transmission was rounded up, ns
    ns3::EventId m_completion;
    int64_t m_lastArrival = 0, m_lastWifiArrival = 0, m_lastRecordedArrival = 0;
    uint64_t m_reorderSeen = 0;
};

} // namespace fullpipe
