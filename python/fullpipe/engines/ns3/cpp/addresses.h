// The addresses of hosts.
#pragma once

#include "ns3/ipv4-address.h"

#include <cstdint>

namespace fullpipe
{

constexpr uint16_t IPV4 = 0x0800; // protocol number of Ethernet

// A network of four addresses per flow.
inline ns3::Ipv4Address
AddressOf(uint32_t flow, uint32_t host)
{
    return ns3::Ipv4Address((10u << 24) + 4 * flow + 1 + host);
}

} // namespace fullpipe
