#include "wire.h"

#include "ns3/data-rate.h"
#include "ns3/fq-cobalt-queue-disc.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/fq-pie-queue-disc.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tbf-queue-disc.h"

using namespace ns3;

namespace fullpipe
{

bool
LossModel::Strikes()
{
    switch (m_input.kind)
    {
    case LossInput::BERNOULLI:
        return m_dice.Chance(m_input.probability);
    case LossInput::PERIODIC:
        m_seen = (m_seen + 1) % m_input.every;
        return m_seen == 0;
    case LossInput::GILBERT_ELLIOTT:
        // First the state moves, then it rules this packet.
        m_bad = m_bad ? !m_dice.Chance(m_input.improves) : m_dice.Chance(m_input.worsens);
        return m_dice.Chance(m_bad ? m_input.bad : m_input.good);
    default:
        return false;
    }
}

Wire::Wire(const LinkInput& input, uint64_t seed, Deliver deliver, Deliver lose)
    : m_input(input),
      m_seed(seed),
      m_deliver(std::move(deliver)),
      m_lose(std::move(lose)),
      m_jitterDice(seed, "jitter/" + input.name),
      m_rate(input.rate),
      m_delay(input.delay)
{
    if (input.loss.kind != LossInput::NONE)
    {
        m_loss.emplace(input.loss, seed);
    }
    MakeQueue();
    for (const ChangeInput& change : m_input.changes)
    {
        Simulator::Schedule(NanoSeconds(change.at), [this, change]() { Apply(change); });
    }
}

void
Wire::MakeQueue()
{
    ObjectFactory factory(m_input.queue);
    for (const auto& [name, value] : m_input.queueAttributes)
    {
        factory.Set(name, StringValue(value));
    }
    m_disc = factory.Create<QueueDisc>();
    if (auto fair = DynamicCast<FqCoDelQueueDisc>(m_disc))
    {
        fair->SetQuantum(m_input.quantum);
    }
    if (auto fair = DynamicCast<FqPieQueueDisc>(m_disc))
    {
        fair->SetQuantum(m_input.quantum);
    }
    if (auto fair = DynamicCast<FqCobaltQueueDisc>(m_disc))
    {
        fair->SetQuantum(m_input.quantum);
    }
    m_port = CreateObject<NetDeviceQueueInterface>();
    m_port->Initialize();
    if (m_port->GetNTxQueues() == 0)
    {
        m_port->SetNTxQueues(1);
    }
    m_disc->SetNetDeviceQueueInterface(m_port);
    m_disc->SetSendCallback([this](Ptr<QueueDiscItem> item) { Transmit(item); });
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
Wire::Send(Ptr<Parcel> parcel)
{
    parcel->since = Simulator::Now().GetNanoSeconds();
    m_disc->Enqueue(parcel);
    m_disc->Run();
    if (m_measuring)
    {
        m_maxBacklog = std::max<uint64_t>(m_maxBacklog, BacklogPackets());
    }
}

void
Wire::Drop(Ptr<Parcel> parcel)
{
    m_counters.dropped++;
    m_lose(parcel);
}

// The queue hands a packet to the device, which stops it when it is full.
void
Wire::Transmit(Ptr<QueueDiscItem> item)
{
    Ptr<Parcel> parcel = StaticCast<Parcel>(item);
    if (m_input.rate == 0)
    {
        Leave(*parcel);
        return Sent(parcel);
    }
    m_device.push_back(parcel);
    m_deviceBytes += parcel->GetSize();
    if (!m_sending)
    {
        Begin();
    }
    if (m_device.size() >= m_input.device)
    {
        m_port->GetTxQueue(0)->Stop();
    }
}

// The first packet in the device is sent.
void
Wire::Begin()
{
    m_sending = m_device.front();
    m_device.pop_front();
    m_deviceBytes -= m_sending->GetSize();
    Leave(*m_sending);
    m_bitsLeft = static_cast<double>(m_sending->GetSize()) * 8;
    m_since = Simulator::Now().GetNanoSeconds();
    Continue();
}

// A packet waits no more.
void
Wire::Leave(const Parcel& parcel)
{
    const int64_t waited = Simulator::Now().GetNanoSeconds() - parcel.since;
    m_counters.started++;
    m_counters.waitedNanos += static_cast<double>(waited);
    if (m_measuring)
    {
        m_waits.Record(waited);
    }
}

// The rest of the packet goes at the present rate. What the clock rounds up is carried over to the packet behind.
void
Wire::Continue()
{
    if (m_rate == 0)
    {
        return;
    }
    const double nanos = m_bitsLeft * 1e9 / static_cast<double>(m_rate) - m_spareNanos;
    const auto whole = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(nanos)));
    m_spareNanos = static_cast<double>(whole) - nanos;
    m_completion = Simulator::Schedule(NanoSeconds(whole), [this]() { Complete(); });
}

