#include "traffic.h"

#include "dice.h"

namespace fullpipe
{

Traffic::Traffic(const Input& input, uint32_t number)
    : m_input(input.flows[number]),
      m_number(number),
      m_warmup(input.warmup)
{
    const double share = Dice(input.seed, "start/" + m_input.stream).Unit();
    m_start = m_input.start + static_cast<int64_t>(share * static_cast<double>(m_input.jitter));
}

void
Traffic::Begun()
{
    m_phase = RUNNING;
    if (NowNanos() >= m_warmup)
    {
        m_begin = At(NowNanos());
    }
}

void
Traffic::Close()
{
    m_phase = OVER;
    m_end = At(NowNanos());
}

Mark
Traffic::At(int64_t time) const
{
    Mark mark = m_counters;
    mark.time = time;
    return mark;
}

void
Traffic::OnWarmup()
{
    if (m_phase == RUNNING)
    {
        m_begin = At(NowNanos());
    }
}

void
Traffic::OnEnd(int64_t time)
{
    if (m_phase == RUNNING)
    {
        m_end = At(time);
    }
}

FlowSample
Traffic::Sample()
{
    const Mark now = At(NowNanos());
    FlowSample sample;
    sample.goodput = static_cast<double>(now.delivered - m_sampled.delivered) * 8e9 /
                     static_cast<double>(now.time - m_sampled.time);
    sample.retransmitted = now.retransmitted - m_sampled.retransmitted;
    m_sampled = now;
    if (m_phase != WAITING)
    {
        Describe(sample);
    }
    return sample;
}

} // namespace fullpipe
