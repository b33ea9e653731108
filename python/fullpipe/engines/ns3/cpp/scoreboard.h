// The scoreboard of a sender, kept outside ns-3's socket: when each segment left, whether it was sent again,
// which are acknowledged, selectively or not, and which are lost by RFC 6675's rule, the one that ns-3 goes by.
//
// ns-3 keeps no such record where others can see it, and its own RTTs are in milliseconds.
#pragma once

#include "ns3/tcp-header.h"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace fullpipe
{

struct Segment
{
    uint64_t start = 0; // bytes of payload before it
    uint32_t length = 0;
    int64_t sent = 0;
    bool again = false;
    bool sacked = false;
    bool lost = false;
    bool hidden = false;      // its rate sample says nothing of the network
    uint32_t inFlight = 0;    // packets, itself included
    uint64_t lostBefore = 0;  // packets found lost when it left
    uint64_t delivered = 0;   // packets delivered by then
    int64_t deliveredTime = 0; // when that count had last changed
    int64_t flightStart = 0;  // when the segment delivered last by then had been sent
};

// What one acknowledgement says that was not known before.
struct Digest
{
    bool advanced = false;
    bool ece = false;
    uint32_t cumulative = 0; // segments, those sacked before included
    uint32_t delivered = 0;  // segments, cumulatively or selectively
    std::optional<int64_t> oldestRtt; // of the oldest segment delivered, none of them sent twice: for statistics
    std::optional<int64_t> newestRtt; // of the newest one: for the algorithm
    std::optional<Segment> newest;    // the segment sent last among those delivered
    std::vector<std::pair<uint64_t, Segment>> lost; // number and record
};

class Scoreboard
{
  public:
    // A segment leaves; whether it is a retransmission.
    bool OnSend(ns3::SequenceNumber32 sequence, uint32_t length, int64_t now, uint32_t inFlight, bool hidden);

    // An acknowledgement arrives.
    Digest OnAck(const ns3::TcpHeader& header, int64_t now);

    // The retransmission timer fired: nothing that was sent is expected any more.
    void LoseAll(Digest& digest);

    // Recovery begins: the oldest segment is lost, whatever was selectively acknowledged.
    void LoseHead(Digest& digest);

    uint64_t Acknowledged() const // bytes
    {
        return m_acknowledged;
    }

    uint64_t Sent() const // bytes, each once
    {
        return m_next;
    }

    uint64_t Lost() const // segments
    {
        return m_lost;
    }

    uint64_t Delivered() const // segments
    {
        return m_delivered;
    }

    int64_t DeliveredTime() const
    {
        return m_deliveredTime;
    }

    size_t Outstanding() const // segments
    {
        return m_segments.size();
    }

    uint64_t FirstNumber() const // of the oldest segment outstanding
    {
        return m_firstNumber;
    }

  private:
    uint64_t Offset(ns3::SequenceNumber32 sequence) const;
    void Stamp(Segment& segment, int64_t now, uint32_t inFlight, bool hidden) const;
    std::deque<Segment>::iterator Find(uint64_t offset);
    void Deliver(Segment& segment, Digest& digest, int64_t now);
    void Sack(uint64_t from, uint64_t to, size_t block, Digest& digest, int64_t now);
    void FindLosses(Digest& digest);
    void Lose(Segment& segment);

    std::deque<Segment> m_segments;
    uint64_t m_firstNumber = 0;
    uint64_t m_acknowledged = 0;
    uint64_t m_next = 0;
    uint64_t m_lost = 0;
    uint64_t m_delivered = 0;
    int64_t m_deliveredTime = 0;
    int64_t m_flightStart = 0;
    uint64_t m_scanned = 0; // below this offset losses are known
    std::array<uint64_t, 3> m_highest{}; // starts of the highest segments sacked, highest first
    std::vector<std::pair<uint64_t, uint64_t>> m_blocks; // of the acknowledgement before
};

} // namespace fullpipe
