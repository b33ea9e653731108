// The nodes of a Wi-Fi cell, its channel, and the packets that are under way in it.
//
// A packet of ours enters the queue of ns-3's MAC as one of the same size, with a ticket by which it is known when it
// leaves and when it arrives. MAC and PHY are ns-3's own, from backoff to block ACK.
#pragma once

#include "cell.h"
#include "wifi/rates.h"

#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

#include <unordered_map>

namespace fullpipe
{

// What waits in front of one radio, first in, first out.
struct Buffer
{
    uint64_t packets = 0, bytes = 0;
};

class WifiPort;

class Air : public Cell
{
  public:
    Air(const CellInput& input, uint64_t seed);

    bool IsReady() const override;
    void Begin() override;
    std::unique_ptr<Hop> MakePort(uint32_t number, Deliver deliver, const Deliver& lose) override;

    uint32_t Ports() const override
    {
        return 2 * static_cast<uint32_t>(m_stations.size());
    }

    // Hands a packet to the MAC of the sender of a port.
    void Send(ns3::Ptr<Parcel> parcel, WifiPort& port);

    const CellInput& Description() const
    {
        return m_input;
    }

  private:
    struct Flight
    {
        ns3::Ptr<Parcel> parcel;
        WifiPort* port = nullptr;
        bool left = false;
    };

    ns3::Ptr<ns3::WifiNetDevice> Install(bool accessPoint, const StationInput& station);
    void Tune(ns3::Ptr<ns3::WifiNetDevice> device) const;
    void Watch(ns3::Ptr<ns3::WifiNetDevice> device);
    void FixRates();
    void SetErrors(uint64_t seed);
    void OnTransmit(const ns3::WifiConstPsduMap& psdus, const ns3::WifiTxVector& vector, ns3::WifiPhyBand band);
    void OnReceive(ns3::Ptr<const ns3::Packet> packet);
    void OnGivenUp(ns3::Ptr<const ns3::WifiMpdu> frame);

    CellInput m_input;
    ns3::Ptr<ns3::Channel> m_channel;
    ns3::Ptr<ns3::WifiNetDevice> m_accessPoint;
    std::vector<ns3::Ptr<ns3::WifiNetDevice>> m_stations;
    Buffer m_down; // of the access point, which all of its ports share
    std::vector<Buffer> m_up;
    std::unordered_map<uint64_t, Flight> m_flights;
    uint64_t m_tickets = 0;
};

} // namespace fullpipe
