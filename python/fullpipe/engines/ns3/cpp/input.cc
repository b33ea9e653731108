#include "input.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fullpipe
{

namespace
{

std::string
Rest(std::istream& words)
{
    std::string text;
    std::getline(words >> std::ws, text);
    return text;
}

LossInput
ReadLoss(std::istream& words)
{
    LossInput loss;
    std::string kind;
    words >> kind;
    if (kind == "bernoulli")
    {
        loss.kind = LossInput::BERNOULLI;
        words >> loss.probability;
    }
    else if (kind == "periodic")
    {
        loss.kind = LossInput::PERIODIC;
        words >> loss.every;
    }
    else if (kind == "gilbert_elliott")
    {
        loss.kind = LossInput::GILBERT_ELLIOTT;
        words >> loss.worsens >> loss.improves >> loss.good >> loss.bad;
    }
    else
    {
        words.setstate(std::ios::failbit);
    }
    loss.stream = Rest(words);
    return loss;
}

std::vector<uint32_t>
ReadPath(std::istream& words)
{
    std::vector<uint32_t> path;
    for (uint32_t link; words >> link;)
    {
        path.push_back(link);
    }
    words.clear(path.empty() ? std::ios::failbit : std::ios::goodbit);
    return path;
}

void
ReadAttribute(std::istream& words, Attributes& attributes)
{
    std::string name;
    words >> name;
    attributes.emplace_back(name, Rest(words));
}

void
ReadLinkLine(LinkInput& link, const std::string& key, std::istream& words)
{
    if (key == "wire")
    {
        words >> link.rate >> link.delay >> link.slot;
    }
    else if (key == "queue")
    {
        words >> link.queue.type >> link.queue.quantum;
    }
    else if (key == "device")
    {
        words >> link.device;
    }
    else if (key == "queue_attribute")
    {
        ReadAttribute(words, link.queue.attributes);
    }
    else if (key == "loss")
    {
        link.loss = ReadLoss(words);
    }
    else if (key == "change")
    {
        ChangeInput& change = link.changes.emplace_back();
        words >> change.at >> change.rate >> change.delay;
    }
    else if (key == "change_loss" && !link.changes.empty())
    {
        link.changes.back().changesLoss = true;
        link.changes.back().loss = ReadLoss(words);
    }
    else if (key == "detour")
    {
        words >> link.reorderEvery >> link.reorderExtra >> link.reorderFrom >> link.reorderUntil;
    }
    else if (key == "jitter")
    {
        words >> link.jitter >> link.jitterNormal >> link.jitterReorders;
    }
    else if (key == "wifi_jitter")
    {
        words >> link.wifiJitter;
    }
    else if (key == "recorded_jitter")
    {
        size_t count = 0;
        words >> link.interpolates >> link.delaysReorder >> count;
        link.delays.resize(count);
        for (int64_t& delay : link.delays)
        {
            words >> delay;
        }
    }
    else
    {
        words.setstate(std::ios::failbit);
    }
}

void
ReadCellLine(CellInput& cell, const std::string& key, std::istream& words)
{
    if (key == "lte")
    {
        words >> cell.resourceBlocks >> cell.users >> cell.fair >> cell.acknowledged >> cell.delay;
    }
    else if (key == "radio")
    {
        words >> cell.standard >> cell.low >> cell.width >> cell.streams >> cell.guard;
    }
    else if (key == "access")
    {
        words >> cell.rts >> cell.beacons >> cell.bar >> cell.retries >> cell.delay;
    }
    else if (key == "aggregate")
    {
        words >> cell.ampduBytes >> cell.ampduFrames;
    }
    else if (key == "station")
    {
        StationInput& station = cell.stations.emplace_back();
        words >> station.mcs >> station.streams >> station.errors >> station.snr;
    }
    else if (key == "port")
    {
        cell.ports.emplace_back().name = Rest(words);
    }
    else if (key == "fifo" && !cell.ports.empty())
    {
        words >> cell.ports.back().packets >> cell.ports.back().bytes;
    }
    else if (key == "queue" && !cell.ports.empty())
    {
        words >> cell.ports.back().queue.type >> cell.ports.back().queue.quantum;
    }
    else if (key == "queue_attribute" && !cell.ports.empty())
    {
        ReadAttribute(words, cell.ports.back().queue.attributes);
    }
    else
    {
        words.setstate(std::ios::failbit);
    }
}

void
ReadFlowLine(FlowInput& flow, const std::string& key, std::istream& words)
{
    if (key == "stream")
    {
        flow.stream = Rest(words);
    }
    else if (key == "kind")
    {
        flow.kind = Rest(words);
    }
    else if (key == "algorithm")
    {
        words >> flow.algorithm;
    }
    else if (key == "own")
    {
        flow.algorithm = "own";
        words >> flow.ownName;
        flow.ownParameters = Rest(words);
    }
    else if (key == "algorithm_attribute")
    {
        ReadAttribute(words, flow.algorithmAttributes);
    }
    else if (key == "socket_attribute")
    {
        ReadAttribute(words, flow.socketAttributes);
    }
    else if (key == "recovery")
    {
        words >> flow.recovery;
    }
    else if (key == "time")
    {
        words >> flow.start >> flow.jitter >> flow.stop;
    }
    else if (key == "data")
    {
        words >> flow.bytes >> flow.bufferLimits;
    }
    else if (key == "segment")
    {
        uint32_t tos = 0;
        words >> flow.mss >> flow.linkOverhead >> flow.initialWindow >> tos >> flow.alwaysPaced;
        flow.tos = static_cast<uint8_t>(tos);
    }
    else if (key == "pace")
    {
        PaceInput& pace = flow.paces.emplace_back();
        words >> pace.at >> pace.rate;
    }
    else if (key == "writes")
    {
        words >> flow.writes.interval >> flow.writes.bytes >> flow.writes.drops;
    }
    else if (key == "datagrams")
    {
        words >> flow.datagrams.interval >> flow.datagrams.bytes;
    }
    else if (key == "forward" || key == "reverse")
    {
        flow.path[key == "reverse"] = ReadPath(words);
    }
    else if (key == "reroute")
    {
        RerouteInput& reroute = flow.reroutes.emplace_back();
        words >> reroute.at >> reroute.way;
        reroute.path = ReadPath(words);
    }
    else
    {
        words.setstate(std::ios::failbit);
    }
}

void
ReadLine(Input& input, const std::string& line, std::string& in)
{
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "run")
    {
        words >> input.seed >> input.duration >> input.warmup >> input.interval >> input.variables;
    }
    else if (key == "link")
    {
        input.links.emplace_back().name = Rest(words);
        in = key;
    }
    else if (key == "cell")
    {
        input.cells.emplace_back().name = Rest(words);
        in = key;
    }
    else if (key == "flow")
    {
        input.flows.emplace_back().name = Rest(words);
        in = key;
    }
    else if (in == "link")
    {
        ReadLinkLine(input.links.back(), key, words);
    }
    else if (in == "cell")
    {
        ReadCellLine(input.cells.back(), key, words);
    }
    else if (in == "flow")
    {
        ReadFlowLine(input.flows.back(), key, words);
    }
    else
    {
        words.setstate(std::ios::failbit);
    }
    if (words.fail())
    {
        throw std::runtime_error("cannot read the line: " + line);
    }
}

} // namespace

Input
ReadInput(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
    {
        throw std::runtime_error("cannot open " + path);
    }
    Input input;
    std::string in; // kind of input that the current lines describe
    for (std::string line; std::getline(file, line);)
    {
        ReadLine(input, line, in);
    }
    return input;
}

} // namespace fullpipe
