#include "radio_port.h"

#include "ns3/simulator.h"

using namespace ns3;

namespace fullpipe
{

RadioPort::RadioPort(const PortInput& input,
                     Radio& radio,
                     uint32_t number,
                     Buffer& buffer,
                     uint32_t room,
                     Deliver deliver,
                     Deliver lose)
    : Hop(input.name, std::move(deliver), std::move(lose)),
      m_input(input),
      m_radio(radio),
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
RadioPort::IsFull(const Parcel& parcel) const
{
    return (m_input.packets && m_buffer.packets >= m_input.packets) ||
           (m_input.bytes && m_buffer.bytes + parcel.GetSize() > m_input.bytes);
}

void
RadioPort::Send(Ptr<Parcel> parcel)
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
RadioPort::Enter(Ptr<Parcel> parcel)
{
    m_waiting++;
    m_waitingBytes += parcel->GetSize();
    m_buffer.packets++;
    m_buffer.bytes += parcel->GetSize();
    m_radio.Send(parcel, *this);
}

void
RadioPort::Left(const Parcel& parcel)
{
    m_waiting--;
    m_waitingBytes -= parcel.GetSize();
    m_buffer.packets--;
    m_buffer.bytes -= parcel.GetSize();
    Leave(parcel);
    if (m_disc && m_waiting < m_room)
    {
        // The MAC is still inside the call for this transmission, so the queue discipline continues in a separate
        // event.
        Simulator::ScheduleNow([this]() {
            m_port->GetTxQueue(0)->Start();
            m_disc->Run();
        });
    }
}

void
RadioPort::Received(Ptr<Parcel> parcel)
{
    Simulator::ScheduleWithContext(parcel->host, NanoSeconds(m_radio.Delay()), [this, parcel]() {
        Arrive(parcel);
    });
}

void
RadioPort::GivenUp(Ptr<Parcel> parcel)
{
    Drop(parcel);
}

} // namespace fullpipe
