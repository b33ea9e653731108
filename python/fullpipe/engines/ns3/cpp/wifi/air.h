// The nodes of a Wi-Fi cell and its channel. MAC and PHY are ns-3's implementation, from backoff to block ACK.
#pragma once

#include "radio.h"
#include "wifi/rates.h"

#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

namespace fullpipe
{

class Air : public Radio
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

    int64_t Delay() const override
    {
        return m_input.delay;
    }

  private:
    void Transmit(ns3::Ptr<ns3::Packet> packet, uint32_t port) override;
    ns3::Ptr<ns3::WifiNetDevice> Install(bool accessPoint, const StationInput& station);
    void Tune(ns3::Ptr<ns3::WifiNetDevice> device) const;
    void Watch(ns3::Ptr<ns3::WifiNetDevice> device);
    void FixRates();
    void SetErrors(uint64_t seed);
    void OnTransmit(const ns3::WifiConstPsduMap& psdus, const ns3::WifiTxVector& vector, ns3::WifiPhyBand band);

    CellInput m_input;
    ns3::Ptr<ns3::Channel> m_channel;
    ns3::Ptr<ns3::WifiNetDevice> m_accessPoint;
    std::vector<ns3::Ptr<ns3::WifiNetDevice>> m_stations;
    Buffer m_down; // buffer of the access point, which all its ports share
    std::vector<Buffer> m_up;
};

} // namespace fullpipe
