// One connection between two hosts of its own: its sockets, its application, and what is measured of it.
#pragma once

#include "application.h"
#include "histogram.h"
#include "host.h"
#include "network.h"
#include "input.h"
#include "own.h"
#include "scoreboard.h"
#include "writer.h"

#include <optional>

namespace fullpipe
{

// The counters of a flow at one moment.
struct Mark
{
    int64_t time = 0;
    uint64_t delivered = 0;
    uint64_t sent = 0;
    uint64_t retransmitted = 0;
    uint64_t wireBytes = 0;
    uint64_t marked = 0;
    uint64_t lost = 0; // data packets that were dropped or lost on their way
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

class Flow
{
  public:
    Flow(const Input& input, uint32_t number, Network& network, const fullpipe_congestion_api* api);

    // A packet has reached the end of its route.
    void Deliver(ns3::Ptr<Parcel> parcel);

    // A packet was dropped or lost.
    void Lose(ns3::Ptr<Parcel> parcel);

    void OnWarmup();
    void OnEnd(int64_t time);
    FlowSample Sample();

    bool IsRunning() const
    {
        return m_phase == RUNNING;
    }

    const OwnAlgorithm* Own() const
    {
        return ns3::PeekPointer(m_own);
    }

    // Sets a function that is called after every acknowledgement, to record variables.
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

  private:
    enum Phase
    {
        WAITING,
        RUNNING,
        OVER
    };

    void MakeSender(const fullpipe_congestion_api* api, uint64_t seed);
    void Listen();
    void Open();
    void Established();
    void Fill();
    bool Write(uint32_t bytes);
    void Stop();
    void Close();
    void OnTransmit(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header);
    void OnReceive(const ns3::TcpHeader& header);
    void OnData(ns3::Ptr<ns3::Socket> socket);
    void Leave(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, uint16_t protocol, int way);
    Mark At(int64_t time) const;
    void Prepare(ns3::Ptr<ns3::TcpSocketBase> socket) const;

    FlowInput m_input;
    uint32_t m_number;
    int64_t m_warmup;
    Network& m_network;
    Host m_sender;
    Host m_receiver;
    ns3::Ptr<ns3::TcpSocketBase> m_socket;
    ns3::Ptr<ns3::TcpSocketBase> m_listener;
    ns3::Ptr<OwnAlgorithm> m_own;
    Scoreboard m_scoreboard;
    Application m_application;
    Writer m_writer;
    Phase m_phase = WAITING;
    bool m_established = false;
    int64_t m_start = 0;
    uint64_t m_written = 0;
    Mark m_counters; // running totals; `time` is not used
    std::optional<Mark> m_begin, m_end;
    std::optional<int64_t> m_finish;
    Mark m_sampled;
    Histogram m_rtt;
    double m_deliveryRate = Histogram::NONE;
    int64_t m_dataDelay = -1; // one way, of the data that arrived last
    int64_t m_ackedDelay = -1; // the same, as the acknowledgement tells that arrives
    std::function<void()> m_turn;
};

} // namespace fullpipe
