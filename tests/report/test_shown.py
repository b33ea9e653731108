"""What numbers, differences and lines look like in every report."""

import pytest

from fullpipe.analysis.shown import difference_shown
from fullpipe.analysis.statistics.intervals import Interval
from fullpipe.palette import COLOURS, shaded, shaded_on_dark
from fullpipe.report.svg.marks import of_flows


@pytest.mark.parametrize(
    ("difference", "interval", "reference", "unit", "metric", "shown"),
    [
        (-9.0, Interval(-12.0, -6.0, 0.95, "t"), 10.0, "bit/s", "goodput", "-90.0 % [-100, -60.0]"),
        (0.5, Interval(0.4, 0.6, 0.95, "t"), 3.8, "1", "call_score", "+0.5 [+0.4, +0.6]"),
        (-0.1, None, 0.9, "1", "utilisation", "-10.0 pp"),
        (-2e6, None, 0.0, "bit/s", "goodput", "-2.00"),
        (0.0, None, 0.0, "bit/s", "goodput", "0"),
        (0.02, Interval(-0.05, 0.09, 0.95, "t"), 0.95, "1", "jain", "+0.020 [-0.050, +0.050]"),
        (0.0011, Interval(0.0008, 0.0015, 0.95, "t"), 0.0005, "1", "loss_rate", "+0.11 pp [+0.08, +0.15]"),
        (-0.5, Interval(-2.5, 1.5, 0.95, "t"), 2.0, "1", "call_score", "-0.5 [-1.0, +1.5]"),
        (-0.1, Interval(-0.3, 0.1, 0.95, "t"), 1.0, "1", "utilisation", "-10.0 pp [-30.0, 0]"),
        (1e2, Interval(-3e2, 5e3, 0.95, "t"), 1e7, "bit/s", "goodput", "0.0 % [0.0, +0.1]"),
        (0.06, Interval(0.052, 0.068, 0.95, "t"), 4.3, "1", "call_score", "+0.06 [+0.05, +0.07]"),
    ],
)
def test_a_difference_is_a_share_unless_its_metric_is_one(
    difference: float, interval: Interval | None, reference: float, unit: str, metric: str, shown: str
) -> None:
    ends = (interval.low / reference, interval.high / reference) if interval else (0.0, 0.0)
    relative = Interval(*ends, 0.95, "Fieller") if interval else None
    assert difference_shown(difference, interval, reference, unit, metric, None, relative) == shown


def test_a_share_has_the_interval_of_a_ratio() -> None:
    of = 5e6, Interval(3e6, 7e6, 0.95, "t"), 10e6, "bit/s", "goodput", None
    relative = Interval(0.2, 0.9, 0.95, "Fieller")
    assert difference_shown(*of, relative, has_unit=True) == "+50.0 % [+20.0, +90.0]"
    assert difference_shown(*of, None, has_unit=True) == "+5.00 Mbit/s [+3.00, +7.00]"


def test_calls_look_alike_whatever_flows_are_beside_them() -> None:
    beside = [of_flows([cca, None])[1] for cca in ("cubic", "bbr1", "bbr3", "reno")]
    assert beside == [beside[0]] * 4
    assert len(set(map(str, of_flows(["cubic", None, None])))) == 3


def test_flows_of_one_algorithm_differ_in_shade_and_dashes() -> None:
    looks = of_flows(["cubic"] * 3)
    assert len({look.colour for look in looks}) == len({look.dash for look in looks}) == 3
    for shades in (shaded(COLOURS), shaded_on_dark(COLOURS)):
        assert len(set(shades)) == len(shades) - shades.count(COLOURS[-1]) + 1
        assert shades[: len(COLOURS)] == list(COLOURS)
