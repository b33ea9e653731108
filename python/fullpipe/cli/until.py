"""Summary of the seeds that `fullpipe run --until` used."""

from collections.abc import Iterator

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.over_seeds import are_equal_over_seeds
from fullpipe.analysis.precision import SHARE, Known
from fullpipe.cli.answer import difference_unit_shown, point_shown, widths_shown
from fullpipe.cli.output import complain
from fullpipe.sweeps import Enough

_MOST_LINES = 5


def tell(found: Enough) -> None:
    """Say how many seeds there are and why no more, on standard error."""
    for line in _lines(found):
        complain(line)


def _lines(found: Enough) -> Iterator[str]:
    if not found.known:
        return
    asked = ", ".join(
        dict.fromkeys(f"{each.target.metric} ±{100 * each.target.relative:g} %" for each in found.known)
    )
    runs = [(outcome.job.point, outcome.run) for outcome in found.outcomes]
    if found.is_alike and are_equal_over_seeds(runs):
        yield f"stopped at {found.seeds} seeds, which gave the same run"
    elif found.is_alike:
        yield f"stopped at {found.seeds} seeds, which do not change {asked}"
    elif found.is_precise:
        yield f"stopped at {found.seeds} seeds: {asked} in every group at every point, at two looks in a row"
    else:
        yield f"stopped at {found.seeds} seeds, as many as were allowed (--max-seeds), before {asked}:"
        wide = [each for each in found.known if not each.is_precise]
        yield from map(_wide, wide[:_MOST_LINES])
        if len(wide) > _MOST_LINES:
            yield f"  and {len(wide) - _MOST_LINES} more"


def _wide(found: Known) -> str:
    metric, unit = found.target.metric, BY_NAME[found.target.metric].unit
    point = {path: value for path, value in found.point.items() if path != "engine"}
    name = ", ".join([f"{metric} of {found.of}", *point_shown(point)])
    if found.modes:
        share = 100 * found.modes.low.share.half_width
        return f"  {name}: two modes, whose probability is known to ±{share:.0f} points, not ±{100 * SHARE:g}"
    half, allowed = widths_shown((found.interval.half_width, found.allowed), unit, metric)
    width = f"±{half} {difference_unit_shown(unit, metric)}".rstrip()
    return f"  {name}: {width}, not ±{allowed}"
