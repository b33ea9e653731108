#include "wifi/air.h"

#include "addresses.h"
#include "radio_port.h"

#include "ns3/ap-wifi-mac.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/he-configuration.h"
#include "ns3/ht-configuration.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/ssid.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-header.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-utils.h"
#include "ns3/yans-wifi-helper.h"

using namespace ns3;

namespace fullpipe
{

namespace
{

constexpr uint32_t NEVER_RTS = 4692480; // the largest threshold that ns-3 accepts
constexpr double NEAR_DB = 46.68;       // path loss at 1 m at 5 GHz in dB, so small that noise causes no errors

void
SetDefaults(const CellInput& input)
{
    // Our ports limit the waiting packets. The queue of the MAC drops no packet.
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("100000000p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1000)));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(input.bar));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(input.rts ? 0 : NEVER_RTS));
    Config::SetDefault("ns3::WifiRemoteStationManager::IncrementRetryCountUnderBa", BooleanValue(input.retries > 0));
    if (input.retries > 0)
    {
        // The limit counts tries. A frame that has failed in this number of tries is not retransmitted.
        Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(input.retries + 1));
    }
}

WifiStandard
StandardOf(const CellInput& input)
{
    return input.standard == "80211n"    ? WIFI_STANDARD_80211n
           : input.standard == "80211ac" ? WIFI_STANDARD_80211ac
                                         : WIFI_STANDARD_80211ax;
}

WifiMode
ModeOf(const CellInput& input, const StationInput& station)
{
    const auto mcs = std::to_string(station.mcs);
    return input.standard == "80211n"    ? WifiMode("HtMcs" + std::to_string(station.mcs + 8 * (station.streams - 1)))
           : input.standard == "80211ac" ? WifiMode("VhtMcs" + mcs)
                                         : WifiMode("HeMcs" + mcs);
}

} // namespace

Air::Air(const CellInput& input, uint64_t seed)
    : m_input(input),
      m_up(input.stations.size())
{
    FixedRates::GetTypeId();
    SetDefaults(input);
    Ptr<YansWifiChannel> channel = CreateObject<YansWifiChannel>();
    Ptr<MatrixPropagationLossModel> loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(NEAR_DB);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    m_channel = channel;
    StationInput all;
    all.streams = input.streams;
    all.mcs = input.stations.front().mcs;
    for (const StationInput& station : input.stations)
    {
        m_stations.push_back(Install(false, station));
        all.mcs = std::max(all.mcs, station.mcs);
    }
    m_accessPoint = Install(true, all);
    for (size_t i = 0; i < m_stations.size(); i++)
    {
        if (input.stations[i].snr > -1000)
        {
            Ptr<WifiPhy> phy = m_stations[i]->GetPhy();
            const double hertz = static_cast<double>(phy->GetChannelWidth()) * 1e6;
            const double noise = 10 * std::log10(1.38064852e-23 * 290 * hertz) + 30 + 7; // dBm, with ns-3's noise figure
            const double power = phy->GetTxPowerEnd();
            loss->SetLoss(m_stations[i]->GetNode()->GetObject<MobilityModel>(),
                          m_accessPoint->GetNode()->GetObject<MobilityModel>(),
                          power - noise - input.stations[i].snr);
        }
    }
    FixRates();
    SetErrors(seed);
    for (auto& device : m_stations)
    {
        Watch(device);
    }
    Watch(m_accessPoint);
}

Ptr<WifiNetDevice>
Air::Install(bool accessPoint, const StationInput& station)
{
    YansWifiPhyHelper phy;
    phy.SetChannel(DynamicCast<YansWifiChannel>(m_channel));
    phy.SetErrorRateModel("ns3::NistErrorRateModel"); // as in the native engine
    for (const char* key : {"Antennas", "MaxSupportedTxSpatialStreams", "MaxSupportedRxSpatialStreams"})
    {
        phy.Set(key, UintegerValue(station.streams));
    }
    const std::string band = m_input.low ? "BAND_2_4GHZ" : "BAND_5GHZ";
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(m_input.width) + ", " + band + ", 0}"));
    WifiHelper helper;
    helper.SetStandard(StandardOf(m_input));
    helper.SetRemoteStationManager(station.mcs == -2 ? "ns3::MinstrelHtWifiManager"
                                   : station.mcs < 0 ? "ns3::IdealWifiManager"
                                                     : "fullpipe::FixedRates");
    WifiMacHelper mac;
    const SsidValue ssid{Ssid(m_input.name.substr(0, 32))};
    if (accessPoint)
    {
        mac.SetType("ns3::ApWifiMac", "Ssid", ssid, "EnableBeaconJitter", BooleanValue(false));
    }
    else
    {
        mac.SetType("ns3::StaWifiMac", "Ssid", ssid, "MaxMissedBeacons", UintegerValue(UINT32_MAX));
    }
    Ptr<Node> node = CreateObject<Node>();
    node->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
    Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(helper.Install(phy, mac, node).Get(0));
    Tune(device);
    return device;
}

