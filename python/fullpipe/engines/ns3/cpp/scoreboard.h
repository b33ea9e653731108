// The scoreboard of a sender, kept outside ns-3's socket. The scoreboard records when each segment left, whether it was
// retransmitted, whether it was acknowledged cumulatively or selectively, and whether it is lost by the rule of RFC
// 6675, which ns-3 uses.
//
// Code outside ns-3's socket cannot read ns-3's own record of segments, and ns-3's RTTs are in milliseconds.
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
    uint64_t start = 0; // bytes of payload before the segment
    uint32_t length = 0;
    int64_t sent = 0;
    bool again = false;
    bool sacked = false;
    bool lost = false;
    bool hidden = false;      // whether the segment's delivery-rate sample counts as application-limited
    uint32_t inFlight = 0;    // packets, including this segment
    uint64_t lostBefore = 0;  // packets marked lost when the segment left
    uint64_t delivered = 0;   // packets delivered when the segment left
    int64_t deliveredTime = 0; // time of the last change of `delivered`
    int64_t flightStart = 0;  // time at which the last delivered segment had been sent
};

// New information of an acknowledgement.
struct Digest
{
    bool advanced = false;
    bool ece = false;
    uint32_t cumulative = 0; // cumulatively acknowledged segments, including segments that were SACKed before
    uint32_t delivered = 0;  // segments newly acknowledged, cumulatively or selectively
    // RTT of the oldest segment delivered, for statistics; empty if a delivered segment was retransmitted
    std::optional<int64_t> oldestRtt;
    std::optional<int64_t> newestRtt; // RTT of `newest`, unless `newest` was retransmitted; for the algorithm
    std::optional<Segment> newest;    // the most recently sent segment of the newly delivered segments
    std::vector<std::pair<uint64_t, Segment>> lost; // number and record of each segment newly marked lost
};

class Scoreboard
{
  public:
    // Record a segment that leaves. Returns whether the segment is a retransmission.
    bool OnSend(ns3::SequenceNumber32 sequence, uint32_t length, int64_t now, uint32_t inFlight, bool hidden);

    // Process an acknowledgement.
    Digest OnAck(const ns3::TcpHeader& header, int64_t now);

    // Mark all outstanding segments lost, as the retransmission timer has fired.
    void LoseAll(Digest& digest);

    // Mark the oldest segment lost when recovery begins, regardless of selective acknowledgements.
    void LoseHead(Digest& digest);

    uint64_t Acknowledged() const // bytes
    {
        return m_acknowledged;
    }

    uint64_t Sent() const // bytes, without retransmissions
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

    uint64_t FirstNumber() const // number of the oldest outstanding segment
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
    uint64_t m_scanned = 0; // offset below which losses have been found
    std::array<uint64_t, 3> m_highest{}; // starts of the three highest SACKed segments, highest first
    std::vector<std::pair<uint64_t, uint64_t>> m_blocks; // SACK blocks of the preceding acknowledgement
};

} // namespace fullpipe
