// A medium with ports. Only the programs for scenarios with cells have them.
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

    // Whether every station has joined.
    virtual bool IsReady() const = 0;

    // The run begins.
    virtual void Begin() = 0;

    // A port, by its number in the cell. `deliver` is called with what has reached the far end.
    virtual std::unique_ptr<Hop> MakePort(uint32_t number, Deliver deliver, const Deliver& lose) = 0;

    virtual uint32_t Ports() const = 0;
};

std::unique_ptr<Cell> MakeWifi(const CellInput& input, uint64_t seed);
std::unique_ptr<Cell> MakeLte(const CellInput& input);

// All cells of an input, with their stations joined.
std::vector<std::unique_ptr<Cell>> MakeCells(const Input& input);

} // namespace fullpipe
