#include "flow.h"

#include "addresses.h"

#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-tx-buffer.h"

#include <stdexcept>

using namespace ns3;

namespace fullpipe
{

namespace
{

constexpr uint16_t PORT = 5001;
// Largest amount of unsent data in a socket if the send buffer is not meant to limit the flow. The socket has at least
// half of this amount of unsent data.
constexpr uint64_t MOST_UNSENT = 1 << 18;

} // namespace

Flow::Flow(const Input& input, uint32_t number, Network& network, const fullpipe_congestion_api* api)
    : Traffic(input, number),
      m_network(network),
      m_sender(AddressOf(number, 0),
               [this](Ptr<Packet> packet, const Address& to, uint16_t protocol) { Leave(packet, to, protocol, 0); }),
      m_receiver(AddressOf(number, 1),
                 [this](Ptr<Packet> packet, const Address& to, uint16_t protocol) { Leave(packet, to, protocol, 1); }),
      m_application(
          m_input,
          [this]() { return m_scoreboard.Sent(); },
          [this]() { Fill(); }),
      m_writer(m_input.writes, [this](uint32_t bytes) { return Write(bytes); })
{
    MakeSender(api, Dice(input.seed, "cca/" + m_input.stream).Next());
    Listen();
    Simulator::Schedule(NanoSeconds(m_start), [this]() { Open(); });
    if (m_input.stop != NEVER)
    {
        Simulator::Schedule(NanoSeconds(m_input.stop), [this]() { Stop(); });
    }
}

void
Flow::Prepare(Ptr<TcpSocketBase> socket) const
{
    for (const auto& [name, value] : m_input.socketAttributes)
    {
        socket->SetAttribute(name, StringValue(value));
    }
    socket->SetIpTos(m_input.tos);
}

void
Flow::MakeSender(const fullpipe_congestion_api* api, uint64_t seed)
{
    m_socket = m_sender.MakeSocket(TypeId::LookupByName("ns3::TcpNewReno"),
                                   TypeId::LookupByName(m_input.recovery));
    Prepare(m_socket);
    if (m_input.algorithm == "own")
    {
        m_own = CreateObject<OwnAlgorithm>();
        m_own->Make(api, m_input.ownName, m_input.ownParameters, seed);
        m_own->Attach(PeekPointer(m_socket), &m_scoreboard);
        if (m_own->WantsEveryMark())
        {
            Inside::State(*m_socket).m_ecnMode = TcpSocketState::DctcpEcn;
        }
        m_socket->SetCongestionControlAlgorithm(m_own);
    }
    else
    {
        ObjectFactory factory(m_input.algorithm);
        for (const auto& [name, value] : m_input.algorithmAttributes)
        {
            factory.Set(name, StringValue(value));
        }
        m_socket->SetCongestionControlAlgorithm(factory.Create<TcpCongestionOps>());
    }
    if (m_input.alwaysPaced)
    {
        m_socket->SetPacingStatus(true);
    }
    using Segment = Ptr<const Packet>;
    using Base = Ptr<const TcpSocketBase>;
    m_socket->TraceConnectWithoutContext(
        "Tx",
        Callback<void, Segment, const TcpHeader&, Base>(
            [this](Segment packet, const TcpHeader& header, Base) { OnTransmit(packet, header); }));
    m_socket->TraceConnectWithoutContext(
        "Rx",
        Callback<void, Segment, const TcpHeader&, Base>(
            [this](Segment, const TcpHeader& header, Base) { OnReceive(header); }));
    Inside::Rate(*m_socket).TraceConnectWithoutContext(
        "TcpRateSampleUpdated",
        Callback<void, const TcpRateOps::TcpRateSample&>([this](const TcpRateOps::TcpRateSample& sample) {
            if (sample.m_interval.IsStrictlyPositive())
            {
                m_deliveryRate = sample.m_delivered * 8.0 / sample.m_interval.GetSeconds();
            }
        }));
    m_socket->SetConnectCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { Established(); }),
                                 Callback<void, Ptr<Socket>>([this](Ptr<Socket>) {
                                     throw std::runtime_error(m_input.name + ": no connection");
                                 }));
    m_socket->SetSendCallback(Callback<void, Ptr<Socket>, uint32_t>([this](Ptr<Socket>, uint32_t) { Fill(); }));
}

// DCTCP's receiver echoes every CE mark. No other algorithm affects the receiver.
void
Flow::Listen()
{
    const bool everyMark = m_own ? m_own->WantsEveryMark() : m_input.algorithm == "ns3::TcpDctcp";
    m_listener = m_receiver.MakeSocket(TypeId::LookupByName(everyMark ? "ns3::TcpDctcp" : "ns3::TcpNewReno"),
                                       TypeId::LookupByName(m_input.recovery));
    Prepare(m_listener);
    m_listener->Bind(InetSocketAddress(m_receiver.Address(), PORT));
    m_listener->Listen();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  Callback<void, Ptr<Socket>, const Address&>(
                                      [this](Ptr<Socket> socket, const Address&) {
                                          socket->SetRecvCallback(Callback<void, Ptr<Socket>>(
                                              [this](Ptr<Socket> ready) { OnData(ready); }));
                                      }));
}

void
Flow::Open()
{
    Begun();
    m_socket->Bind();
    m_socket->Connect(InetSocketAddress(m_receiver.Address(), PORT));
    m_writer.Start();
}

void
Flow::Established()
{
    m_established = true;
    if (m_own)
    {
        m_own->Established(m_input.initialWindow, NowNanos() - m_start);
    }
    Fill();
}

