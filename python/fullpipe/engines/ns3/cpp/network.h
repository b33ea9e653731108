// Wires and ports of cells, and the routes of packets through them: one route per flow and direction.
#pragma once

#include "cell.h"
#include "input.h"
#include "wire.h"

#include <functional>
#include <memory>
#include <vector>

namespace fullpipe
{

class Network
{
  public:
    // `deliver` is called with packets at the end of their route, `lose` with packets that are dropped or lost.
    Network(const Input& input, std::vector<std::unique_ptr<Cell>>& cells, Deliver deliver, const Deliver& lose);

    void Send(ns3::Ptr<Parcel> parcel);

    std::vector<std::unique_ptr<Hop>>& Hops()
    {
        return m_hops;
    }

  private:
    struct Route
    {
        uint32_t entry = 0;
        std::vector<std::pair<uint32_t, int64_t>> next; // hop and its next hop; -1: end of the route
    };

    static void Lay(Route& route, const std::vector<uint32_t>& path);
    void Forward(uint32_t hop, ns3::Ptr<Parcel> parcel);

    Deliver m_deliver;
    std::vector<std::unique_ptr<Hop>> m_hops;
    std::vector<Route> m_routes; // flow n: 2 n for data, 2 n + 1 for acknowledgements
};

} // namespace fullpipe
