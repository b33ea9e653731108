#include "cell.h"

#include "clock.h"

#include <algorithm>
#include <stdexcept>

using namespace ns3;

namespace fullpipe
{

namespace
{

constexpr int64_t SET_UP_STEP_MS = 10, SET_UP_MOST_S = 300;

} // namespace

std::vector<std::unique_ptr<Cell>>
MakeCells(const Input& input)
{
    std::vector<std::unique_ptr<Cell>> cells;
    for (const CellInput& cell : input.cells)
    {
#ifdef FULLPIPE_LTE
        if (cell.resourceBlocks)
        {
            cells.push_back(MakeLte(cell));
        }
#endif
#ifdef FULLPIPE_WIFI
        if (!cell.resourceBlocks)
        {
            cells.push_back(MakeWifi(cell, input.seed));
        }
#endif
    }
    const auto ready = [](const std::unique_ptr<Cell>& cell) { return cell->IsReady(); };
    while (!std::all_of(cells.begin(), cells.end(), ready))
    {
        if (Simulator::Now() > Seconds(SET_UP_MOST_S))
        {
            throw std::runtime_error("some stations cannot join their cell; raise their snr");
        }
        Simulator::Stop(MilliSeconds(SET_UP_STEP_MS));
        Simulator::Run();
    }
    Beginning() = Simulator::Now().GetNanoSeconds();
    for (auto& cell : cells)
    {
        cell->Begin();
    }
    return cells;
}

} // namespace fullpipe
