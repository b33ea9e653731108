#include "scoreboard.h"

#include "ns3/tcp-option-sack.h"

#include <algorithm>

using namespace ns3;

namespace fullpipe
{

// The first byte of the payload has sequence number 1. Sequence numbers wrap after 4 GiB, and windows are smaller than
// half of that.
uint64_t
Scoreboard::Offset(SequenceNumber32 sequence) const
{
    const SequenceNumber32 here(static_cast<uint32_t>(m_acknowledged) + 1);
    const int64_t offset = static_cast<int64_t>(m_acknowledged) + (sequence - here);
    return static_cast<uint64_t>(std::max<int64_t>(offset, 0));
}

std::deque<Segment>::iterator
Scoreboard::Find(uint64_t offset)
{
    return std::lower_bound(m_segments.begin(), m_segments.end(), offset, [](const Segment& s, uint64_t at) {
        return s.start + s.length <= at;
    });
}

// Record the state that the delivery-rate sample of a segment needs, at the time at which the segment leaves.
void
Scoreboard::Stamp(Segment& segment, int64_t now, uint32_t inFlight, bool hidden) const
{
    segment.sent = now;
    segment.inFlight = inFlight;
    segment.hidden = hidden;
    segment.lostBefore = m_lost;
    segment.delivered = m_delivered;
    segment.deliveredTime = m_deliveredTime;
    segment.flightStart = m_flightStart;
}

bool
Scoreboard::OnSend(SequenceNumber32 sequence, uint32_t length, int64_t now, uint32_t inFlight, bool hidden)
{
    const uint64_t start = Offset(sequence);
    const uint64_t end = start + length;
    const bool again = start < m_next;
    if (m_segments.empty())
    {
        m_flightStart = m_deliveredTime = now;
    }
    for (auto s = Find(start); s != m_segments.end() && s->start < end; ++s)
    {
        s->again = true;
        s->lost = false;
        Stamp(*s, now, inFlight, hidden);
    }
    if (end > m_next)
    {
        const uint64_t fresh = std::max(start, m_next);
        Segment segment;
        segment.start = fresh;
        segment.length = static_cast<uint32_t>(end - fresh);
        Stamp(segment, now, inFlight, hidden);
        m_segments.push_back(segment);
        m_next = end;
    }
    return again;
}

void
Scoreboard::Deliver(Segment& segment, Digest& digest, int64_t now)
{
    m_delivered++;
    digest.delivered++;
    if (!digest.newest || segment.sent >= digest.newest->sent)
    {
        digest.newest = segment;
        digest.newestRtt = segment.again ? std::nullopt : std::optional<int64_t>(now - segment.sent);
    }
}

Digest
Scoreboard::OnAck(const TcpHeader& header, int64_t now)
{
    Digest digest;
    const uint64_t ack = Offset(header.GetAckNumber());
    digest.advanced = ack > m_acknowledged;
    digest.ece = header.GetFlags() & TcpHeader::ECE;
    bool repeated = false;
    std::optional<int64_t> oldest;
    while (!m_segments.empty() && m_segments.front().start + m_segments.front().length <= ack)
    {
        Segment& segment = m_segments.front();
        repeated |= segment.again;
        if (!segment.sacked)
        {
            oldest = oldest.value_or(now - segment.sent);
            Deliver(segment, digest, now);
        }
        digest.cumulative++;
        m_firstNumber++;
        m_segments.pop_front();
    }
    m_acknowledged = std::max(m_acknowledged, ack);
    if (!repeated)
    {
        digest.oldestRtt = oldest;
    }
    if (auto option = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK)))
    {
        std::vector<std::pair<uint64_t, uint64_t>> blocks;
        for (const auto& [from, to] : option->GetSackList())
        {
            blocks.emplace_back(Offset(from), Offset(to));
        }
        for (const auto& [from, to] : blocks)
        {
            Sack(std::max(from, ack), to, 0, digest, now);
        }
        m_blocks = std::move(blocks);
    }
    else
    {
        m_blocks.clear();
    }
    if (digest.newest)
    {
        m_deliveredTime = now;
        m_flightStart = digest.newest->sent;
    }
    FindLosses(digest);
    return digest;
}

// Long blocks are repeated in every acknowledgement. Only parts that the preceding acknowledgement did not cover are
// searched.
void
Scoreboard::Sack(uint64_t from, uint64_t to, size_t block, Digest& digest, int64_t now)
{
    for (; block < m_blocks.size() && from < to; block++)
    {
        const auto [knownFrom, knownTo] = m_blocks[block];
        if (knownTo <= from || knownFrom >= to)
        {
            continue;
        }
        if (from < knownFrom)
        {
            Sack(from, knownFrom, block + 1, digest, now);
        }
        from = std::max(from, knownTo);
    }
    for (auto s = Find(from); s != m_segments.end() && s->start + s->length <= to; ++s)
    {
        if (s->sacked)
        {
            continue;
        }
        s->sacked = true;
        if (!s->again && !digest.oldestRtt)
        {
            digest.oldestRtt = now - s->sent;
        }
        Deliver(*s, digest, now);
        auto place = std::find_if(m_highest.begin(), m_highest.end(), [&](uint64_t h) { return s->start > h; });
        std::copy_backward(place, place == m_highest.end() ? place : m_highest.end() - 1, m_highest.end());
        if (place != m_highest.end())
        {
            *place = s->start;
        }
    }
}

// A segment is lost if three segments above it have been selectively acknowledged.
void
Scoreboard::FindLosses(Digest& digest)
{
    const uint64_t below = m_highest.back();
    for (auto s = Find(std::max(m_scanned, m_acknowledged)); s != m_segments.end() && s->start < below; ++s)
    {
        if (!s->sacked && !s->lost)
        {
            const auto number = m_firstNumber + static_cast<uint64_t>(s - m_segments.begin());
            Lose(*s);
            digest.lost.emplace_back(number, *s);
        }
    }
    m_scanned = std::max(m_scanned, below);
}

void
Scoreboard::Lose(Segment& segment)
{
    segment.lost = true;
    m_lost++;
}

void
Scoreboard::LoseHead(Digest& digest)
{
    if (!m_segments.empty() && !m_segments.front().lost && !m_segments.front().again)
    {
        Lose(m_segments.front());
        digest.lost.emplace_back(m_firstNumber, m_segments.front());
    }
}

void
Scoreboard::LoseAll(Digest& digest)
{
    uint64_t number = m_firstNumber;
    for (Segment& segment : m_segments)
    {
        if (!segment.sacked && !segment.lost)
        {
            Lose(segment);
            digest.lost.emplace_back(number, segment);
        }
        number++;
    }
}

} // namespace fullpipe
