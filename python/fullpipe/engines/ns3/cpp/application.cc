#include "application.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>

using namespace ns3;

namespace fullpipe
{

Application::Application(const FlowInput& input, std::function<uint64_t()> sent, std::function<void()> wake)
    : m_bytes(input.bytes),
      m_mss(input.mss),
      m_sent(std::move(sent)),
      m_wake(std::move(wake))
{
    for (const PaceInput& pace : input.paces)
    {
        Simulator::Schedule(NanoSeconds(pace.at), [this, rate = pace.rate]() { ChangePace(rate); });
    }
}

uint64_t
Application::Offered() const
{
    return std::min(m_offered, m_bytes);
}

void
Application::Stop(uint64_t sent)
{
    m_next.Cancel();
    m_bytes = std::min(m_bytes, sent);
}

void
Application::ChangePace(int64_t rate)
{
    m_next.Cancel();
    if (rate < 0)
    {
        m_offered = UINT64_MAX;
        return m_wake();
    }
    // If the rate was unlimited before, the offer is reduced to the data already sent.
    m_offered = m_offered == UINT64_MAX ? m_sent() : std::max(m_offered, m_sent());
    if (rate > 0)
    {
        m_interval = std::max<int64_t>(1, static_cast<int64_t>(m_mss * 8000000000ull / static_cast<uint64_t>(rate)));
        Write();
    }
}

void
Application::Write()
{
    m_offered += m_mss;
    m_next = Simulator::Schedule(NanoSeconds(m_interval), [this]() { Write(); });
    m_wake();
}

} // namespace fullpipe
