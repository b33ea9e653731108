// A cell whose packets pass through MAC and PHY of ns-3.
//
// A packet of fullpipe enters ns-3 as a packet of the same size with a ticket. The ticket identifies the packet when it
// leaves and when it arrives.
#pragma once

#include "cell.h"

#include "ns3/packet.h"

#include <set>
#include <unordered_map>

namespace fullpipe
{

class RadioPort;

// Backlog of the first-in, first-out buffer of a radio.
struct Buffer
{
    uint64_t packets = 0, bytes = 0;
};

class Radio : public Cell
{
  public:
    // Pass a packet to the MAC of the sender of a port.
    void Send(ns3::Ptr<Parcel> parcel, RadioPort& port);

    // Propagation delay from any port to its far end.
    virtual int64_t Delay() const = 0;

  protected:
    struct Flight
    {
        ns3::Ptr<Parcel> parcel;
        RadioPort* port = nullptr;
        bool left = false;
    };

    virtual void Transmit(ns3::Ptr<ns3::Packet> packet, uint32_t port) = 0;

    // The packet in the cell with the same ticket as an ns-3 packet; null if no packet has this ticket.
    Flight* Find(ns3::Ptr<const ns3::Packet> packet);
    // Record a transmission of the packet. Only the first transmission counts.
    static void Leaves(Flight& flight);
    void Received(ns3::Ptr<const ns3::Packet> packet);
    void GivenUp(ns3::Ptr<const ns3::Packet> packet);
    // Record a transmission of every packet that is partly or wholly in `sent`, and add the ports of these packets to
    // `ports`.
    void LeaveParts(ns3::Ptr<const ns3::Packet> sent, std::set<RadioPort*>& ports);

  private:
    std::unordered_map<uint64_t, Flight> m_flights;
    uint64_t m_tickets = 0;
};

} // namespace fullpipe
