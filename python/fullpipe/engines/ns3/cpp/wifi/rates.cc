#include "wifi/rates.h"

#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-tx-vector.h"

using namespace ns3;

namespace fullpipe
{

TypeId
FixedRates::GetTypeId()
{
    static TypeId tid = TypeId("fullpipe::FixedRates")
                            .SetParent<WifiRemoteStationManager>()
                            .SetGroupName("Wifi")
                            .AddConstructor<FixedRates>();
    return tid;
}

WifiRemoteStation*
FixedRates::DoCreateStation() const
{
    return new WifiRemoteStation();
}

WifiTxVector
FixedRates::DoGetDataTxVector(WifiRemoteStation* station, MHz_u allowedWidth)
{
    const auto found = m_rates.find(station->m_state->m_address);
    const Rate rate = found == m_rates.end() ? Rate{m_control, 1} : found->second;
    const WifiModulationClass family = rate.mode.GetModulationClass();
    return WifiTxVector(rate.mode,
                        GetDefaultTxPowerLevel(),
                        GetPreambleForTransmission(family, GetShortPreambleEnabled()),
                        GetGuardIntervalForMode(rate.mode, GetPhy()->GetDevice()),
                        GetNumberOfAntennas(),
                        rate.streams,
                        0,
                        GetPhy()->GetTxBandwidth(rate.mode, std::min(GetChannelWidth(station), allowedWidth)),
                        GetAggregation(station));
}

WifiTxVector
FixedRates::DoGetRtsTxVector(WifiRemoteStation* station)
{
    return WifiTxVector(m_control,
                        GetDefaultTxPowerLevel(),
                        GetPreambleForTransmission(m_control.GetModulationClass(), GetShortPreambleEnabled()),
                        GetGuardIntervalForMode(m_control, GetPhy()->GetDevice()),
                        1,
                        1,
                        0,
                        GetPhy()->GetTxBandwidth(m_control, GetChannelWidth(station)),
                        GetAggregation(station));
}

} // namespace fullpipe
