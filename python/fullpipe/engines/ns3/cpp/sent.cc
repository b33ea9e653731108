#include "sent.h"

#include "ns3/packet.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <unordered_map>

using namespace ns3;

namespace fullpipe
{

SentArray&
SentArray::Of(const TcpTxBuffer& buffer)
{
    static std::unordered_map<const TcpTxBuffer*, SentArray> arrays;
    SentArray& array = arrays[&buffer];
    array.m_buffer = const_cast<TcpTxBuffer*>(&buffer);
    array.Synchronise();
    return array;
}

SentArray::Totals
SentArray::Now() const
{
    return {m_buffer->m_sentList.size(),
            m_buffer->m_sentSize,
            m_buffer->m_sackedOut,
            m_buffer->m_lostOut,
            m_buffer->m_retrans};
}

// Remove the segments that ns-3 has removed as acknowledged. If ns-3 has made any other change, copy the whole list
// again.
void
SentArray::Synchronise()
{
    while (!m_sent.empty() && m_sent.front().start < m_buffer->m_firstByteSeq)
    {
        Forget();
    }
    m_settled = std::max(m_settled, m_buffer->m_firstByteSeq.Get());
    if (m_totals != Now())
    {
        Copy();
    }
}

void
SentArray::Forget()
{
    const Sent& oldest = m_sent.front();
    auto& [segments, bytes, sacked, lost, again] = m_totals;
    segments--;
    bytes -= oldest.size;
    sacked -= oldest.sacked ? oldest.size : 0;
    lost -= oldest.lost ? oldest.size : 0;
    again -= oldest.again ? oldest.size : 0;
    m_waiting -= oldest.Waits();
    m_sent.pop_front();
}

void
SentArray::Copy()
{
    m_sent.clear();
    m_waiting = 0;
    m_settled = m_buffer->m_firstByteSeq;
    for (auto place = m_buffer->m_sentList.begin(); place != m_buffer->m_sentList.end(); ++place)
    {
        Add(place);
    }
    m_totals = Now();
}

void
SentArray::Add(std::list<TcpTxItem*>::iterator place)
{
    const TcpTxItem& item = **place;
    m_sent.push_back(
        {place, item.m_startSeq, item.m_packet->GetSize(), item.m_sacked, item.m_lost, item.m_retrans});
    m_waiting += m_sent.back().Waits();
}

SentArray::Iterator
SentArray::From(SequenceNumber32 sequence)
{
    return std::lower_bound(m_sent.begin(), m_sent.end(), sequence, [](const Sent& sent, SequenceNumber32 at) {
        return sent.start < at;
    });
}

const Sent*
SentArray::FirstWaiting() const
{
    const auto found = m_waiting ? std::find_if(m_sent.begin(), m_sent.end(), [](const Sent& s) { return s.Waits(); })
                                 : m_sent.end();
    return found == m_sent.end() ? nullptr : &*found;
}

void
SentArray::Append()
{
    if (m_totals != Totals() && m_buffer->m_sentList.size() == m_sent.size() + 1)
    {
        Add(std::prev(m_buffer->m_sentList.end()));
        auto& [segments, bytes, sacked, lost, again] = m_totals;
        segments++;
        bytes += m_sent.back().size;
    }
}

void
SentArray::Repeat(Sent& segment)
{
    TcpTxItem& item = **segment.place;
    m_waiting -= segment.Waits();
    m_buffer->m_retrans += segment.again ? 0 : segment.size;
    segment.again = item.m_retrans = true;
    item.m_lastSent = Simulator::Now();
    m_totals = Now();
}

void
SentArray::Sack(Sent& segment)
{
    TcpTxItem& item = **segment.place;
    m_waiting -= segment.Waits();
    m_buffer->m_lostOut -= segment.lost ? segment.size : 0;
    m_buffer->m_sackedOut += segment.size;
    segment.lost = item.m_lost = false;
    segment.sacked = item.m_sacked = true;
    m_totals = Now();
}

void
SentArray::FindLosses()
{
    uint32_t sacked = 0;
    SequenceNumber32 settled = m_settled;
    for (auto segment = From(m_buffer->m_highestSack.second) + 1;
         segment != m_sent.begin() && std::prev(segment)->start >= m_settled;)
    {
        --segment;
        sacked += segment->sacked;
        if (sacked < m_buffer->m_dupAckThresh)
        {
            continue;
        }
        settled = std::max(settled, segment->start);
        if (!segment->sacked && !segment->lost)
        {
            segment->lost = (*segment->place)->m_lost = true;
            m_buffer->m_lostOut += segment->size;
            m_waiting += segment->Waits();
        }
    }
    m_settled = settled;
    m_totals = Now();
}

} // namespace fullpipe
