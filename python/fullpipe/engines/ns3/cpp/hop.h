// A hop of a route: a wire, or a port of a cell.
#pragma once

#include "clock.h"
#include "histogram.h"
#include "input.h"
#include "parcel.h"

#include "ns3/net-device-queue-interface.h"
#include "ns3/queue-disc.h"

#include <functional>

namespace fullpipe
{

struct HopCounters
{
    uint64_t dropped = 0;
    uint64_t marked = 0;
    uint64_t forwarded = 0;
    uint64_t forwardedBytes = 0;
    uint64_t started = 0;
    double waitedNanos = 0;
    double busyNanos = 0;
};

class Hop
{
  public:
    // `lose` is called with every packet that is dropped or lost.
    Hop(std::string name, Deliver deliver, Deliver lose)
        : m_name(std::move(name)),
          m_deliver(std::move(deliver)),
          m_lose(std::move(lose))
    {
    }

    virtual ~Hop() = default;
    virtual void Send(ns3::Ptr<Parcel> parcel) = 0;
    virtual uint32_t BacklogPackets() const = 0;
    virtual uint32_t BacklogBytes() const = 0;

    // Counters up to now. The elapsed part of a transmission in progress counts as busy time.
    virtual HopCounters Counters() const
    {
        return m_counters;
    }

    // Whether the hop has a rate, and therefore a utilisation.
    virtual bool HasRate() const = 0;

    // Begin to measure queueing delays and the maximum backlog.
    void BeginMeasuring()
    {
        m_measuring = true;
        m_maxBacklog = BacklogPackets();
    }

    const std::string& Name() const
    {
        return m_name;
    }

    const Histogram& Waits() const
    {
        return m_waits;
    }

    uint64_t MaxBacklog() const
    {
        return m_maxBacklog;
    }

  protected:
    // Create a queue discipline of ns-3, which passes packets to `transmit` while the device that sends them accepts
    // packets.
    void MakeQueue(const QueueInput& input, std::function<void(ns3::Ptr<Parcel>)> transmit);
    void Drop(ns3::Ptr<Parcel> parcel);
    // Record that a packet has left the queue.
    void Leave(const Parcel& parcel);
    void Arrive(ns3::Ptr<Parcel> parcel);
    // Record that a packet has joined the queue.
    void Joined();

    std::string m_name;
    Deliver m_deliver;
    Deliver m_lose;
    ns3::Ptr<ns3::QueueDisc> m_disc;
    ns3::Ptr<ns3::NetDeviceQueueInterface> m_port;
    HopCounters m_counters;

  private:
    bool m_measuring = false;
    Histogram m_waits;
    uint64_t m_maxBacklog = 0;
};

} // namespace fullpipe
