// The amount of data that an application has offered up to now, as in the native engine: all data at the start, or
// packet by packet at rates that change.
#pragma once

#include "input.h"

#include "ns3/event-id.h"

#include <functional>

namespace fullpipe
{

class Application
{
  public:
    // `sent` returns the bytes sent so far, without retransmissions. `wake` is called when there is more data to send.
    Application(const FlowInput& input, std::function<uint64_t()> sent, std::function<void()> wake);

    // Bytes offered so far; UINT64_MAX: unlimited.
    uint64_t Offered() const;

    // Stop offering data: reduce the offered bytes to `sent`.
    void Stop(uint64_t sent);

  private:
    void ChangePace(int64_t rate);
    void Write();

    uint64_t m_bytes;
    uint32_t m_mss;
    std::function<uint64_t()> m_sent;
    std::function<void()> m_wake;
    uint64_t m_offered = UINT64_MAX;
    int64_t m_interval = 0;
    ns3::EventId m_next;
};

} // namespace fullpipe
