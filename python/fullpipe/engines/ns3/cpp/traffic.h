// Data of a flow for the tables. A flow is one connection, or datagrams.
#pragma once

#include "clock.h"
#include "histogram.h"
#include "input.h"
#include "parcel.h"

#include <functional>
#include <optional>

namespace fullpipe
{

class OwnAlgorithm;

// The counters of a flow at one moment.
struct Mark
{
    int64_t time = 0;
    uint64_t delivered = 0;
    uint64_t sent = 0;
    uint64_t retransmitted = 0;
    uint64_t wireBytes = 0;
    uint64_t marked = 0;
    uint64_t lost = 0; // data packets that were dropped or lost in the network
    uint64_t refused = 0; // bytes
};

struct FlowSample
{
    double goodput = Histogram::NONE;
    double cwnd = Histogram::NONE;
    double inFlight = Histogram::NONE;
    double srtt = Histogram::NONE;
    double minRtt = Histogram::NONE;
    double pacing = Histogram::NONE;
    double delivery = Histogram::NONE;
    uint64_t retransmitted = 0;
    const char* state = "waiting";
};

class Traffic
{
  public:
    Traffic(const Input& input, uint32_t number);
    virtual ~Traffic() = default;

    // Process a packet that has reached the end of its route.
    virtual void Deliver(ns3::Ptr<Parcel> parcel) = 0;

    // Process a packet that was dropped or lost.
    virtual void Lose(ns3::Ptr<Parcel> parcel) = 0;

    FlowSample Sample();
    void OnWarmup();
    void OnEnd(int64_t time);

    bool IsRunning() const
    {
        return m_phase == RUNNING;
    }

    // The algorithm of the flow, if the algorithm is part of fullpipe; otherwise null.
    virtual const OwnAlgorithm* Own() const
    {
        return nullptr;
    }

    // Set a function that is called after every acknowledgement, to record variables.
    void SetTurn(std::function<void()> turn)
    {
        m_turn = std::move(turn);
    }

    const FlowInput& Description() const
    {
        return m_input;
    }

    int64_t Start() const
    {
        return m_start;
    }

    const std::optional<Mark>& Begin() const
    {
        return m_begin;
    }

    const std::optional<Mark>& End() const
    {
        return m_end;
    }

    const std::optional<int64_t>& Finish() const
    {
        return m_finish;
    }

    const Histogram& Rtt() const
    {
        return m_rtt;
    }

    uint64_t SentPackets() const
    {
        return m_counters.sent;
    }

  protected:
    enum Phase
    {
        WAITING,
        RUNNING,
        OVER
    };

    // Add the current values that are not counters.
    virtual void Describe(FlowSample& sample) = 0;
    virtual Mark At(int64_t time) const;
    // Begin the flow. The flow is measured from the end of the warm-up on.
    void Begun();
    // End the measurement.
    void Close();

    FlowInput m_input;
    uint32_t m_number;
    int64_t m_warmup;
    Phase m_phase = WAITING;
    int64_t m_start;
    Mark m_counters; // running totals; `time` is not used
    std::optional<Mark> m_begin, m_end;
    std::optional<int64_t> m_finish;
    Histogram m_rtt;
    std::function<void()> m_turn;

  private:
    Mark m_sampled;
};

} // namespace fullpipe
