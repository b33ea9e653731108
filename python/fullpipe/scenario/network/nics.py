"""The network interfaces of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullpipe.scenario.network.parts import Link, unused

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from fullpipe.scenario.model.topology import Host


def nics_of(hosts: Iterable[Host], taken: Container[str]) -> dict[str, Link]:
    """Return the NIC of every host that has one, by host. A NIC is a link without delay, from the host to an
    additional node. All other links of the host begin at this node.

    Args:
        hosts: The hosts of the scenario.
        taken: Names that are not available for the node behind a NIC.
    """
    return {host.name: _nic(f"hosts[{i}].nic", host, taken) for i, host in enumerate(hosts) if host.nic}


def _nic(where: str, host: Host, taken: Container[str]) -> Link:
    assert host.nic is not None
    name = f"{host.name}-nic"
    rate_bps, queue = host.nic.rate_bps, host.nic.queue
    return Link(name, host.name, unused(name, taken), rate_bps, 0.0, queue, None, where, nic_of=host.name)
