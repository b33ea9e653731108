// The base station and the users of an LTE cell. From RLC's buffer to the receiving end, everything is ns-3's
// implementation: segmentation, scheduler, HARQ, grants and timing. There is no core network: packets enter and leave
// at PDCP.
#pragma once

#include "radio.h"

#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-helper.h"
#include "ns3/lte-spectrum-phy.h"
#include "ns3/lte-ue-net-device.h"

namespace fullpipe
{

class BaseStation : public Radio
{
  public:
    explicit BaseStation(const CellInput& input);

    bool IsReady() const override;

    void Begin() override
    {
    }

    std::unique_ptr<Hop> MakePort(uint32_t number, Deliver deliver, const Deliver& lose) override;

    uint32_t Ports() const override
    {
        return 2 * m_input.users;
    }

    int64_t Delay() const override
    {
        return m_input.delay;
    }

  private:
    void Transmit(ns3::Ptr<ns3::Packet> packet, uint32_t port) override;
    void Install();
    void Watch(ns3::Ptr<ns3::LteSpectrumPhy> phy);

    CellInput m_input;
    ns3::Ptr<ns3::LteHelper> m_helper;
    ns3::Ptr<ns3::LteEnbNetDevice> m_station;
    std::vector<ns3::Ptr<ns3::LteUeNetDevice>> m_users;
    std::vector<Buffer> m_buffers; // buffers of RLC, one per port
};

} // namespace fullpipe
