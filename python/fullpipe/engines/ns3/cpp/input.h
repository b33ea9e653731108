// The input of the program, as program_input.py writes it: lines of words. Names are last in a line because they may
// contain spaces.
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
    int64_t rate = -1;  // bit/s; -1: unchanged, 0: outage
    int64_t delay = -1; // ns; -1: unchanged
    bool changesLoss = false;
    LossInput loss;
};

struct QueueInput
{
    std::string type; // ns-3 type
    Attributes attributes;
    uint32_t quantum = 0; // quantum of a fair queue in bytes; 0: no quantum
};

struct LinkInput
{
    std::string name;
    int64_t rate = 0; // bit/s; 0: unlimited
    int64_t delay = 0;
    QueueInput queue;
    uint32_t device = 0;  // packets that the device below the queue holds, without the packet in transmission
    LossInput loss;
    std::vector<ChangeInput> changes;
    int64_t slot = 0;
    uint64_t reorderEvery = 0;
    int64_t reorderExtra = 0, reorderFrom = 0, reorderUntil = NEVER;
    int64_t jitter = 0;
    bool jitterNormal = false, jitterReorders = false;
    int64_t wifiJitter = 0; // target of the mean; 0: none
    std::vector<int64_t> delays; // recorded delays in ascending order
    bool interpolates = false, delaysReorder = false;
};

struct PortInput
{
    std::string name;
    QueueInput queue;           // with an empty type: first in, first out
    uint64_t packets = 0, bytes = 0; // limits of a queue with an empty type; 0: no limit
};

struct StationInput
{
    int mcs = -1; // -1: rate control "ideal", -2: Minstrel
    uint32_t streams = 1;
    double errors = 0; // probability that a data frame is lost
    double snr = -1000; // dB; -1000: noise causes no errors
};

// A cell. Port 2 k leads to station k, and port 2 k + 1 leads from it.
struct CellInput
{
    std::string name;
    // LTE
    uint32_t resourceBlocks = 0; // 0: a Wi-Fi cell
    uint32_t users = 0;
    bool fair = false;         // proportional fairness; otherwise round robin
    bool acknowledged = false; // acknowledged mode of RLC
    // Wi-Fi
    std::string standard; // 80211n, 80211ac or 80211ax
    bool low = false;     // whether the band is 2.4 GHz
    uint32_t width = 20;  // MHz
    uint32_t streams = 1;
    uint32_t guard = 800; // ns
    bool rts = false, beacons = true, bar = false;
    uint32_t ampduBytes = 0, ampduFrames = 0;
    uint32_t retries = 0; // 0: unlimited
    int64_t delay = 0;
    std::vector<StationInput> stations;
    std::vector<PortInput> ports;
};

struct PaceInput
{
    int64_t at = 0;
    int64_t rate = -1; // bit/s; -1: unlimited
};

// An application that writes at a constant rate.
struct WritesInput
{
    int64_t interval = 0; // ns; 0: no such application
    uint32_t bytes = 0;
    bool drops = false; // whether data that the socket refuses is discarded; otherwise the application waits
};

// Datagrams at a constant interval, instead of a connection.
struct DatagramsInput
{
    int64_t interval = 0; // ns; 0: no datagrams
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
    std::string stream;   // name of the stream of random numbers
    std::string kind;     // kind of the flow, as in the tables
    std::string algorithm; // ns-3 type, or "own"
    std::string ownName, ownParameters;
    Attributes algorithmAttributes;
    std::string recovery; // ns-3 type
    Attributes socketAttributes;
    int64_t start = 0, jitter = 0, stop = NEVER;
    uint64_t bytes = UINT64_MAX;
    std::vector<PaceInput> paces;
    WritesInput writes;
    DatagramsInput datagrams;
    std::vector<uint32_t> path[2]; // for data and for acknowledgements
    std::vector<RerouteInput> reroutes;
    uint32_t mss = 1448;
    uint32_t linkOverhead = 14;
    uint32_t initialWindow = 10;
    uint8_t tos = 0;
    bool bufferLimits = false; // whether the send buffer is meant to limit the flow
    bool alwaysPaced = false;
};

struct Input
{
    uint64_t seed = 1;
    int64_t duration = 0, warmup = 0, interval = 0;
    bool variables = false;
    std::vector<LinkInput> links;
    std::vector<CellInput> cells; // port indices of cells follow the indices of the links
    std::vector<FlowInput> flows;
};

// Throws std::runtime_error with the line that cannot be parsed.
Input ReadInput(const std::string& path);

} // namespace fullpipe
