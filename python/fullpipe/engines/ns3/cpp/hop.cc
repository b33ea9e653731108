#include "hop.h"

#include "ns3/fq-cobalt-queue-disc.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/fq-pie-queue-disc.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"

using namespace ns3;

namespace fullpipe
{

void
Hop::MakeQueue(const QueueInput& input, std::function<void(Ptr<Parcel>)> transmit)
{
    ObjectFactory factory(input.type);
    for (const auto& [name, value] : input.attributes)
    {
        factory.Set(name, StringValue(value));
    }
    m_disc = factory.Create<QueueDisc>();
    if (auto fair = DynamicCast<FqCoDelQueueDisc>(m_disc))
    {
        fair->SetQuantum(input.quantum);
    }
    if (auto fair = DynamicCast<FqPieQueueDisc>(m_disc))
    {
        fair->SetQuantum(input.quantum);
    }
    if (auto fair = DynamicCast<FqCobaltQueueDisc>(m_disc))
    {
        fair->SetQuantum(input.quantum);
    }
    m_port = CreateObject<NetDeviceQueueInterface>();
    m_port->Initialize();
    if (m_port->GetNTxQueues() == 0)
    {
        m_port->SetNTxQueues(1);
    }
    m_disc->SetNetDeviceQueueInterface(m_port);
    m_disc->SetSendCallback([transmit](Ptr<QueueDiscItem> item) { transmit(StaticCast<Parcel>(item)); });
    m_disc->TraceConnectWithoutContext(
        "Drop",
        Callback<void, Ptr<const QueueDiscItem>>(
            [this](Ptr<const QueueDiscItem> item) { Drop(StaticCast<Parcel>(ConstCast<QueueDiscItem>(item))); }));
    m_disc->TraceConnectWithoutContext(
        "Mark",
        Callback<void, Ptr<const QueueDiscItem>, const char*>(
            [this](Ptr<const QueueDiscItem>, const char*) { m_counters.marked++; }));
    m_disc->Initialize();
}

void
Hop::Joined()
{
    if (m_measuring)
    {
        m_maxBacklog = std::max<uint64_t>(m_maxBacklog, BacklogPackets());
    }
}

void
Hop::Drop(Ptr<Parcel> parcel)
{
    m_counters.dropped++;
    m_lose(parcel);
}

void
Hop::Leave(const Parcel& parcel)
{
    const int64_t waited = NowNanos() - parcel.since;
    m_counters.started++;
    m_counters.waitedNanos += static_cast<double>(waited);
    if (m_measuring)
    {
        m_waits.Record(waited);
    }
}

void
Hop::Arrive(Ptr<Parcel> parcel)
{
    m_counters.forwarded++;
    m_counters.forwardedBytes += parcel->GetSize();
    m_deliver(parcel);
}

} // namespace fullpipe
