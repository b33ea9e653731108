// The clock of a run: nanoseconds since the beginning of the run. This clock equals ns-3's clock unless cells had to be
// set up before the run.
#pragma once

#include "ns3/simulator.h"

#include <cstdint>

namespace fullpipe
{

inline int64_t&
Beginning()
{
    static int64_t nanos = 0;
    return nanos;
}

inline int64_t
NowNanos()
{
    return ns3::Simulator::Now().GetNanoSeconds() - Beginning();
}

} // namespace fullpipe
