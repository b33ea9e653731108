// A flow of datagrams that leave at a constant interval, whether or not earlier datagrams arrived.
#pragma once

#include "network.h"
#include "traffic.h"

#include "ns3/event-id.h"

namespace fullpipe
{

class Datagrams : public Traffic
{
  public:
    Datagrams(const Input& input, uint32_t number, Network& network);

    void Deliver(ns3::Ptr<Parcel> parcel) override;
    void Lose(ns3::Ptr<Parcel> parcel) override;

  private:
    void Describe(FlowSample& sample) override;
    void Send();

    Network& m_network;
    ns3::EventId m_next;
};

} // namespace fullpipe
