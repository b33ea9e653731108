// Faster searches in ns-3's socket buffers. The searches use an array (sent.h).
//
// The dynamic linker finds the functions in this file before the functions of ns-3's libraries. The functions in this
// file therefore replace ns-3's functions. The results are bit-identical. In rare cases the functions in this file call
// the replaced functions.

#include "sent.h"

#include "ns3/packet.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-rx-buffer.h"

#include <dlfcn.h>
#include <stdexcept>

namespace
{

// Return a replaced function of ns-3's libraries. For a method, the object is the first argument.
template <typename Function>
Function*
Theirs(const char* symbol)
{
    void* found = dlsym(RTLD_NEXT, symbol);
    if (!found)
    {
        throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<Function*>(found);
}

} // namespace

namespace ns3
{

namespace
{

// Return an item for bytes that were sent before in segments with other bounds. ns-3 makes the item from the items that
// contain these bytes. The function passes only these items to ns-3, as if the buffer began with them, because ns-3
// compares the whole list with itself at every step.
TcpTxItem*
OfOtherBounds(TcpTxBuffer& buffer,
              fullpipe::SentArray& sent,
              fullpipe::SentArray::Iterator found,
              uint32_t numBytes,
              TcpTxItem* (*theirs)(TcpTxBuffer*, uint32_t, const SequenceNumber32&))
{
    const SequenceNumber32 seq = found->start;
    const auto skipped = static_cast<uint32_t>(seq - buffer.m_firstByteSeq.Get());
    auto last = found;
    while (last != sent.End() && last->start < seq + numBytes)
    {
        ++last;
    }
    auto& list = buffer.m_sentList;
    TcpTxBuffer::PacketList below, above;
    above.splice(above.end(), list, last == sent.End() ? list.end() : last->place, list.end());
    below.splice(below.end(), list, list.begin(), found->place);
    buffer.m_firstByteSeq.m_v += skipped;
    buffer.m_sentSize -= skipped;
    buffer.m_size -= skipped;
    TcpTxItem* item = theirs(&buffer, numBytes, seq);
    buffer.m_firstByteSeq.m_v -= skipped;
    buffer.m_sentSize += skipped;
    buffer.m_size += skipped;
    list.splice(list.begin(), below);
    list.splice(list.end(), above);
    sent.Distrust();
    return item;
}

} // namespace

// Return the segment to send: a segment that was sent before, or a new segment.
TcpTxItem*
TcpTxBuffer::CopyFromSequence(uint32_t numBytes, const SequenceNumber32& seq)
{
    static const auto theirs = Theirs<TcpTxItem*(TcpTxBuffer*, uint32_t, const SequenceNumber32&)>(
        "_ZN3ns311TcpTxBuffer16CopyFromSequenceEjRKNS_14SequenceNumberIjiEE");
    fullpipe::SentArray& sent = fullpipe::SentArray::Of(*this);
    const auto found = sent.From(seq);
    if (found != sent.End() && found->start == seq && found->size == numBytes)
    {
        sent.Repeat(*found);
        return *found->place;
    }
    if (found != sent.End() && found->start == seq && seq + numBytes <= m_firstByteSeq + m_sentSize)
    {
        return OfOtherBounds(*this, sent, found, numBytes, theirs);
    }
    TcpTxItem* item = theirs(this, numBytes, seq);
    sent.Append();
    return item;
}

// NextSeg of RFC 6675: a lost segment if there is any, otherwise a new segment.
bool
TcpTxBuffer::NextSeg(SequenceNumber32* seq, SequenceNumber32* seqHigh, bool isRecovery) const
{
    static const auto theirs = Theirs<bool(const TcpTxBuffer*, SequenceNumber32*, SequenceNumber32*, bool)>(
        "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b");
    const fullpipe::Sent* lost = fullpipe::SentArray::Of(*this).FirstWaiting();
#if FULLPIPE_NS3_MINOR >= 43
    if (lost && m_sackSeen && lost->start >= m_highestSack.second)
    {
        lost = nullptr;
    }
#endif
    const SequenceNumber32 next = m_firstByteSeq + m_sentSize;
    if (lost)
    {
        *seq = lost->start;
    }
    else if (SizeFromSequence(next) > 0 && m_sentSize + m_segmentSize <= m_rWndCallback())
    {
        *seq = next;
    }
    else
    {
        return theirs(this, seq, seqHigh, isRecovery);
    }
    *seqHigh = *seq + m_segmentSize;
    return true;
}

// Process the SACK blocks of an acknowledgement: mark the segments in the blocks as selectively acknowledged, and
// segments below them as lost.
uint32_t
TcpTxBuffer::Update(const TcpOptionSack::SackList& list, const Callback<void, TcpTxItem*>& sackedCb)
{
    static const auto theirs =
        Theirs<uint32_t(TcpTxBuffer*, const TcpOptionSack::SackList&, const Callback<void, TcpTxItem*>&)>(
            "_ZN3ns311TcpTxBuffer6UpdateERKNSt7__cxx114listISt4pairINS_14SequenceNumberIjiEES5_ESaIS6_EEERKNS_"
            "8CallbackIvJPNS_9TcpTxItemEEEE");
    for (const auto& [from, to] : list)
    {
        if (m_firstByteSeq + m_sentSize < from)
        {
            return theirs(this, list, sackedCb);
        }
    }
    fullpipe::SentArray& sent = fullpipe::SentArray::Of(*this);
    uint32_t bytes = 0;
    for (const auto& [from, to] : list)
    {
        for (auto segment = sent.From(from); segment != sent.End() && segment->start + segment->size <= to; ++segment)
        {
            if (segment->sacked)
            {
                continue;
            }
            sent.Sack(*segment);
            bytes += segment->size;
            if (m_highestSack.first == m_sentList.end() || m_highestSack.second <= segment->start + segment->size)
            {
                m_highestSack = {segment->place, segment->start};
#if FULLPIPE_NS3_MINOR >= 43
                m_sackSeen = true;
#endif
            }
            if (!sackedCb.IsNull())
            {
                sackedCb(*segment->place);
            }
        }
    }
    if (bytes > 0)
    {
        sent.FindLosses();
    }
    return bytes;
}

// Add an arriving segment. ns-3 searches all segments above a gap. This search is skipped if the segment has already
// arrived, or overlaps no other segment.
bool
TcpRxBuffer::Add(Ptr<Packet> p, const TcpHeader& tcph)
{
    static const auto theirs = Theirs<bool(TcpRxBuffer*, Ptr<Packet>, const TcpHeader&)>(
        "_ZN3ns311TcpRxBuffer3AddENS_3PtrINS_6PacketEEERKNS_9TcpHeaderE");
    const SequenceNumber32 head = tcph.GetSequenceNumber();
    const SequenceNumber32 tail = head + p->GetSize();
    const auto above = m_data.lower_bound(head);
    const auto end = [](const auto& entry) { return entry.first + entry.second->GetSize(); };
    if (above != m_data.end() && above->first == head && end(*above) >= tail)
    {
        return false;
    }
    const bool alone = (above == m_data.end() || above->first >= tail) &&
                       (above == m_data.begin() || end(*std::prev(above)) <= head);
    if (m_data.empty() || head <= m_nextRxSeq || head == tail || !alone || m_gotFin ||
        m_data.begin()->first <= m_nextRxSeq || m_data.begin()->first + m_maxBuffer < tail)
    {
        return theirs(this, p, tcph);
    }
    m_data.emplace_hint(above, head, p->CreateFragment(0, p->GetSize()));
    m_size += p->GetSize();
    UpdateSackList(head, tail);
    return true;
}

} // namespace ns3
