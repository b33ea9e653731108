#include "tables.h"

#include "ns3/simulator.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

using namespace ns3;

namespace fullpipe
{

namespace
{

// A number as text; an empty text for NaN.
std::string
Text(double value)
{
    if (std::isnan(value))
    {
        return "";
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string
Seconds(int64_t nanos)
{
    return Text(static_cast<double>(nanos) / 1e9);
}

double
PerSecond(double amount, int64_t nanos)
{
    return nanos > 0 ? amount * 1e9 / static_cast<double>(nanos) : Histogram::NONE;
}

} // namespace

Tables::Tables(const Input& input,
               const std::string& folder,
               std::vector<std::unique_ptr<Traffic>>& flows,
               std::vector<std::unique_ptr<Hop>>& hops)
    : m_input(input),
      m_folder(folder),
      m_flows(flows),
      m_hops(hops),
      m_sampled(hops.size()),
      m_begin(hops.size()),
      m_states(flows.size())
{
    m_series = Open("series",
                    "time_s\tflow\tgoodput_bps\tcwnd_bytes\tin_flight_bytes\tsrtt_s\tmin_rtt_s\tpacing_bps\t"
                    "delivery_bps\tretransmitted_packets\tstate");
    m_links = Open("links",
                   "time_s\tlink\tbacklog_bytes\tbacklog_packets\tsojourn_s\tdropped_packets\tmarked_packets\t"
                   "utilisation");
    m_variables = Open("variables", "time_s\tflow\tname\tvalue\tunit\tstate");
    for (size_t n = 0; input.variables && n < flows.size(); n++)
    {
        if (flows[n]->Own())
        {
            flows[n]->SetTurn([this, n]() { Observe(NowNanos(), n, false); });
        }
    }
}

std::ofstream
Tables::Open(const std::string& name, const std::string& columns) const
{
    std::ofstream file(m_folder + "/" + name + ".tsv");
    if (!file)
    {
        throw std::runtime_error("cannot write to " + m_folder);
    }
    file << columns << '\n';
    return file;
}

void
Tables::OnWarmup()
{
    for (size_t n = 0; n < m_hops.size(); n++)
    {
        m_begin[n] = m_hops[n]->Counters();
        m_hops[n]->BeginMeasuring();
    }
    for (auto& flow : m_flows)
    {
        flow->OnWarmup();
    }
}

void
Tables::Sample(int64_t now)
{
    for (size_t n = 0; n < m_flows.size(); n++)
    {
        const FlowSample s = m_flows[n]->Sample();
        m_series << Seconds(now) << '\t' << m_flows[n]->Description().name << '\t' << Text(s.goodput) << '\t'
                 << Text(s.cwnd) << '\t' << Text(s.inFlight) << '\t' << Text(s.srtt) << '\t' << Text(s.minRtt)
                 << '\t' << Text(s.pacing) << '\t' << Text(s.delivery) << '\t' << s.retransmitted << '\t' << s.state
                 << '\n';
        if (m_input.variables && m_flows[n]->IsRunning())
        {
            Observe(now, n, true);
        }
    }
    for (size_t n = 0; n < m_hops.size(); n++)
    {
        SampleHop(now, n);
    }
}

void
Tables::SampleHop(int64_t now, size_t number)
{
    const Hop& hop = *m_hops[number];
    const HopCounters counters = hop.Counters();
    const HopCounters& before = m_sampled[number];
    const auto started = static_cast<double>(counters.started - before.started);
    const double busy = (counters.busyNanos - before.busyNanos) / static_cast<double>(m_input.interval);
    m_links << Seconds(now) << '\t' << hop.Name() << '\t' << hop.BacklogBytes() << '\t'
            << hop.BacklogPackets() << '\t' << Text((counters.waitedNanos - before.waitedNanos) / started / 1e9)
            << '\t' << counters.dropped - before.dropped << '\t' << counters.marked - before.marked << '\t'
            << Text(hop.HasRate() ? busy : Histogram::NONE) << '\n';
    m_sampled[number] = counters;
}

namespace
{

struct Seen
{
    std::string name, unit, state;
    double value;
};

void
Note(void* context, const char* name, size_t nameLength, double value, const char* unit, size_t unitLength,
     const char* state, size_t stateLength)
{
    const std::string named = state ? std::string(state, stateLength) : std::string();
    static_cast<std::vector<Seen>*>(context)->push_back(
        {std::string(name, nameLength), std::string(unit, unitLength), named, value});
}

} // namespace

// Write all variables of fullpipe's algorithm if `always` is set or a state has changed.
void
Tables::Observe(int64_t now, size_t flow, bool always)
{
    if (!m_flows[flow]->Own() || !m_flows[flow]->IsRunning())
    {
        return;
    }
    std::vector<Seen> seen;
    m_flows[flow]->Own()->Observe(Note, &seen);
    bool changed = false;
    for (const Seen& variable : seen)
    {
        if (!variable.state.empty())
        {
            std::string& known = m_states[flow][variable.name];
            changed |= known != variable.state;
            known = variable.state;
        }
    }
    for (size_t n = 0; (always || changed) && n < seen.size(); n++)
    {
        m_variables << Seconds(now) << '\t' << m_flows[flow]->Description().name << '\t' << seen[n].name << '\t'
                    << Text(seen[n].value) << '\t' << seen[n].unit << '\t' << seen[n].state << '\n';
    }
}

void
Tables::Finish()
{
    for (auto& flow : m_flows)
    {
        flow->OnEnd(m_input.duration);
    }
    WriteFlows();
    WriteLinks();
    for (std::ofstream* file : {&m_series, &m_links, &m_variables})
    {
        file->close();
    }
}

void
Tables::WriteFlows()
{
    std::ofstream file = Open("flows",
                              "flow\tcca\tstart_s\tend_s\tdelivered_bytes\tgoodput_bps\twire_bps\tsent_packets\t"
                              "retransmitted_packets\tlost_packets\tmarked_packets\trefused_bytes\trtt_min_s\t"
                              "rtt_mean_s\trtt_p50_s\trtt_p95_s\trtt_p99_s\tfct_s\tall_sent_packets");
    for (const auto& flow : m_flows)
    {
        const bool measured = flow->Begin() && flow->End();
        const Mark begin = measured ? *flow->Begin() : Mark();
        const Mark end = measured ? *flow->End() : Mark();
        const int64_t span = end.time - begin.time;
        const auto delivered = static_cast<double>(end.delivered - begin.delivered);
        const auto wire = static_cast<double>(end.wireBytes - begin.wireBytes);
        const Histogram& rtt = flow->Rtt();
        file << flow->Description().name << '\t' << flow->Description().kind << '\t' << Seconds(flow->Start()) << '\t'
             << (flow->End() ? Seconds(flow->End()->time) : "") << '\t' << end.delivered - begin.delivered << '\t'
             << Text(PerSecond(8 * delivered, span)) << '\t' << Text(PerSecond(8 * wire, span)) << '\t'
             << end.sent - begin.sent << '\t' << end.retransmitted - begin.retransmitted << '\t'
             << end.lost - begin.lost << '\t' << end.marked - begin.marked << '\t' << end.refused - begin.refused
             << '\t' << Text(rtt.MinSeconds()) << '\t' << Text(rtt.MeanSeconds()) << '\t'
             << Text(rtt.QuantileSeconds(0.5)) << '\t' << Text(rtt.QuantileSeconds(0.95)) << '\t'
             << Text(rtt.QuantileSeconds(0.99)) << '\t'
             << (flow->Finish() ? Seconds(*flow->Finish() - flow->Start()) : "") << '\t' << flow->SentPackets()
             << '\n';
    }
}

void
Tables::WriteLinks()
{
    std::ofstream file = Open("links_summary",
                              "link\tdropped_packets\tmarked_packets\tforwarded_packets\tforwarded_bytes\tutilisation\t"
                              "sojourn_mean_s\tsojourn_p95_s\tbacklog_max_packets\tall_forwarded_packets");
    for (size_t n = 0; n < m_hops.size(); n++)
    {
        const Hop& hop = *m_hops[n];
        const HopCounters end = hop.Counters();
        const HopCounters& begin = m_begin[n];
        const double used = PerSecond((end.busyNanos - begin.busyNanos) / 1e9, m_input.duration - m_input.warmup);
        file << hop.Name() << '\t' << end.dropped - begin.dropped << '\t' << end.marked - begin.marked
             << '\t' << end.forwarded - begin.forwarded << '\t' << end.forwardedBytes - begin.forwardedBytes << '\t'
             << Text(hop.HasRate() ? used : Histogram::NONE) << '\t' << Text(hop.Waits().MeanSeconds())
             << '\t' << Text(hop.Waits().QuantileSeconds(0.95)) << '\t' << hop.MaxBacklog() << '\t' << end.forwarded
             << '\n';
    }
}

} // namespace fullpipe
