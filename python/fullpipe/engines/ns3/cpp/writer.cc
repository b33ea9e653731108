#include "writer.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

using namespace ns3;

namespace fullpipe
{

Writer::Writer(const WritesInput& input, std::function<bool(uint32_t)> send)
    : m_input(input),
      m_send(std::move(send))
{
}

void
Writer::Start()
{
    if (Exists())
    {
        Write();
    }
}

void
Writer::Stop()
{
    m_next.Cancel();
    m_blocked = false;
}

void
Writer::Wake()
{
    if (m_blocked)
    {
        Write();
    }
}

void
Writer::Write()
{
    const bool taken = m_send(m_input.bytes);
    m_blocked = !taken && !m_input.drops;
    if (m_blocked)
    {
        return;
    }
    m_refused += taken ? 0 : m_input.bytes;
    m_next = Simulator::Schedule(NanoSeconds(m_input.interval), [this]() { Write(); });
}

} // namespace fullpipe
