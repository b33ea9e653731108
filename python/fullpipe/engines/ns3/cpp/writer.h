// An application that writes at a constant rate to a socket whose buffer may be full, as in the native engine.
#pragma once

#include "input.h"

#include "ns3/event-id.h"

#include <functional>

namespace fullpipe
{

class Writer
{
  public:
    // `send` writes a number of bytes to the socket, and returns whether the socket accepted them.
    Writer(const WritesInput& input, std::function<bool(uint32_t)> send);

    bool Exists() const
    {
        return m_input.interval > 0;
    }

    void Start();
    void Stop();

    // Called when the socket has room. Write the waiting data, and continue to write at the constant rate.
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
