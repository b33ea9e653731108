// Addresses of hosts.
#pragma once

#include "ns3/ipv4-address.h"

#include <cstdint>

namespace fullpipe
{

constexpr uint16_t IPV4 = 0x0800; // EtherType of IPv4

// Each flow has a network of four addresses.
inline ns3::Ipv4Address
AddressOf(uint32_t flow, uint32_t host)
{
    return ns3::Ipv4Address((10u << 24) + 4 * flow + 1 + host);
}

} // namespace fullpipe
