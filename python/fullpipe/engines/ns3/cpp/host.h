// A host of ns-3: a node with an Internet stack and one device that passes packets to a callback.
#pragma once

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/virtual-net-device.h"

#include <functional>

namespace fullpipe
{

// Access to members of a socket that are protected in ns-3.
struct Inside : public ns3::TcpSocketBase
{
    static ns3::TcpSocketState& State(ns3::TcpSocketBase& socket)
    {
        return *(socket.*(&Inside::m_tcb));
    }

    static ns3::TcpRateOps& Rate(ns3::TcpSocketBase& socket)
    {
        return *(socket.*(&Inside::m_rateOps));
    }
};

class Host
{
  public:
    using Out = std::function<void(ns3::Ptr<ns3::Packet>, const ns3::Address&, uint16_t)>;

    Host(ns3::Ipv4Address address, Out out);

    void Receive(ns3::Ptr<ns3::Packet> packet);

    ns3::Ptr<ns3::TcpSocketBase> MakeSocket(ns3::TypeId algorithm, ns3::TypeId recovery);

    uint32_t Number() const
    {
        return m_node->GetId();
    }

    ns3::Ipv4Address Address() const
    {
        return m_address;
    }

  private:
    ns3::Ipv4Address m_address;
    ns3::Ptr<ns3::Node> m_node;
    ns3::Ptr<ns3::VirtualNetDevice> m_device;
};

} // namespace fullpipe