void
Air::Tune(Ptr<WifiNetDevice> device) const
{
    Ptr<WifiMac> mac = device->GetMac();
    mac->SetAttribute("BE_MaxAmpduSize", UintegerValue(m_input.ampduBytes));
    mac->SetAttribute("MpduBufferSize", UintegerValue(m_input.ampduFrames));
    device->GetHtConfiguration()->SetAttribute("ShortGuardIntervalSupported", BooleanValue(m_input.guard == 400));
    if (m_input.standard == "80211ax")
    {
        device->GetHeConfiguration()->SetAttribute("GuardInterval", TimeValue(NanoSeconds(m_input.guard)));
    }
}

void
Air::Watch(Ptr<WifiNetDevice> device)
{
    device->SetReceiveCallback(Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
        [this](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
            Received(packet);
            return true;
        }));
    const WifiPhyBand band = device->GetPhy()->GetPhyBand();
    device->GetPhy()->TraceConnectWithoutContext(
        "PhyTxPsduBegin",
        Callback<void, WifiConstPsduMap, WifiTxVector, double>(
            [this, band](WifiConstPsduMap psdus, WifiTxVector vector, double) { OnTransmit(psdus, vector, band); }));
    device->GetMac()->TraceConnectWithoutContext(
        "DroppedMpdu",
        Callback<void, WifiMacDropReason, Ptr<const WifiMpdu>>(
            [this](WifiMacDropReason, Ptr<const WifiMpdu> frame) { GivenUp(frame->GetPacket()); }));
}

// Set the mode for data to and from each station, and the rate of control frames.
void
Air::FixRates()
{
    const WifiMode control(m_input.low ? "ErpOfdmRate24Mbps" : "OfdmRate24Mbps");
    auto down = DynamicCast<FixedRates>(m_accessPoint->GetRemoteStationManager());
    for (size_t i = 0; down && i < m_stations.size(); i++)
    {
        const StationInput& station = m_input.stations[i];
        auto up = DynamicCast<FixedRates>(m_stations[i]->GetRemoteStationManager());
        const auto streams = static_cast<uint8_t>(station.streams);
        up->SetControl(control);
        up->Fix(m_accessPoint->GetMac()->GetAddress(), ModeOf(m_input, station), streams);
        down->SetControl(control);
        down->Fix(m_stations[i]->GetMac()->GetAddress(), ModeOf(m_input, station), streams);
    }
}

// Install the model of frame errors at every receiver. Only frames that are addressed to the receiver can have errors.
void
Air::SetErrors(uint64_t seed)
{
    const auto install = [this, seed](Ptr<WifiNetDevice> device, const std::string& name, auto receives) {
        const auto probability = [this, receives](Ptr<const Packet> frame) {
            const Flight* found = Find(frame);
            const bool meant = found && receives(found->port->Number());
            return meant ? m_input.stations[found->port->Number() / 2].errors : 0;
        };
        device->GetPhy()->SetPostReceptionErrorModel(Create<FrameErrors>(seed, "errors/" + name, probability));
    };
    install(m_accessPoint, m_input.name, [](uint32_t port) { return port % 2 == 1; });
    for (uint32_t i = 0; i < m_stations.size(); i++)
    {
        install(m_stations[i], m_input.ports[2 * i].name, [i](uint32_t port) { return port == 2 * i; });
    }
}

bool
Air::IsReady() const
{
    return std::all_of(m_stations.begin(), m_stations.end(), [](const Ptr<WifiNetDevice>& device) {
        return DynamicCast<StaWifiMac>(device->GetMac())->IsAssociated();
    });
}

void
Air::Begin()
{
    m_accessPoint->GetMac()->SetAttribute("BeaconGeneration", BooleanValue(m_input.beacons));
}

std::unique_ptr<Hop>
Air::MakePort(uint32_t number, Deliver deliver, const Deliver& lose)
{
    Buffer& buffer = number % 2 ? m_up[number / 2] : m_down;
    return std::make_unique<RadioPort>(
        m_input.ports[number], *this, number, buffer, m_input.ampduFrames, std::move(deliver), lose);
}

void
Air::Transmit(Ptr<Packet> packet, uint32_t port)
{
    const Ptr<WifiNetDevice>& station = m_stations[port / 2];
    const bool up = port % 2;
    (up ? station : m_accessPoint)->Send(packet, (up ? m_accessPoint : station)->GetAddress(), IPV4);
}

void
Air::OnTransmit(const WifiConstPsduMap& psdus, const WifiTxVector& vector, WifiPhyBand band)
{
    for (const auto& [id, psdu] : psdus)
    {
        RadioPort* port = nullptr;
        for (const Ptr<WifiMpdu>& frame : *PeekPointer(psdu))
        {
            Flight* found = frame->GetHeader().IsQosData() ? Find(frame->GetPacket()) : nullptr;
            if (found)
            {
                port = found->port;
                Leaves(*found);
            }
        }
        if (port)
        {
            port->Busy(static_cast<double>(WifiPhy::CalculateTxDuration(psdus, vector, band).GetNanoSeconds()));
        }
    }
}

std::unique_ptr<Cell>
MakeWifi(const CellInput& input, uint64_t seed)
{
    return std::make_unique<Air>(input, seed);
}

} // namespace fullpipe
