// An application that writes at a constant rate into a socket whose buffer may be full, as natively.
#pragma once

#include "input.h"

#include "ns3/event-id.h"

#include <functional>

namespace fullpipe
{

class Writer
{
  public:
    // `send` hands so many bytes to the socket, and says whether it took them.
    Writer(const WritesInput& input, std::function<bool(uint32_t)> send);

    bool Exists() const
    {
        return m_input.interval > 0;
    }

    void Start();
    void Stop();

    // The socket has room: what waited for it is written, and the pace goes on from now.
    void Wake();

    uint64_t Refused() const
    {
        return m_refused;
    }

  private:
    void Write();

    WritesInput m_input;
    std::function<bool(uint32_t)> m_send;
    bool m_blocked = false;
    uint64_t m_refused = 0; // bytes
    ns3::EventId m_next;
};

} // namespace fullpipe
