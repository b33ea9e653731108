// One connection: its sockets, its application and its measurements. No other flow uses its two hosts.
#pragma once

#include "application.h"
#include "host.h"
#include "network.h"
#include "input.h"
#include "own.h"
#include "scoreboard.h"
#include "traffic.h"
#include "writer.h"

namespace fullpipe
{

class Flow : public Traffic
{
  public:
    Flow(const Input& input, uint32_t number, Network& network, const fullpipe_congestion_api* api);

    void Deliver(ns3::Ptr<Parcel> parcel) override;
    void Lose(ns3::Ptr<Parcel> parcel) override;

    const OwnAlgorithm* Own() const override
    {
        return ns3::PeekPointer(m_own);
    }

  private:
    void MakeSender(const fullpipe_congestion_api* api, uint64_t seed);
    void Listen();
    void Open();
    void Established();
    void Fill();
    bool Write(uint32_t bytes);
    void Stop();
    void OnTransmit(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header);
    void OnReceive(const ns3::TcpHeader& header);
    void OnData(ns3::Ptr<ns3::Socket> socket);
    void Leave(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, uint16_t protocol, int way);
    Mark At(int64_t time) const override;
    void Describe(FlowSample& sample) override;
    void Prepare(ns3::Ptr<ns3::TcpSocketBase> socket) const;

    Network& m_network;
    Host m_sender;
    Host m_receiver;
    ns3::Ptr<ns3::TcpSocketBase> m_socket;
    ns3::Ptr<ns3::TcpSocketBase> m_listener;
    ns3::Ptr<OwnAlgorithm> m_own;
    Scoreboard m_scoreboard;
    Application m_application;
    Writer m_writer;
    bool m_established = false;
    uint64_t m_written = 0;
    double m_deliveryRate = Histogram::NONE;
    int64_t m_dataDelay = -1; // one-way delay of the data that arrived last
    int64_t m_ackedDelay = -1; // the value of m_dataDelay that the arriving acknowledgement reports
};

} // namespace fullpipe
