// Entry point of the program: reads an input, simulates a run, and writes the tables. worker.py calls the entry point
// in a separate process.

#include "cell.h"
#include "datagrams.h"
#include "flow.h"
#include "network.h"
#include "input.h"
#include "own.h"
#include "tables.h"

#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <exception>

using namespace ns3;

namespace fullpipe
{

namespace
{

constexpr int64_t STEPS = 500; // number of progress reports

void
SetDefaults(const Input& input)
{
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(input.seed);
    // ns-3's defaults limit the pacing rate to 4 Gbit/s, and the number of timeouts to six.
    Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate(1000000000000ull)));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000000));
}

// Call f at every multiple of a step, up to the end of the run.
void
Every(int64_t step, int64_t end, std::function<void(int64_t)> f)
{
    Simulator::Schedule(NanoSeconds(step), [step, end, f]() {
        const int64_t now = NowNanos();
        f(now);
        if (now + step <= end)
        {
            Every(step, end, f);
        }
    });
}

void
Run(const Input& input, const std::string& folder, const fullpipe_congestion_api* api)
{
    SetDefaults(input);
    std::vector<std::unique_ptr<Cell>> cells = MakeCells(input);
    std::vector<std::unique_ptr<Traffic>> flows;
    Network network(
        input,
        cells,
        [&flows](Ptr<Parcel> parcel) { flows[parcel->flow]->Deliver(parcel); },
        [&flows](Ptr<Parcel> parcel) { flows[parcel->flow]->Lose(parcel); });
    for (uint32_t n = 0; n < input.flows.size(); n++)
    {
        if (input.flows[n].datagrams.interval)
        {
            flows.push_back(std::make_unique<Datagrams>(input, n, network));
        }
        else
        {
            flows.push_back(std::make_unique<Flow>(input, n, network, api));
        }
    }
    Tables tables(input, folder, flows, network.Hops());
    Simulator::Schedule(NanoSeconds(input.warmup), [&tables]() { tables.OnWarmup(); });
    Every(std::max<int64_t>(1, input.duration / STEPS), input.duration, [](int64_t now) {
        std::printf("at %lld\n", static_cast<long long>(now));
        std::fflush(stdout);
    });
    if (input.interval)
    {
        Every(input.interval, input.duration, [&tables](int64_t now) { tables.Sample(now); });
    }
    // Stop a nanosecond after the end, so that events at the end still happen.
    Simulator::Stop(NanoSeconds(input.duration) + NanoSeconds(1));
    Simulator::Run();
    tables.Finish();
}

} // namespace

} // namespace fullpipe

// Returns 0 on success. On failure the reason is on standard error.
extern "C" int
fullpipe_ns3_run(const char* inputFile, const char* folder, const char* algorithms)
{
    try
    {
        const fullpipe::Input input = fullpipe::ReadInput(inputFile);
        const bool own = *algorithms != '\0';
        fullpipe::Run(input, folder, own ? fullpipe::LoadAlgorithms(algorithms) : nullptr);
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
