#include "datagrams.h"

#include "addresses.h"

#include "ns3/simulator.h"
#include "ns3/udp-header.h"
#include "ns3/udp-l4-protocol.h"

using namespace ns3;

namespace fullpipe
{

namespace
{

constexpr uint16_t UDP_PORT = 5002;

} // namespace

Datagrams::Datagrams(const Input& input, uint32_t number, Network& network)
    : Traffic(input, number),
      m_network(network)
{
    Simulator::Schedule(NanoSeconds(m_start), [this]() {
        Begun();
        Send();
    });
    if (m_input.stop != NEVER)
    {
        Simulator::Schedule(NanoSeconds(m_input.stop), [this]() {
            if (m_phase == RUNNING)
            {
                m_next.Cancel();
                Close();
            }
        });
    }
}

void
Datagrams::Send()
{
    Ptr<Packet> packet = Create<Packet>(m_input.datagrams.bytes);
    UdpHeader ports;
    ports.SetSourcePort(UDP_PORT);
    ports.SetDestinationPort(UDP_PORT);
    packet->AddHeader(ports);
    Ipv4Header header;
    header.SetSource(AddressOf(m_number, 0));
    header.SetDestination(AddressOf(m_number, 1));
    header.SetProtocol(UdpL4Protocol::PROT_NUMBER);
    header.SetTos(m_input.tos);
    header.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    Ptr<Parcel> parcel = Create<Parcel>(packet, Address(), IPV4, header, m_input.linkOverhead);
    parcel->flow = m_number;
    parcel->host = Simulator::NO_CONTEXT;
    parcel->sent = NowNanos();
    m_counters.sent++;
    m_counters.wireBytes += parcel->GetSize();
    m_next = Simulator::Schedule(NanoSeconds(m_input.datagrams.interval), [this]() { Send(); });
    m_network.Send(parcel);
}

void
Datagrams::Deliver(Ptr<Parcel> parcel)
{
    m_counters.delivered += m_input.datagrams.bytes;
    m_counters.marked += parcel->GetHeader().GetEcn() == Ipv4Header::ECN_CE;
}

void
Datagrams::Lose(Ptr<Parcel>)
{
    m_counters.lost++;
}

void
Datagrams::Describe(FlowSample& sample)
{
    sample.state = m_phase == OVER ? "done" : "open";
}

} // namespace fullpipe
