#include "lte/base_station.h"

#include "radio_port.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/epc-ue-nas.h"
#include "ns3/eps-bearer-tag.h"
#include "ns3/lte-as-sap.h"
#include "ns3/lte-enb-phy.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-ue-phy.h"
#include "ns3/lte-ue-rrc.h"
#include "ns3/packet-burst.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace fullpipe
{

namespace
{

constexpr double NEAR_DB = 60;        // path loss of every user in dB, so small that noise causes no errors
constexpr uint8_t BEARER = 1;         // index of the only bearer of each user
constexpr double SUBFRAME_NANOS = 1e6;
constexpr int64_t FIRST_REPORTS = 200; // time until the first reports of channel quality have arrived, ms

void
SetLteDefaults()
{
    // Our ports limit the packets in RLC, whose default limit is 10,240 bytes. No packet is discarded because of its
    // age.
    for (const std::string rlc : {"ns3::LteRlcUm", "ns3::LteRlcAm"})
    {
        Config::SetDefault(rlc + "::MaxTxBufferSize", UintegerValue(UINT32_MAX));
    }
    Config::SetDefault("ns3::LteRlcUm::EnablePdcpDiscarding", BooleanValue(false));
    Config::SetDefault("ns3::LteSpectrumPhy::DataErrorModelEnabled", BooleanValue(false));
    Config::SetDefault("ns3::LteSpectrumPhy::CtrlErrorModelEnabled", BooleanValue(false));
}

// Return the period of sounding reference signals (SRS) in ms: the shortest period in which every user can send one,
// but at least ns-3's default (40 ms).
uint32_t
SoundingPeriod(uint32_t users)
{
    uint32_t period = 40;
    while (period < 320 && period <= users)
    {
        period *= 2;
    }
    return period;
}

} // namespace

BaseStation::BaseStation(const CellInput& input)
    : m_input(input),
      m_helper(CreateObject<LteHelper>()),
      m_buffers(2 * input.users)
{
    SetLteDefaults();
    Install();
    m_station->GetRrc()->SetForwardUpCallback(
        Callback<void, Ptr<Packet>>([this](Ptr<Packet> packet) { Received(packet); }));
    Watch(m_station->GetPhy()->GetDlSpectrumPhy());
    for (auto& user : m_users)
    {
        user->GetNas()->SetForwardUpCallback(
            Callback<void, Ptr<Packet>>([this](Ptr<Packet> packet) { Received(packet); }));
        Watch(user->GetPhy()->GetUlSpectrumPhy());
    }
}

void
BaseStation::Install()
{
    m_helper->SetSchedulerType(m_input.fair ? "ns3::PfFfMacScheduler" : "ns3::RrFfMacScheduler");
    m_helper->SetPathlossModelType(MatrixPropagationLossModel::GetTypeId());
    m_helper->SetPathlossModelAttribute("DefaultLoss", DoubleValue(NEAR_DB));
    for (const std::string way : {"Dl", "Ul"})
    {
        m_helper->SetEnbDeviceAttribute(way + "Bandwidth", UintegerValue(m_input.resourceBlocks));
    }
    const auto node = []() {
        Ptr<Node> made = CreateObject<Node>();
        made->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
        return NodeContainer(made);
    };
    m_station = DynamicCast<LteEnbNetDevice>(m_helper->InstallEnbDevice(node()).Get(0));
    const Ptr<LteEnbRrc> control = m_station->GetRrc();
    control->SetAttribute("EpsBearerToRlcMapping", StringValue(m_input.acknowledged ? "RlcAmAlways" : "RlcUmAlways"));
    control->SetAttribute("SrsPeriodicity", UintegerValue(SoundingPeriod(m_input.users)));
    for (uint32_t user = 0; user < m_input.users; user++)
    {
        const Ptr<NetDevice> device = m_helper->InstallUeDevice(node()).Get(0);
        m_users.push_back(DynamicCast<LteUeNetDevice>(device));
        m_users.back()->GetRrc()->SetUseRlcSm(false); // with RLC SM, ns-3 would send packets without end
        m_helper->Attach(device, m_station);
        m_helper->ActivateDataRadioBearer(device, EpsBearer(EpsBearer::NGBR_VIDEO_TCP_DEFAULT));
    }
}

// Record transmissions. A packet leaves RLC's buffer with the first transport block that has a part of the packet. A
// transport block takes one subframe (1 ms).
void
BaseStation::Watch(Ptr<LteSpectrumPhy> phy)
{
    const auto sent = [this](Ptr<const PacketBurst> burst) {
        std::set<RadioPort*> ports;
        for (const Ptr<Packet>& packet : burst ? burst->GetPackets() : std::list<Ptr<Packet>>())
        {
            LeaveParts(packet, ports);
        }
        for (RadioPort* port : ports)
        {
            port->Busy(SUBFRAME_NANOS);
        }
    };
    phy->TraceConnectWithoutContext("TxStart", Callback<void, Ptr<const PacketBurst>>(sent));
}

bool
BaseStation::IsReady() const
{
    const auto joined = [this](const Ptr<LteUeNetDevice>& user) {
        const uint16_t number = user->GetRrc()->GetRnti();
        return user->GetRrc()->GetState() == LteUeRrc::CONNECTED_NORMALLY && m_station->GetRrc()->HasUeManager(number) &&
               m_station->GetRrc()->GetUeManager(number)->GetState() == UeManager::CONNECTED_NORMALLY;
    };
    return Simulator::Now() >= MilliSeconds(FIRST_REPORTS) && std::all_of(m_users.begin(), m_users.end(), joined);
}

std::unique_ptr<Hop>
BaseStation::MakePort(uint32_t number, Deliver deliver, const Deliver& lose)
{
    // No queue discipline precedes RLC, so `room`, the limit of packets after a queue discipline, is 0.
    return std::make_unique<RadioPort>(
        m_input.ports[number], *this, number, m_buffers[number], 0, std::move(deliver), lose);
}

void
BaseStation::Transmit(Ptr<Packet> packet, uint32_t port)
{
    const Ptr<LteUeRrc> user = m_users[port / 2]->GetRrc();
    if (port % 2)
    {
        user->GetAsSapProvider()->SendData(packet, BEARER);
        return;
    }
    packet->AddPacketTag(EpsBearerTag(user->GetRnti(), BEARER));
    m_station->GetRrc()->SendData(packet);
}

std::unique_ptr<Cell>
MakeLte(const CellInput& input)
{
    return std::make_unique<BaseStation>(input);
}

} // namespace fullpipe
