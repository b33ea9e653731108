// An array of the segments that ns-3's transmit buffer has sent.
//
// ns-3 keeps the segments in flight in a linked list of items, each with its packet. ns-3 searches this list from the
// oldest segment: once for every segment that it sends, and several times for every acknowledgement. ns-3's wheels are
// built with assertions. With assertions, one of the searches compares the whole list with itself at every step. A
// window of a few thousand segments then takes minutes per simulated second. The array holds the data that such a
// search needs, in the same order.
#pragma once

#include "ns3/tcp-tx-buffer.h"

#include <deque>
#include <list>
#include <tuple>

namespace fullpipe
{

struct Sent
{
    std::list<ns3::TcpTxItem*>::iterator place; // position in ns-3's list of segments
    ns3::SequenceNumber32 start;
    uint32_t size;
    bool sacked, lost, again; // flags of ns-3's item; `again`: retransmitted

    bool Waits() const // whether the segment is to be retransmitted
    {
        return lost && !again && !sacked;
    }
};

class SentArray
{
  public:
    using Iterator = std::deque<Sent>::iterator;

    // The array of a buffer, updated to the current state of the buffer.
    static SentArray& Of(const ns3::TcpTxBuffer& buffer);

    // The first segment that begins at or above a sequence number.
    Iterator From(ns3::SequenceNumber32 sequence);

    Iterator End()
    {
        return m_sent.end();
    }

    // The oldest segment that is lost and not yet retransmitted; null if there is none.
    const Sent* FirstWaiting() const;

    // Record that ns-3 changes the bounds of segments. The next update then copies the whole list again.
    void Distrust()
    {
        m_totals = {};
    }

    // Add the segment that the buffer has just sent.
    void Append();

    void Repeat(Sent& segment);
    void Sack(Sent& segment);

    // Mark segments lost that have three selectively acknowledged segments above them.
    void FindLosses();

  private:
    using Totals = std::tuple<size_t, uint32_t, uint32_t, uint32_t, uint32_t>;

    Totals Now() const;
    void Synchronise();
    void Copy();
    void Add(std::list<ns3::TcpTxItem*>::iterator place);
    void Forget();

    ns3::TcpTxBuffer* m_buffer = nullptr;
    std::deque<Sent> m_sent;
    size_t m_waiting = 0;
    ns3::SequenceNumber32 m_settled; // below this number, every segment that is not SACKed is lost
    Totals m_totals; // totals of the buffer when the array was last equal to it; any change by ns-3 changes a total
};

} // namespace fullpipe
