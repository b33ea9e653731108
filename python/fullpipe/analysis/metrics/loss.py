"""Loss: packets dropped, marked lost, retransmitted and marked. All functions take the tables of a run."""

from __future__ import annotations

from fullpipe.lazy import pl


def dropped_share(flows: pl.DataFrame) -> float | None:
    """Data packets that the network dropped, over all sent; None if an engine does not count them.

    Formula: min(Σ dropped_i / Σ sent_i, 1). Drops after the end of a flow and of copies count, too.
    Source: RFC 5166, section 2.1, packet loss rates, at the network.
    """
    found = _share(flows, "dropped_packets")
    return None if found is None else min(found, 1.0)


def retransmission_rate(flows: pl.DataFrame) -> float | None:
    """Data packets retransmitted, over all data packets sent, of all flows together; None if none was sent.

    Formula: Σ retransmitted_i / Σ sent_i.
    Source: RFC 6349, section 4.2, TCP efficiency, of which this is the complement, in packets, not bytes.
    """
    return _share(flows, "retransmitted_packets")


def loss_rate(flows: pl.DataFrame) -> float | None:
    """Data packets that senders marked lost, over all sent; packets marked lost in error count.

    Formula: Σ lost_i / Σ sent_i.
    Source: RFC 5166, section 2.1, packet loss rates, as the sender sees them.
    """
    return _share(flows, "lost_packets")


def marking_rate(flows: pl.DataFrame) -> float | None:
    """Data packets that arrived with a congestion mark, over all sent.

    Formula: Σ marked_i / Σ sent_i.
    Source: RFC 8257, section 3.3, the fraction that DCTCP estimates, over the whole run.
    """
    return _share(flows, "marked_packets")


def drop_rate(links_summary: pl.DataFrame, link: str = "bottleneck") -> float | None:
    """Packets that a link dropped, in its queue or on the wire, over all that arrived there, ACKs included.

    None if nothing arrived, or an engine does not count drops.

    Formula: dropped / (dropped + forwarded). Packets that still wait at the end are left out.
    Source: RFC 5166, section 2.1, packet loss rates, at the router.

    Raises:
        KeyError: If there is no such link.
    """
    rows = links_summary.filter(pl.col("link") == link)
    if rows.is_empty():
        raise KeyError(link)
    dropped, forwarded = rows["dropped_packets"][0], rows["forwarded_packets"][0]
    if dropped is None or forwarded is None:
        return None
    return int(dropped) / int(dropped + forwarded) if dropped + forwarded else None


def _share(flows: pl.DataFrame, column: str) -> float | None:
    """Return a count over all packets sent; None if nothing was sent, or a flow that sent has no count."""
    each = zip(flows[column].to_list(), flows["sent_packets"].to_list(), strict=True)
    counts = [(known, sent) for known, sent in each if sent]
    if not counts or any(known is None for known, _ in counts):
        return None
    return float(sum(known for known, _ in counts) / sum(sent for _, sent in counts))
