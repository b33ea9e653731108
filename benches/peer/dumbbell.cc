// The dumbbell of the first study (kato2025) on ns-3, to measure CPU time and events of ns-3 per data packet.
//
// All senders are behind one router and all receivers behind another. The link between the routers is the bottleneck,
// with a drop-tail queue. The program prints one JSON object: data packets, CPU time, peak memory, events and goodput.
// Every option is `--name=value`; see `describe`.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace
{

constexpr uint16_t SINK_PORT = 9;
constexpr auto UNLIMITED = "1000000p";

struct Experiment
{
    std::string cca{"ns3::TcpBbr"};
    uint32_t flows{16};
    uint32_t queuePackets{5000};
    uint32_t segmentBytes{1420};
    uint32_t socketBytes{1u << 20};
    double durationSeconds{5};
    std::string bottleneckRate{"1Gbps"};
    std::string bottleneckDelay{"50ms"};
    std::string accessRate{"10Gbps"};
    std::string accessDelay{"5ms"};

    void describe(ns3::CommandLine& line)
    {
        line.AddValue("cca", "type of congestion control", cca);
        line.AddValue("flows", "number of senders", flows);
        line.AddValue("queue", "packets that wait at the bottleneck", queuePackets);
        line.AddValue("segment", "payload bytes of a full segment", segmentBytes);
        line.AddValue("socket", "bytes of each send and receive buffer", socketBytes);
        line.AddValue("duration", "simulated seconds", durationSeconds);
        line.AddValue("rate", "rate of the bottleneck", bottleneckRate);
        line.AddValue("delay", "one-way delay of the bottleneck", bottleneckDelay);
        line.AddValue("access-rate", "rate of every other link", accessRate);
        line.AddValue("access-delay", "one-way delay of every other link", accessDelay);
    }

    // TCP options as the study states them: classic recovery, an ACK for every packet, SACK, no ECN.
    void configureTcp() const
    {
        using namespace ns3;
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(cca)));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segmentBytes));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(socketBytes));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(socketBytes));
    }
};

// The network, with the queue through which all data passes.
class Dumbbell
{
  public:
    explicit Dumbbell(const Experiment& experiment)
        : m_experiment(experiment)
    {
        m_left.Create(experiment.flows);
        m_right.Create(experiment.flows);
        m_routers.Create(2);
        ns3::InternetStackHelper internet;
        internet.SetIpv6StackInstall(false);
        for (const auto& group : {m_left, m_right, m_routers})
        {
            internet.Install(group);
        }
        joinRouters();
        for (uint32_t i = 0; i < experiment.flows; ++i)
        {
            joinAccess(m_left.Get(i), m_routers.Get(0));
            m_receiverAddress.push_back(joinAccess(m_routers.Get(1), m_right.Get(i)));
        }
        ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    void startTransfers()
    {
        using namespace ns3;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), SINK_PORT));
        m_sinks = sink.Install(m_right);
        for (uint32_t i = 0; i < m_experiment.flows; ++i)
        {
            BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(m_receiverAddress[i], SINK_PORT));
            source.SetAttribute("SendSize", UintegerValue(m_experiment.segmentBytes));
            source.Install(m_left.Get(i));
        }
    }

    // Packets that senders gave to the bottleneck, dropped ones included.
    uint64_t dataPackets() const
    {
        return m_queue->GetStats().nTotalReceivedPackets;
    }

    double goodput() const
    {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < m_sinks.GetN(); ++i)
        {
            bytes += ns3::DynamicCast<ns3::PacketSink>(m_sinks.Get(i))->GetTotalRx();
        }
        return 8.0 * static_cast<double>(bytes) / m_experiment.durationSeconds;
    }

  private:
    // One link. Its device queue holds one packet, so that packets wait in the queue discipline above the device.
    static ns3::PointToPointHelper cable(const std::string& rate, const std::string& delay)
    {
        ns3::PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", ns3::StringValue(rate));
        link.SetChannelAttribute("Delay", ns3::StringValue(delay));
        link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("1p"));
        return link;
    }

    static ns3::QueueDiscContainer fifo(const ns3::NetDeviceContainer& devices, const std::string& size)
    {
        ns3::TrafficControlHelper control;
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns3::StringValue(size));
        return control.Install(devices);
    }

    ns3::Ipv4Address address(const ns3::NetDeviceContainer& devices)
    {
        const auto interfaces = m_addresses.Assign(devices);
        m_addresses.NewNetwork();
        return interfaces.GetAddress(1);
    }

    void joinRouters()
    {
        const auto ends = cable(m_experiment.bottleneckRate, m_experiment.bottleneckDelay).Install(m_routers);
        m_queue = fifo(ends.Get(0), std::to_string(m_experiment.queuePackets) + "p").Get(0);
        fifo(ends.Get(1), UNLIMITED);
        address(ends);
    }

    ns3::Ipv4Address joinAccess(ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to)
    {
        const auto ends = cable(m_experiment.accessRate, m_experiment.accessDelay).Install(from, to);
        fifo(ends, UNLIMITED);
        return address(ends);
    }

    const Experiment& m_experiment;
    ns3::NodeContainer m_left;
    ns3::NodeContainer m_right;
    ns3::NodeContainer m_routers;
    ns3::Ipv4AddressHelper m_addresses{"10.0.0.0", "255.255.255.252"};
    std::vector<ns3::Ipv4Address> m_receiverAddress;
    ns3::ApplicationContainer m_sinks;
    ns3::Ptr<ns3::QueueDisc> m_queue;
};

double
cpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double
peakMegabytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024.0 / 1e6;
}

} // namespace

int
main(int argc, char* argv[])
{
    Experiment experiment;
    ns3::CommandLine line;
    experiment.describe(line);
    line.Parse(argc, argv);
    experiment.configureTcp();

    Dumbbell network(experiment);
    network.startTransfers();
    ns3::Simulator::Stop(ns3::Seconds(experiment.durationSeconds));
    const double before = cpuSeconds();
    ns3::Simulator::Run();
    const double cpu = cpuSeconds() - before;

    std::cout << "{\"data_packets\": " << network.dataPackets() << ", \"cpu_s\": " << cpu
              << ", \"peak_mb\": " << peakMegabytes() << ", \"events\": " << ns3::Simulator::GetEventCount()
              << ", \"goodput_bps\": " << network.goodput() << "}" << std::endl;
    ns3::Simulator::Destroy();
    return 0;
}
