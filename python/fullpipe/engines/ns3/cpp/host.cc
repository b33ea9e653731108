#include "host.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/mac48-address.h"
#include "ns3/tcp-l4-protocol.h"

using namespace ns3;

namespace fullpipe
{

Host::Host(Ipv4Address address, Out out)
    : m_address(address),
      m_node(CreateObject<Node>()),
      m_device(CreateObject<VirtualNetDevice>())
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(m_node);
    m_device->SetAddress(Mac48Address::Allocate());
    m_device->SetNeedsArp(false);
    m_device->SetIsPointToPoint(true);
    m_device->SetSendCallback(Callback<bool, Ptr<Packet>, const ns3::Address&, const ns3::Address&, uint16_t>(
        [out](Ptr<Packet> packet, const ns3::Address&, const ns3::Address& to, uint16_t protocol) {
            out(packet, to, protocol);
            return true;
        }));
    m_node->AddDevice(m_device);
    Ptr<Ipv4> ip = m_node->GetObject<Ipv4>();
    const uint32_t interface = ip->AddInterface(m_device);
    ip->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask("255.255.255.252")));
    ip->SetUp(interface);
}

void
Host::Receive(Ptr<Packet> packet)
{
    m_device->Receive(packet,
                      Ipv4L3Protocol::PROT_NUMBER,
                      m_device->GetAddress(),
                      m_device->GetAddress(),
                      NetDevice::PACKET_HOST);
}

Ptr<TcpSocketBase>
Host::MakeSocket(TypeId algorithm, TypeId recovery)
{
    Ptr<TcpL4Protocol> tcp = m_node->GetObject<TcpL4Protocol>();
    return DynamicCast<TcpSocketBase>(tcp->CreateSocket(algorithm, recovery));
}

} // namespace fullpipe
