// A cell whose packets pass MAC and PHY of ns-3.
//
// A packet of ours enters ns-3 as one of the same size, with a ticket by which it is known when it leaves and when it
// arrives.
#pragma once

#include "cell.h"

#include "ns3/packet.h"

#include <set>
#include <unordered_map>

namespace fullpipe
{

class RadioPort;

// What waits in front of one radio, first in, first out.
struct Buffer
{
    uint64_t packets = 0, bytes = 0;
};

class Radio : public Cell
{
  public:
    // Hands a packet to the MAC of the sender of a port.
    void Send(ns3::Ptr<Parcel> parcel, RadioPort& port);

    // From any port to its far end.
    virtual int64_t Delay() const = 0;

  protected:
    struct Flight
    {
        ns3::Ptr<Parcel> parcel;
        RadioPort* port = nullptr;
        bool left = false;
    };

    virtual void Transmit(ns3::Ptr<ns3::Packet> packet, uint32_t port) = 0;

    // What is under way with the ticket of a packet, if it is ours.
    Flight* Find(ns3::Ptr<const ns3::Packet> packet);
    // It is sent, perhaps not for the first time.
    static void Leaves(Flight& flight);
    void Received(ns3::Ptr<const ns3::Packet> packet);
    void GivenUp(ns3::Ptr<const ns3::Packet> packet);
    // Every one of ours of which a part is in what a PHY sends; adds the ports from which they are.
    void LeaveParts(ns3::Ptr<const ns3::Packet> sent, std::set<RadioPort*>& ports);

  private:
    std::unordered_map<uint64_t, Flight> m_flights;
    uint64_t m_tickets = 0;
};

} // namespace fullpipe
