// One direction between a station and the access point or base station of its cell.
#pragma once

#include "hop.h"
#include "radio.h"

namespace fullpipe
{

class RadioPort : public Hop
{
  public:
    // `room` is the maximum number of packets that wait in the MAC after they have left the queue discipline.
    RadioPort(const PortInput& input,
              Radio& radio,
              uint32_t number,
              Buffer& buffer,
              uint32_t room,
              Deliver deliver,
              Deliver lose);

    void Send(ns3::Ptr<Parcel> parcel) override;

    uint32_t BacklogPackets() const override
    {
        return m_waiting + (m_disc ? m_disc->GetNPackets() : 0);
    }

    uint32_t BacklogBytes() const override
    {
        return m_waitingBytes + (m_disc ? m_disc->GetNBytes() : 0);
    }

    bool HasRate() const override
    {
        return true;
    }

    uint32_t Number() const
    {
        return m_number;
    }

    // Record the first transmission of a packet.
    void Left(const Parcel& parcel);
    void Received(ns3::Ptr<Parcel> parcel);
    void GivenUp(ns3::Ptr<Parcel> parcel);
    // Count airtime of packets of this port, in nanoseconds.
    void Busy(double nanos)
    {
        m_counters.busyNanos += nanos;
    }

  private:
    bool IsFull(const Parcel& parcel) const;
    void Enter(ns3::Ptr<Parcel> parcel);

    PortInput m_input;
    Radio& m_radio;
    uint32_t m_number;
    Buffer& m_buffer;
    uint32_t m_room;
    uint32_t m_waiting = 0, m_waitingBytes = 0; // packets and bytes in the MAC that have not been sent
};

} // namespace fullpipe
