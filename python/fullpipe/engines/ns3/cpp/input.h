// The input of the program, as program_input.py writes it: lines of words, the names last because they may hold spaces.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fullpipe
{

constexpr int64_t NEVER = INT64_MAX;

// Name and value of an attribute of ns-3.
using Attributes = std::vector<std::pair<std::string, std::string>>;

struct LossInput
{
    enum Kind
    {
        NONE,
        BERNOULLI,
        PERIODIC,
        GILBERT_ELLIOTT
    } kind = NONE;

    double probability = 0;
    uint64_t every = 0;
    double worsens = 0, improves = 0, good = 0, bad = 0;
    std::string stream;
};

struct ChangeInput
{
    int64_t at = 0;
    int64_t rate = -1;  // bit/s; -1: as before, 0: nothing is sent
    int64_t delay = -1; // ns; -1: as before
    bool changesLoss = false;
    LossInput loss;
};

struct QueueInput
{
    std::string type; // of ns-3
    Attributes attributes;
    uint32_t quantum = 0; // of a fair queue; 0: it has none
};

struct LinkInput
{
    std::string name;
    int64_t rate = 0; // bit/s; 0: unlimited
    int64_t delay = 0;
    QueueInput queue;
    uint32_t device = 0;  // packets that the device below the queue holds, besides the one being sent
    LossInput loss;
    std::vector<ChangeInput> changes;
    int64_t slot = 0;
    uint64_t reorderEvery = 0;
    int64_t reorderExtra = 0, reorderFrom = 0, reorderUntil = NEVER;
    int64_t jitter = 0;
    bool jitterNormal = false, jitterReorders = false;
};

struct PortInput
{
    std::string name;
    QueueInput queue;           // with an empty type: first in, first out
    uint64_t packets = 0, bytes = 0; // of the latter at most; 0: any number
};

struct StationInput
{
    int mcs = -1; // -1: ideal rates, -2: those of Minstrel
    uint32_t streams = 1;
    double errors = 0; // probability that a data frame is lost
    double snr = -1000; // dB; -1000: noise takes nothing
};

// A cell. Of station k, port 2 k leads to it and port 2 k + 1 from it.
struct CellInput
{
    std::string name;
    // LTE
    uint32_t resourceBlocks = 0; // 0: it is one of Wi-Fi
    uint32_t users = 0;
    bool fair = false;         // proportionally; else in turn
    bool acknowledged = false; // by RLC
    // Wi-Fi
    std::string standard; // 80211n, 80211ac or 80211ax
    bool low = false;     // in the band of 2.4 GHz
    uint32_t width = 20;  // MHz
    uint32_t streams = 1;
    uint32_t guard = 800; // ns
    bool rts = false, beacons = true, bar = false;
    uint32_t ampduBytes = 0, ampduFrames = 0;
    uint32_t retries = 0; // 0: without limit
    int64_t delay = 0;
    std::vector<StationInput> stations;
    std::vector<PortInput> ports;
};

struct PaceInput
{
    int64_t at = 0;
    int64_t rate = -1; // bit/s; -1: without limit
};

// An application that writes at a constant rate.
struct WritesInput
{
    int64_t interval = 0; // ns; 0: there is none
    uint32_t bytes = 0;
    bool drops = false; // what the socket refuses
};

// Datagrams at a constant distance, in place of a connection.
struct DatagramsInput
{
    int64_t interval = 0; // ns; 0: there are none
    uint32_t bytes = 0;
};

struct RerouteInput
{
    int64_t at = 0;
    int way = 0; // 0: data, 1: acknowledgements
    std::vector<uint32_t> path;
};

struct FlowInput
{
    std::string name;
    std::string stream;   // of its random numbers
    std::string kind;     // as the tables have it
    std::string algorithm; // a type of ns-3, or "own"
    std::string ownName, ownParameters;
    Attributes algorithmAttributes;
    std::string recovery; // a type of ns-3
    Attributes socketAttributes;
    int64_t start = 0, jitter = 0, stop = NEVER;
    uint64_t bytes = UINT64_MAX;
    std::vector<PaceInput> paces;
    WritesInput writes;
    DatagramsInput datagrams;
    std::vector<uint32_t> path[2]; // of data and of acknowledgements
    std::vector<RerouteInput> reroutes;
    uint32_t mss = 1448;
    uint32_t linkOverhead = 14;
    uint32_t initialWindow = 10;
    uint8_t tos = 0;
    bool bufferLimits = false; // the send buffer is meant to limit
    bool alwaysPaced = false;
};

struct Input
{
    uint64_t seed = 1;
    int64_t duration = 0, warmup = 0, interval = 0;
    bool variables = false;
    std::vector<LinkInput> links;
    std::vector<CellInput> cells; // whose ports are numbered behind the links
    std::vector<FlowInput> flows;
};

// Throws std::runtime_error with the line that cannot be read.
Input ReadInput(const std::string& path);

} // namespace fullpipe
