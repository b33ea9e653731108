#include "wifi/port.h"

#include "ns3/simulator.h"

using namespace ns3;

namespace fullpipe
{

WifiPort::WifiPort(const PortInput& input, Air& air, uint32_t number, Buffer& buffer, uint32_t room, Deliver deliver, Deliver lose)
    : Hop(input.name, std::move(deliver), std::move(lose)),
      m_input(input),
      m_air(air),
      m_number(number),
      m_buffer(buffer),
      m_room(room)
{
    if (!m_input.queue.type.empty())
    {
        MakeQueue(m_input.queue, [this](Ptr<Parcel> parcel) {
            Enter(parcel);
            if (m_waiting >= m_room)
            {
                m_port->GetTxQueue(0)->Stop();
            }
        });
    }
}

bool
WifiPort::IsFull(const Parcel& parcel) const
{
    return (m_input.packets && m_buffer.packets >= m_input.packets) ||
           (m_input.bytes && m_buffer.bytes + parcel.GetSize() > m_input.bytes);
}

void
WifiPort::Send(Ptr<Parcel> parcel)
{
    parcel->since = NowNanos();
    if (m_disc)
    {
        m_disc->Enqueue(parcel);
        m_disc->Run();
    }
    else if (IsFull(*parcel))
    {
        return Drop(parcel);
    }
    else
    {
        Enter(parcel);
    }
    Joined();
}

void
WifiPort::Enter(Ptr<Parcel> parcel)
{
    m_waiting++;
    m_waitingBytes += parcel->GetSize();
    m_buffer.packets++;
    m_buffer.bytes += parcel->GetSize();
    m_air.Send(parcel, *this);
}

void
WifiPort::Left(const Parcel& parcel)
{
    m_waiting--;
    m_waitingBytes -= parcel.GetSize();
    m_buffer.packets--;
    m_buffer.bytes -= parcel.GetSize();
    Leave(parcel);
    if (m_disc && m_waiting < m_room)
    {
        // The MAC is busy with what it sends: more comes when it is done.
        Simulator::ScheduleNow([this]() {
            m_port->GetTxQueue(0)->Start();
            m_disc->Run();
        });
    }
}

void
WifiPort::Received(Ptr<Parcel> parcel)
{
    Simulator::ScheduleWithContext(parcel->host, NanoSeconds(m_air.Description().delay), [this, parcel]() {
        Arrive(parcel);
    });
}

void
WifiPort::GivenUp(Ptr<Parcel> parcel)
{
    Drop(parcel);
}

} // namespace fullpipe
