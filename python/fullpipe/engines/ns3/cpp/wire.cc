#include "wire.h"

#include "ns3/data-rate.h"
#include "ns3/simulator.h"
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
        // Before each packet, the state can change. The new state determines the loss probability of the packet.
        m_bad = m_bad ? !m_dice.Chance(m_input.improves) : m_dice.Chance(m_input.worsens);
        return m_dice.Chance(m_bad ? m_input.bad : m_input.good);
    default:
        return false;
    }
}

Wire::Wire(const LinkInput& input, uint64_t seed, Deliver deliver, Deliver lose)
    : Hop(input.name, std::move(deliver), std::move(lose)),
      m_input(input),
      m_seed(seed),
      m_jitterDice(seed, "jitter/" + input.name),
      m_wifiDice(seed, "wifi_jitter/" + input.name),
      m_recordedDice(seed, "recorded_jitter/" + input.name),
      m_rate(input.rate),
      m_delay(input.delay)
{
    if (input.loss.kind != LossInput::NONE)
    {
        m_loss.emplace(input.loss, seed);
    }
    MakeQueue(m_input.queue, [this](Ptr<Parcel> parcel) { Transmit(parcel); });
    for (const ChangeInput& change : m_input.changes)
    {
        Simulator::Schedule(NanoSeconds(change.at), [this, change]() { Apply(change); });
    }
}

void
Wire::Send(Ptr<Parcel> parcel)
{
    parcel->since = NowNanos();
    m_disc->Enqueue(parcel);
    m_disc->Run();
    Joined();
}

// Accept a packet from the queue into the device. A full device stops the queue.
void
Wire::Transmit(Ptr<Parcel> parcel)
{
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

// Begin to send the first packet in the device.
void
Wire::Begin()
{
    m_sending = m_device.front();
    m_device.pop_front();
    m_deviceBytes -= m_sending->GetSize();
    Leave(*m_sending);
    m_bitsLeft = static_cast<double>(m_sending->GetSize()) * 8;
    m_since = NowNanos();
    Continue();
}

// Send the rest of the packet at the current rate. Transmission times are rounded up to nanoseconds. The rounding error
// is subtracted from the next transmission time.
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
    m_counters.busyNanos += static_cast<double>(NowNanos() - m_since);
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

// Process a packet whose last bit is on the wire.
void
Wire::Sent(Ptr<Parcel> parcel)
{
    const bool lost = m_loss && m_loss->Strikes();
    const int64_t now = NowNanos();
    // The event's context in ns-3 is the node at which the event happens.
    Simulator::ScheduleWithContext(parcel->host, NanoSeconds(ArrivalAfter(now) - now), [this, parcel, lost]() {
        lost ? Drop(parcel) : Arrive(parcel);
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
    if (m_input.wifiJitter)
    {
        m_lastWifiArrival = arrival = std::max(arrival + WifiJitter(), m_lastWifiArrival);
    }
    if (!m_input.delays.empty())
    {
        arrival += RecordedJitter();
        if (!m_input.delaysReorder)
        {
            m_lastRecordedArrival = arrival = std::max(arrival, m_lastRecordedArrival);
        }
    }
    if (m_input.slot)
    {
        arrival = (arrival + m_input.slot - 1) / m_input.slot * m_input.slot;
    }
    return arrival;
}

// The extra delay of a busy Wi-Fi channel (draft-huitema-ccwg-c4-test-04, section 2.3).
int64_t
Wire::WifiJitter()
{
    const double shortNanos = 1e6, longNanos = 7.5e6, deferrals = 1, retransmissions = 12;
    const double share =
        (static_cast<double>(m_input.wifiJitter) - shortNanos) / (retransmissions * longNanos);
    const uint32_t count = m_wifiDice.Poisson(deferrals);
    double nanos = count * shortNanos;
    if (count > 0)
    {
        nanos -= m_wifiDice.Unit() * shortNanos;
    }
    if (share > 0 && m_wifiDice.Chance(share))
    {
        nanos += m_wifiDice.Poisson(retransmissions) * longNanos;
    }
    return static_cast<int64_t>(nanos);
}

// A recorded delay, or one between two recorded delays (Hyndman and Fan, 1996, definition 7).
int64_t
Wire::RecordedJitter()
{
    const std::vector<int64_t>& delays = m_input.delays;
    const double share = m_recordedDice.Unit();
    if (!m_input.interpolates)
    {
        return delays[static_cast<size_t>(share * static_cast<double>(delays.size()))];
    }
    const double place = share * static_cast<double>(delays.size() - 1);
    const auto below = static_cast<size_t>(place);
    const int64_t low = delays[below], high = delays[std::min(delays.size() - 1, below + 1)];
    return low + static_cast<int64_t>(static_cast<double>(high - low) * (place - static_cast<double>(below)));
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

// Change the rate. The rest of the packet in transmission is sent at the new rate.
void
Wire::ChangeRate(int64_t rate)
{
    if (m_sending)
    {
        const int64_t now = NowNanos();
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

HopCounters
Wire::Counters() const
{
    HopCounters counters = m_counters;
    if (m_sending)
    {
        counters.busyNanos += static_cast<double>(NowNanos() - m_since);
    }
    return counters;
}

} // namespace fullpipe
