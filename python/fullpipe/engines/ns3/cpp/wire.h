// One direction of a link: a queue discipline of ns-3, a rate, a propagation delay, and impairments.
//
// Packets hop from wire to wire below IP: ns-3's hosts, sockets and queue disciplines, but no routers and no devices
// between them. So a queue's limit means packets that wait, not the one being sent, as natively, and the size of a packet
// is that on the link the scenario describes.
#pragma once

#include "dice.h"
#include "hop.h"
#include "input.h"

#include "ns3/event-id.h"

#include <deque>
#include <optional>

namespace fullpipe
{

// Loss that is not congestion, as natively: same streams, same draws.
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
    void Apply(const ChangeInput& change);
    void ChangeRate(int64_t rate);

    LinkInput m_input;
    uint64_t m_seed;
    std::optional<LossModel> m_loss;
    Dice m_jitterDice;
    int64_t m_rate; // bit/s; 0 during an outage
    int64_t m_delay;
    std::deque<ns3::Ptr<Parcel>> m_device; // waits below the queue discipline
    uint32_t m_deviceBytes = 0;
    ns3::Ptr<Parcel> m_sending;  // null if the wire is free
    double m_bitsLeft = 0;       // of it, at m_since
    int64_t m_since = 0;
    double m_spareNanos = 0; // part of a nanosecond that the last transmission took less than the clock says
    ns3::EventId m_completion;
    int64_t m_lastArrival = 0;
    uint64_t m_reorderSeen = 0;
};

} // namespace fullpipe
