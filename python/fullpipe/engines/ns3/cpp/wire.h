// One direction of a link: a queue discipline of ns-3, a rate, a propagation delay, and impairments.
//
// Packets hop from wire to wire below IP: ns-3's hosts, sockets and queue disciplines, but no routers and no devices
// between them. So a queue's limit means packets that wait, not the one being sent, as natively, and the size of a packet
// is that on the link the scenario describes.
#pragma once

#include "dice.h"
#include "histogram.h"
#include "input.h"

#include "ns3/event-id.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/queue-disc.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>

namespace fullpipe
{

// A packet on its way.
class Parcel : public ns3::Ipv4QueueDiscItem
{
  public:
    Parcel(ns3::Ptr<ns3::Packet> packet,
           const ns3::Address& destination,
           uint16_t protocol,
           const ns3::Ipv4Header& header,
           uint32_t linkOverhead)
        : Ipv4QueueDiscItem(packet, destination, protocol, header),
          m_linkOverhead(linkOverhead)
    {
    }

    uint32_t GetSize() const override
    {
        return Ipv4QueueDiscItem::GetSize() + m_linkOverhead;
    }

    // Every queue wants to put the header before the payload: it stays apart until the packet has arrived.
    void AddHeader() override
    {
    }

    ns3::Ptr<ns3::Packet> Whole()
    {
        Ipv4QueueDiscItem::AddHeader();
        return GetPacket();
    }

    uint32_t flow = 0;
    uint32_t host = 0;         // number of the node at which it will arrive
    int way = 0;               // 0: data, 1: acknowledgements
    int64_t since = 0;         // joined the queue
    int64_t sent = 0;          // left its host
    int64_t oneWayDelay = -1;  // of an acknowledgement: that of the data that arrived last

  private:
    uint32_t m_linkOverhead;
};

using Deliver = std::function<void(ns3::Ptr<Parcel>)>;

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

struct WireCounters
{
    uint64_t dropped = 0;
    uint64_t marked = 0;
    uint64_t forwarded = 0;
    uint64_t forwardedBytes = 0;
    uint64_t started = 0;
    double waitedNanos = 0;
    double busyNanos = 0;
};

class Wire
{
  public:
    // `lose` is told of every packet that is dropped or lost.
    Wire(const LinkInput& input, uint64_t seed, Deliver deliver, Deliver lose);

    void Send(ns3::Ptr<Parcel> parcel);

    // What happened up to now; transmission in progress counts as far as it has got.
    WireCounters Counters() const;

    uint32_t BacklogPackets() const
    {
        return m_disc->GetNPackets() + static_cast<uint32_t>(m_device.size());
    }

    uint32_t BacklogBytes() const
    {
        return m_disc->GetNBytes() + m_deviceBytes;
    }

    // From now on waits and the largest backlog are measured.
    void BeginMeasuring();

    const LinkInput& Description() const
    {
        return m_input;
    }

    const Histogram& Waits() const
    {
        return m_waits;
    }

    uint64_t MaxBacklog() const
    {
        return m_maxBacklog;
    }

  private:
    void MakeQueue();
    void Drop(ns3::Ptr<Parcel> parcel);
    void Transmit(ns3::Ptr<ns3::QueueDiscItem> item);
    void Begin();
    void Leave(const Parcel& parcel);
    void Continue();
    void Complete();
    void Sent(ns3::Ptr<Parcel> parcel);
    void Arrive(ns3::Ptr<Parcel> parcel, bool lost);
    int64_t ArrivalAfter(int64_t now);
    void Apply(const ChangeInput& change);
    void ChangeRate(int64_t rate);

    LinkInput m_input;
    uint64_t m_seed;
    Deliver m_deliver;
    Deliver m_lose;
    ns3::Ptr<ns3::QueueDisc> m_disc;
    ns3::Ptr<ns3::NetDeviceQueueInterface> m_port;
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
    WireCounters m_counters;
    bool m_measuring = false;
    Histogram m_waits;
    uint64_t m_maxBacklog = 0;
};

} // namespace fullpipe