void
Wire::Complete()
{
    m_counters.busyNanos += static_cast<double>(Simulator::Now().GetNanoSeconds() - m_since);
    Ptr<Parcel> parcel = m_sending;
    m_sending = nullptr;
    Sent(parcel);
    if (!m_device.empty())
    {
        Begin();
    }
    m_port->GetTxQueue(0)->Start();
    m_disc->Run();
    if (!m_sending)
    {
        m_spareNanos = 0;
    }
}

// The last bit is on the wire.
void
Wire::Sent(Ptr<Parcel> parcel)
{
    const bool lost = m_loss && m_loss->Strikes();
    const int64_t now = Simulator::Now().GetNanoSeconds();
    // ns-3 wants the number of the node to which the event happens.
    Simulator::ScheduleWithContext(parcel->host, NanoSeconds(ArrivalAfter(now) - now), [this, parcel, lost]() {
        Arrive(parcel, lost);
    });
}

int64_t
Wire::ArrivalAfter(int64_t now)
{
    int64_t arrival = now + m_delay;
    if (m_input.reorderEvery && now >= m_input.reorderFrom && now < m_input.reorderUntil)
    {
        m_reorderSeen = (m_reorderSeen + 1) % m_input.reorderEvery;
        arrival += m_reorderSeen == 0 ? m_input.reorderExtra : 0;
    }
    if (m_input.jitter)
    {
        const double share = m_input.jitterNormal ? m_jitterDice.Normal() : m_jitterDice.Unit();
        arrival += static_cast<int64_t>(static_cast<double>(m_input.jitter) * share);
        if (!m_input.jitterReorders)
        {
            m_lastArrival = arrival = std::max(arrival, m_lastArrival);
        }
    }
    if (m_input.slot)
    {
        arrival = (arrival + m_input.slot - 1) / m_input.slot * m_input.slot;
    }
    return arrival;
}

void
Wire::Arrive(Ptr<Parcel> parcel, bool lost)
{
    if (lost)
    {
        return Drop(parcel);
    }
    m_counters.forwarded++;
    m_counters.forwardedBytes += parcel->GetSize();
    m_deliver(parcel);
}

void
Wire::Apply(const ChangeInput& change)
{
    Ptr<TbfQueueDisc> shaper = DynamicCast<TbfQueueDisc>(m_disc);
    if (change.rate >= 0 && (m_input.rate == 0 || m_input.device > 0) && shaper)
    {
        shaper->SetRate(DataRate(static_cast<uint64_t>(change.rate)));
    }
    else if (change.rate >= 0)
    {
        ChangeRate(change.rate);
    }
    if (change.delay >= 0)
    {
        m_delay = change.delay;
    }
    if (change.changesLoss)
    {
        m_loss.emplace(change.loss, m_seed);
    }
}

// What remains of the packet being sent goes at the new rate.
void
Wire::ChangeRate(int64_t rate)
{
    if (m_sending)
    {
        const int64_t now = Simulator::Now().GetNanoSeconds();
        const auto elapsed = static_cast<double>(now - m_since);
        m_bitsLeft = std::max(0.0, m_bitsLeft - elapsed * static_cast<double>(m_rate) / 1e9);
        m_counters.busyNanos += elapsed;
        m_since = now;
        m_spareNanos = 0;
        m_completion.Cancel();
    }
    m_rate = rate;
    if (m_sending)
    {
        Continue();
    }
}

WireCounters
Wire::Counters() const
{
    WireCounters counters = m_counters;
    if (m_sending)
    {
        counters.busyNanos += static_cast<double>(Simulator::Now().GetNanoSeconds() - m_since);
    }
    return counters;
}

void
Wire::BeginMeasuring()
{
    m_measuring = true;
    m_maxBacklog = BacklogPackets();
}

} // namespace fullpipe
