// A packet between two hosts.
#pragma once

#include "ns3/ipv4-queue-disc-item.h"

#include <functional>

namespace fullpipe
{

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

    // Size without the overhead of the link layer.
    uint32_t NetworkSize() const
    {
        return Ipv4QueueDiscItem::GetSize();
    }

    // Every queue calls this function to put the header before the payload. The header stays separate until the packet
    // arrives.
    void AddHeader() override
    {
    }

    ns3::Ptr<ns3::Packet> Whole()
    {
        Ipv4QueueDiscItem::AddHeader();
        return GetPacket();
    }

    uint32_t flow = 0;
    uint32_t host = 0;         // index of the destination node
    int way = 0;               // 0: data, 1: acknowledgements
    int64_t since = 0;         // time at which the packet joined the queue
    int64_t sent = 0;          // time at which the packet left its host
    int64_t oneWayDelay = -1;  // in an acknowledgement: delay of the data that arrived last

  private:
    uint32_t m_linkOverhead;
};

using Deliver = std::function<void(ns3::Ptr<Parcel>)>;

} // namespace fullpipe
