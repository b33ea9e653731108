// The whole run: reads an order, simulates, writes the tables. Called by worker.py in a process of its own.

#include "flow.h"
#include "network.h"
#include "order.h"
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

constexpr int64_t STEPS = 500; // of progress

void
SetDefaults(const Order& order)
{
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(order.seed);
    // ns-3 would pace at no more than 4 Gbit/s, and give up after six timeouts.
    Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate(1000000000000ull)));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000000));
}

// Calls f at every multiple of a step up to the end.
void
Every(int64_t step, int64_t end, std::function<void(int64_t)> f)
{
    Simulator::Schedule(NanoSeconds(step), [step, end, f]() {
        const int64_t now = Simulator::Now().GetNanoSeconds();
        f(now);
        if (now + step <= end)
        {
            Every(step, end, f);
        }
    });
}

void
Run(const Order& order, const std::string& folder, const fullpipe_congestion_api* api)
{
    SetDefaults(order);
    std::vector<std::unique_ptr<Flow>> flows;
    Network network(order, [&flows](Ptr<Parcel> parcel) { flows[parcel->flow]->Deliver(parcel); });
    for (uint32_t n = 0; n < order.flows.size(); n++)
    {
        flows.push_back(std::make_unique<Flow>(order, n, network, api));
    }
    Tables tables(order, folder, flows, network.Wires());
    Simulator::Schedule(NanoSeconds(order.warmup), [&tables]() { tables.OnWarmup(); });
    Every(std::max<int64_t>(1, order.duration / STEPS), order.duration, [](int64_t now) {
        std::printf("at %lld\n", static_cast<long long>(now));
        std::fflush(stdout);
    });
    if (order.interval)
    {
        Every(order.interval, order.duration, [&tables](int64_t now) { tables.Sample(now); });
    }
    // A nanosecond later, so that what happens at the very end has happened.
    Simulator::Stop(NanoSeconds(order.duration) + NanoSeconds(1));
    Simulator::Run();
    tables.Finish();
}

} // namespace

} // namespace fullpipe

// 0 if all went well; else why is on the standard error.
extern "C" int
fullpipe_ns3_run(const char* orderFile, const char* folder, const char* algorithms)
{
    try
    {
        const fullpipe::Order order = fullpipe::ReadOrder(orderFile);
        const bool own = *algorithms != '\0';
        fullpipe::Run(order, folder, own ? fullpipe::LoadAlgorithms(algorithms) : nullptr);
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
