#include "radio.h"

#include "radio_port.h"

#include "ns3/tag.h"

using namespace ns3;

namespace fullpipe
{

namespace
{

// A tag with the number of a packet in the cell.
class Ticket : public Tag
{
  public:
    explicit Ticket(uint64_t number = 0)
        : number(number)
    {
    }

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("fullpipe::Ticket").SetParent<Tag>().AddConstructor<Ticket>();
        return tid;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 8;
    }

    void Serialize(TagBuffer buffer) const override
    {
        buffer.WriteU64(number);
    }

    void Deserialize(TagBuffer buffer) override
    {
        number = buffer.ReadU64();
    }

    void Print(std::ostream& stream) const override
    {
        stream << number;
    }

    uint64_t number;
};

uint64_t
TicketOf(Ptr<const Packet> packet)
{
    Ticket ticket; // the ticket is a byte tag, as packet tags are lost in aggregation
    return packet->FindFirstMatchingByteTag(ticket) ? ticket.number : 0;
}

} // namespace

void
Radio::Send(Ptr<Parcel> parcel, RadioPort& port)
{
    Ptr<Packet> packet = Create<Packet>(parcel->NetworkSize());
    packet->AddByteTag(Ticket(++m_tickets));
    m_flights[m_tickets] = {parcel, &port, false};
    Transmit(packet, port.Number());
}

Radio::Flight*
Radio::Find(Ptr<const Packet> packet)
{
    const auto found = m_flights.find(TicketOf(packet));
    return found == m_flights.end() ? nullptr : &found->second;
}

void
Radio::Leaves(Flight& flight)
{
    if (!flight.left)
    {
        flight.left = true;
        flight.port->Left(*flight.parcel);
    }
}

void
Radio::LeaveParts(Ptr<const Packet> sent, std::set<RadioPort*>& ports)
{
    for (ByteTagIterator tags = sent->GetByteTagIterator(); tags.HasNext();)
    {
        const ByteTagIterator::Item item = tags.Next();
        if (item.GetTypeId() == Ticket::GetTypeId())
        {
            Ticket ticket;
            item.GetTag(ticket);
            const auto found = m_flights.find(ticket.number);
            if (found != m_flights.end())
            {
                ports.insert(found->second.port);
                Leaves(found->second);
            }
        }
    }
}

void
Radio::Received(Ptr<const Packet> packet)
{
    const auto found = m_flights.find(TicketOf(packet));
    if (found != m_flights.end())
    {
        const Flight flight = found->second;
        m_flights.erase(found);
        flight.port->Received(flight.parcel);
    }
}

void
Radio::GivenUp(Ptr<const Packet> packet)
{
    const auto found = m_flights.find(TicketOf(packet));
    if (found != m_flights.end())
    {
        Flight flight = found->second;
        m_flights.erase(found);
        Leaves(flight);
        flight.port->GivenUp(flight.parcel);
    }
}

} // namespace fullpipe
