#include "network.h"

#include "ns3/simulator.h"

using namespace ns3;

namespace fullpipe
{

Network::Network(const Input& input, std::vector<std::unique_ptr<Cell>>& cells, Deliver deliver, const Deliver& lose)
    : m_deliver(std::move(deliver)),
      m_routes(2 * input.flows.size())
{
    const auto forward = [this](size_t hop) {
        return [this, hop](Ptr<Parcel> parcel) { Forward(static_cast<uint32_t>(hop), parcel); };
    };
    for (const LinkInput& link : input.links)
    {
        m_hops.push_back(std::make_unique<Wire>(link, input.seed, forward(m_hops.size()), lose));
    }
    for (auto& cell : cells)
    {
        for (uint32_t port = 0; port < cell->Ports(); port++)
        {
            m_hops.push_back(cell->MakePort(port, forward(m_hops.size()), lose));
        }
    }
    for (size_t flow = 0; flow < input.flows.size(); flow++)
    {
        for (int way : {0, 1})
        {
            Lay(m_routes[2 * flow + way], input.flows[flow].path[way]);
        }
        for (const RerouteInput& reroute : input.flows[flow].reroutes)
        {
            Route& route = m_routes[2 * flow + reroute.way];
            Simulator::Schedule(NanoSeconds(reroute.at), [&route, path = reroute.path]() { Lay(route, path); });
        }
    }
}

// Set the hops of a route. Packets that have already passed the fork of the old and the new route stay on the old
// route. Next hops of the old route are therefore not removed.
void
Network::Lay(Route& route, const std::vector<uint32_t>& path)
{
    route.entry = path.front();
    for (size_t i = 0; i < path.size(); i++)
    {
        const int64_t next = i + 1 < path.size() ? static_cast<int64_t>(path[i + 1]) : -1;
        auto known = route.next.begin();
        while (known != route.next.end() && known->first != path[i])
        {
            ++known;
        }
        if (known == route.next.end())
        {
            route.next.emplace_back(path[i], next);
        }
        else
        {
            known->second = next;
        }
    }
}

void
Network::Send(Ptr<Parcel> parcel)
{
    m_hops[m_routes[2 * parcel->flow + parcel->way].entry]->Send(parcel);
}

void
Network::Forward(uint32_t hop, Ptr<Parcel> parcel)
{
    for (const auto& [after, next] : m_routes[2 * parcel->flow + parcel->way].next)
    {
        if (after == hop)
        {
            return next < 0 ? m_deliver(parcel) : m_hops[static_cast<size_t>(next)]->Send(parcel);
        }
    }
}

} // namespace fullpipe
