// A medium with ports. Cells are compiled only into programs for scenarios with cells.
#pragma once

#include "hop.h"
#include "input.h"

#include <memory>
#include <vector>

namespace fullpipe
{

class Cell
{
  public:
    virtual ~Cell() = default;

    // Whether every station has joined the cell.
    virtual bool IsReady() const = 0;

    // Begin the run.
    virtual void Begin() = 0;

    // Create the port with index `number` in the cell. `deliver` is called with packets that have reached the far end.
    virtual std::unique_ptr<Hop> MakePort(uint32_t number, Deliver deliver, const Deliver& lose) = 0;

    virtual uint32_t Ports() const = 0;
};

std::unique_ptr<Cell> MakeWifi(const CellInput& input, uint64_t seed);
std::unique_ptr<Cell> MakeLte(const CellInput& input);

// Create all cells of an input, with all stations joined.
std::vector<std::unique_ptr<Cell>> MakeCells(const Input& input);

} // namespace fullpipe
