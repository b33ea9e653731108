// What ns-3's transmit buffer has sent, in an array.
//
// ns-3 keeps a segment in flight as a node of a list, an item and a packet, and walks from the oldest past all of them:
// once for every segment that it sends, and several times for every acknowledgement. In its wheels, which are built with
// assertions, one of these walks compares the whole list with itself at every step. A window of a few thousand segments
// then takes minutes per simulated second. The array holds what such a walk looks at, in the same input.
#pragma once

#include "ns3/tcp-tx-buffer.h"

#include <deque>
#include <list>
#include <tuple>

namespace fullpipe
{

struct Sent
{
    std::list<ns3::TcpTxItem*>::iterator place; // in ns-3's list
    ns3::SequenceNumber32 start;
    uint32_t size;
    bool sacked, lost, again; // as ns-3's item says; again: retransmitted

    bool Waits() const // to be sent again
    {
        return lost && !again && !sacked;
    }
};

class SentArray
{
  public:
    using Iterator = std::deque<Sent>::iterator;

    // That of a buffer, as the buffer now is.
    static SentArray& Of(const ns3::TcpTxBuffer& buffer);

    // The first segment that does not begin below.
    Iterator From(ns3::SequenceNumber32 sequence);

    Iterator End()
    {
        return m_sent.end();
    }

    // The oldest one that is lost and not sent again; null if there is none.
    const Sent* FirstWaiting() const;

    // ns-3 changes the bounds of segments: everything is to be copied anew.
    void Distrust()
    {
        m_totals = {};
    }

    // The buffer has sent another segment.
    void Append();

    void Repeat(Sent& segment);
    void Sack(Sent& segment);

    // What lies below three segments that were selectively acknowledged is lost.
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
    ns3::SequenceNumber32 m_settled; // below it, what is not sacked is lost
    Totals m_totals; // of the buffer, when it was last the same as this array: all that ns-3 does by itself changes one
};

} // namespace fullpipe
