// A rate manager with a fixed mode for each station, and a model of errors.
#pragma once

#include "dice.h"

#include "ns3/error-model.h"
#include "ns3/wifi-remote-station-manager.h"

#include <functional>
#include <map>

namespace fullpipe
{

class FixedRates : public ns3::WifiRemoteStationManager
{
  public:
    static ns3::TypeId GetTypeId();

    // Send frames to an address with this mode and this number of streams.
    void Fix(ns3::Mac48Address to, ns3::WifiMode mode, uint8_t streams)
    {
        m_rates[to] = {mode, streams};
    }

    void SetControl(ns3::WifiMode mode)
    {
        m_control = mode;
    }

  private:
    ns3::WifiRemoteStation* DoCreateStation() const override;
    ns3::WifiTxVector DoGetDataTxVector(ns3::WifiRemoteStation* station, ns3::MHz_u allowedWidth) override;
    ns3::WifiTxVector DoGetRtsTxVector(ns3::WifiRemoteStation* station) override;
    void DoReportRxOk(ns3::WifiRemoteStation*, double, ns3::WifiMode) override {}
    void DoReportRtsFailed(ns3::WifiRemoteStation*) override {}
    void DoReportDataFailed(ns3::WifiRemoteStation*) override {}
    void DoReportRtsOk(ns3::WifiRemoteStation*, double, ns3::WifiMode, double) override {}
    void DoReportDataOk(ns3::WifiRemoteStation*, double, ns3::WifiMode, double, ns3::MHz_u, uint8_t) override {}
    void DoReportFinalRtsFailed(ns3::WifiRemoteStation*) override {}
    void DoReportFinalDataFailed(ns3::WifiRemoteStation*) override {}

    struct Rate
    {
        ns3::WifiMode mode;
        uint8_t streams = 1;
    };

    std::map<ns3::Mac48Address, Rate> m_rates;
    ns3::WifiMode m_control;
};

// Loses data frames at random, but never acknowledgements of data frames.
class FrameErrors : public ns3::ErrorModel
{
  public:
    // Function that returns the probability that a receiver loses a frame.
    using Probability = std::function<double(ns3::Ptr<const ns3::Packet>)>;

    FrameErrors(uint64_t seed, const std::string& stream, Probability probability)
        : m_dice(seed, stream),
          m_probability(std::move(probability))
    {
    }

  private:
    bool DoCorrupt(ns3::Ptr<ns3::Packet> frame) override
    {
        const double probability = m_probability(frame);
        return probability > 0 && m_dice.Chance(probability);
    }

    void DoReset() override {}

    Dice m_dice;
    Probability m_probability;
};

} // namespace fullpipe