// Write data to the socket. If the send buffer is meant to limit the flow, write as much as the buffer holds.
// Otherwise, write enough that the socket does not run out of data before the next call.
void
Flow::Fill()
{
    if (!m_established)
    {
        return;
    }
    if (m_writer.Exists())
    {
        return m_writer.Wake();
    }
    const uint64_t most = m_input.bufferLimits ? UINT64_MAX : m_scoreboard.Sent() + MOST_UNSENT;
    const uint64_t wanted = std::min(m_application.Offered(), most);
    while (m_written < wanted)
    {
        const uint64_t size = std::min<uint64_t>({wanted - m_written, m_input.mss, m_socket->GetTxAvailable()});
        const bool partial = size < m_input.mss && m_written + size < m_application.Offered();
        if (size == 0 || partial || m_socket->Send(Create<Packet>(static_cast<uint32_t>(size)), 0) < 0)
        {
            return;
        }
        m_written += size;
    }
}

// Write all bytes or none, and return whether they were written.
bool
Flow::Write(uint32_t bytes)
{
    return m_socket->GetTxAvailable() >= bytes && m_socket->Send(Create<Packet>(bytes), 0) >= 0;
}

void
Flow::Stop()
{
    if (m_phase == RUNNING)
    {
        m_writer.Stop();
        m_application.Stop(m_written);
        Close();
    }
}

void
Flow::OnTransmit(Ptr<const Packet> packet, const TcpHeader& header)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    const bool hidden = m_own && m_own->Sending();
    const uint32_t inFlight = (m_socket->GetTxBuffer()->BytesInFlight() + m_input.mss - 1) / m_input.mss;
    m_counters.sent++;
    m_counters.retransmitted +=
        m_scoreboard.OnSend(header.GetSequenceNumber(), packet->GetSize(), NowNanos(), inFlight, hidden);
    // ns-3 requests more data only when data is acknowledged, which recovery can delay by seconds.
    if (!m_input.bufferLimits && m_written < m_scoreboard.Sent() + MOST_UNSENT / 2)
    {
        Fill();
    }
}

void
Flow::OnReceive(const TcpHeader& header)
{
    if (!m_established || !(header.GetFlags() & TcpHeader::ACK) || (header.GetFlags() & TcpHeader::SYN))
    {
        return;
    }
    const Digest digest = m_scoreboard.OnAck(header, NowNanos());
    if (digest.oldestRtt && (m_warmup == 0 || NowNanos() > m_warmup))
    {
        m_rtt.Record(*digest.oldestRtt);
    }
    const bool stale = !digest.advanced && header.GetAckNumber() < m_socket->GetTxBuffer()->HeadSequence();
    if (m_own && !stale)
    {
        m_own->Arrived(digest, m_ackedDelay);
    }
    if (m_phase == RUNNING && m_input.bytes != UINT64_MAX && m_scoreboard.Acknowledged() >= m_input.bytes)
    {
        m_finish = NowNanos();
        Close();
    }
    if (m_turn)
    {
        Simulator::ScheduleNow([this]() { m_turn(); });
    }
}

void
Flow::OnData(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        m_counters.delivered += packet->GetSize();
    }
}

// Wrap a packet that leaves a host into a parcel, and count it.
void
Flow::Leave(Ptr<Packet> packet, const Address& to, uint16_t protocol, int way)
{
    Ipv4Header header;
    packet->RemoveHeader(header);
    Ptr<Parcel> parcel = Create<Parcel>(packet, to, protocol, header, m_input.linkOverhead);
    parcel->flow = m_number;
    parcel->way = way;
    parcel->host = (way == 0 ? m_receiver : m_sender).Number();
    parcel->sent = NowNanos();
    if (way == 0)
    {
        m_counters.wireBytes += parcel->GetSize();
    }
    else
    {
        parcel->oneWayDelay = m_dataDelay;
    }
    m_network.Send(parcel);
}

void
Flow::Deliver(Ptr<Parcel> parcel)
{
    if (parcel->way == 0)
    {
        m_dataDelay = NowNanos() - parcel->sent;
        m_counters.marked += parcel->GetHeader().GetEcn() == Ipv4Header::ECN_CE;
    }
    else
    {
        m_ackedDelay = parcel->oneWayDelay;
    }
    (parcel->way == 0 ? m_receiver : m_sender).Receive(parcel->Whole());
}

void
Flow::Lose(Ptr<Parcel> parcel)
{
    TcpHeader header;
    parcel->GetPacket()->PeekHeader(header);
    m_counters.lost += parcel->way == 0 && parcel->GetPacket()->GetSize() > header.GetSerializedSize();
}

Mark
Flow::At(int64_t time) const
{
    Mark mark = Traffic::At(time);
    mark.refused = m_writer.Refused();
    return mark;
}

void
Flow::Describe(FlowSample& sample)
{
    static const char* const STATES[] = {"open", "disorder", "cwr", "recovery", "loss"};
    const TcpSocketState& state = Inside::State(*m_socket);
    const uint32_t inFlight = m_socket->GetTxBuffer()->BytesInFlight();
    sample.cwnd = state.m_cWnd.Get();
    sample.inFlight = inFlight;
#if FULLPIPE_NS3_MINOR >= 43
    const Time smoothed = state.m_srtt.Get();
#else
    const Time smoothed = state.m_lastRtt.Get(); // this variable has the smoothed RTT, although it is named m_lastRtt
#endif
    if (smoothed.IsStrictlyPositive())
    {
        sample.srtt = smoothed.GetSeconds();
    }
    if (state.m_minRtt != Time::Max())
    {
        sample.minRtt = state.m_minRtt.GetSeconds();
    }
    if (state.m_pacing)
    {
        sample.pacing = static_cast<double>(state.m_pacingRate.Get().GetBitRate());
    }
    sample.delivery = m_deliveryRate;
    sample.state = m_phase == OVER && inFlight == 0 ? "done" : STATES[state.m_congState.Get()];
}

} // namespace fullpipe
