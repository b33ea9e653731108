"""Figures of variables: those of algorithms with their states, and those of the ports of a cell."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb
from textwrap import fill
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from fullpipe.analysis.metrics import states
from fullpipe.analysis.over_time import QUANTITIES, Tables, goodput_window_s
from fullpipe.plots.links import draw_capacities, mark_events, note_bursts
from fullpipe.plots.series import (
    algorithms,
    dots_of,
    last_sample_s,
    line_names,
    restyle,
    time_series,
    with_algorithm,
)
from fullpipe.plots.style import (
    SMALL,
    asked_window_s,
    figure_of,
    in_house_style,
    legend_columns,
    new_figure,
    note_below,
    shared_legend,
    time_ends,
    within,
)

# Colours and hatches of states: light, so that lines stay readable on them, and the same in every figure.
# Hatches distinguish states in print, and for readers with colour vision deficiencies.


_SLOW_START, _STEADY = ("#F5D58F", "////"), ("#EDEFF0", "")
_DRAIN, _PROBE_RTT = ("#85BBDA", "\\\\\\\\"), ("#E6BED5", "xxxx")
_USUAL = {
    "Startup": _SLOW_START,
    "SlowStart": _SLOW_START,
    "STARTUP": _SLOW_START,
    "Drain": _DRAIN,
    "DRAIN": _DRAIN,
    "PROBE_BW": _STEADY,
    "PROBE_RTT": _PROBE_RTT,
    "ProbeBW": _STEADY,
    "ProbeBW:Cruise": _STEADY,
    "Avoidance": _STEADY,
    "ProbeBW:Up": ("#F8F2A6", "++++"),
    "ProbeBW:Down": ("#B1DCF5", "----"),
    "ProbeBW:Refill": ("#EBB085", "||||"),
    "ProbeRTT": _PROBE_RTT,
    "Recovery": ("#C8C8C8", "\\\\"),
}
"""Colours and hatches of the states of registered algorithms. The colours are Okabe and Ito's, mixed with
white. States of different algorithms with the same meaning have the same look."""
_HATCHES = ("//", "xx", "||", "--", "++", "///", "xxx", "\\\\\\", "|||", "---")
"""Hatches of all other states, used in turn. All hatches are lines, because circles would make an SVG
large."""
_HUES = 24
_LIGHT, _STRONG = 0.8, 0.7
_INK = "#777777"
"""Colour of hatches."""


_OF_BBR1 = ("bbr1", "bbq", "da_bbr", "ad_bbr")
"""BBRv1, and the algorithms derived from it."""
_NAMES_OF_BBR1 = {
    "Startup": "STARTUP",
    "Drain": "DRAIN",
    "ProbeBW:Up": "PROBE_BW",
    "ProbeBW:Down": "PROBE_BW",
    "ProbeBW:Cruise": "PROBE_BW",
    "ProbeRTT": "PROBE_RTT",
}
"""Names of states in BBRv1, whose PROBE_BW is one state. The parts of PROBE_BW have names since BBRv2."""


def state_colour(state: str, taken: dict[str, str]) -> str:
    """Return the colour of a state, and store it in `taken`. Two states of one figure never share a colour.

    An unregistered state has a hue computed from the letters of its name, or the next free hue.
    """
    if state not in taken:
        used = set(taken.values())
        first = hashlib.sha256(state.encode()).digest()[0]
        others = (_hue(first + step, ring) for ring in range(8) for step in range(_HUES))
        wanted = [_USUAL[state][0]] if state in _USUAL else []
        free = (colour for colour in (*wanted, *others) if colour not in used)
        taken[state] = next(free, "#ffffff")
    return taken[state]


def _hue(number: int, ring: int) -> str:
    """Return hue `number` of the colour circle. The hues of each further `ring` are slightly darker."""
    return to_hex(hls_to_rgb(number % _HUES / _HUES, _LIGHT - 0.03 * ring, _STRONG))


def state_patch(state: str, taken: dict[str, str], alpha: float = 1.0) -> dict[str, Any]:
    """The fill and the hatch of the band of a state, as arguments of its artist; see `state_colour`."""
    colour = state_colour(state, taken)
    others = [name for name, own in taken.items() if own != _USUAL.get(name, ("", ""))[0]]
    hatch = _HATCHES[others.index(state) % len(_HATCHES)] if state in others else _USUAL[state][1]
    return {"facecolor": to_rgba(colour, alpha), "edgecolor": _INK, "hatch": hatch, "linewidth": 0}


# Internal variables of algorithms and queues over time, with the states of algorithms as bands.


_SCALES = {"bit/s": (1e-6, "Mbit/s"), "s": (1e3, "ms"), "bytes": (1e-3, "kB"), "bool": (1, "0 or 1")}
_NAMES = {
    "bw": "bandwidth estimate",
    "bw_hi": "long-term bandwidth bound",
    "bw_lo": "short-term bandwidth bound",
    "inflight_hi": "long-term in-flight bound",
    "inflight_lo": "short-term in-flight bound",
    "full_bw": "bandwidth in Startup",
    "full_bw_cnt": "rounds of full bandwidth",
    "max_bw": "maximum bandwidth",
    "w_max": "W_max",
    "w_est": "W_est",
    "k": "K",
}
"""Readable names of variables whose names are abbreviations."""
_WORDS = {
    **{word: word.upper() for word in ("bdp", "ecn", "mcs", "nrtt", "phy", "rtt", "snr")},
    "ppdus": "PPDUs",
    "min": "minimum",
    "max": "maximum",
    "std": "deviation",
}
"""Words that replace parts of the names of other variables."""
_LINE = 22
"""Maximum number of letters of a line of an axis label."""
_HALO = [withStroke(linewidth=1.5, foreground="white")]
"""Outline of letters on a hatch."""
_LEAST, _HATCHED = 1.0, 6.0
"""Least width of a drawn band, and least width of a band with a hatch, in points."""
_SHADE = 0.5
"""Opacity of states behind lines."""
_LETTER = 4.3
"""Width of a letter in points."""
_OF_AXES = 0.8
"""Width of the axes, as a share of the width of the figure."""
Actors = Mapping[str, tuple[str, pl.DataFrame, str]]
"""For each flow or link, by its label in the figure: the label of its run, its variables, and its name in the
run."""


@in_house_style
def variables(
    runs: Mapping[str, Tables],
    names: Sequence[str],
    *,
    only: Sequence[str] | None = None,
    warmup_s: float = 0.0,
) -> tuple[Figure, pl.DataFrame]:
    """Draw a panel per variable, with every flow or link of any run that has the variable. A state is drawn
    as a band per flow. States that would be narrower than a point are drawn as the state that lasts longest
    at this point, and a note says so; the table has all states. States of BBRv1 have BBRv1's names. The
    warm-up is shaded.

    With a single flow, its first state variable among `names` also shades the other panels. A name may also
    be that of a quantity, such as "goodput". If a variable and a quantity have the same name, the quantity is
    drawn if a run has no recorded variables. `only` keeps flows and links of these names.

    Returns:
        The figure, and its table: panel, actor (the label of the line), time_s, value, unit, state, run.

    Raises:
        ValueError: If no variable was recorded under a name, or a run has no recorded variables.
    """
    actors = _actors(runs, only)
    known = dict.fromkeys(name for _, frame, _ in actors.values() for name in frame["name"].unique())
    without = [run for run, tables in runs.items() if tables["variables"].is_empty()]
    for name in names:
        if name in QUANTITIES:
            if without:
                known.pop(name, None)
        elif name not in known:
            have = ", ".join(sorted(known)) or "none; set record.variables = true"
            raise ValueError(f"unknown variable {name!r}; recorded are {have}")
        elif without:
            raise ValueError(f"{without[0]}: no variables were recorded; set record.variables = true")
    figure, axes = new_figure(len(names), row_height=1.3)
    colours: dict[str, str] = {}
    frames, notes = [], list[str]()
    for place, name in zip(axes, names, strict=True):
        if name not in known:
            frames.append(_samples(place, runs, name, only))
        elif _is_state(actors, name):
            frames.extend(_bands(place, _flows(actors), name, colours, notes))
        else:
            frames.extend(_lines(place, actors, name))
    data = pl.concat(frames)
    _finish(figure, axes, names, runs, actors, colours, data["time_s"].to_numpy().max(initial=0.0))
    mark_events(axes, runs, warmup_s)
    note_below(figure, list(dict.fromkeys(notes)))
    return figure, data


def label_of(name: str, unit: str = "") -> str:
    """The axis label of a variable: its readable name, and its unit in a separate line.

    >>> label_of("bw", "packets/s"), label_of("min_rtt", "ms"), label_of("pacing_gain")
    ('bandwidth estimate\\n(packets/s)', 'minimum RTT\\n(ms)', 'pacing gain')
    """
    words = _NAMES.get(name) or " ".join(_WORDS.get(word, word) for word in name.split("_"))
    return "\n".join([fill(words, _LINE), *([f"({unit})"] if unit else [])])


def _actors(
    runs: Mapping[str, Tables], only: Sequence[str] | None
) -> dict[str, tuple[str, pl.DataFrame, str]]:
    of = {label: algorithms({"": tables}) for label, tables in runs.items()}
    found = {
        (label, str(name)): _with_own_names(rows, of[label].get(str(name), ""))
        for label, tables in runs.items()
        for kind in ("flow", "link")
        for (name,), rows in tables["variables"].drop_nulls(kind).group_by(kind, maintain_order=True)
        if only is None or name in only
    }
    names = line_names(found)
    return {names[actor]: (actor[0], rows, actor[1]) for actor, rows in found.items()}


def _with_own_names(rows: pl.DataFrame, algorithm: str) -> pl.DataFrame:
    """The variables of a flow, with states named as in the papers on its algorithm."""
    return rows.with_columns(pl.col("state").replace(_NAMES_OF_BBR1)) if algorithm in _OF_BBR1 else rows


def _flows(actors: Actors) -> Actors:
    """The actors that are flows; queues of links have no states."""
    return {label: actor for label, actor in actors.items() if actor[1]["flow"][0] is not None}


def _is_state(actors: Actors, name: str) -> bool:
    return any(
        not f.filter((pl.col("name") == name) & (pl.col("state") != "")).is_empty()
        for _, f, _ in actors.values()
    )


def _samples(place: Axes, runs: Mapping[str, Tables], name: str, only: Sequence[str] | None) -> pl.DataFrame:
    """Draw a quantity of all runs, and return its rows. The unit is in the brackets of the axis label."""
    drawn = time_series(place, runs, name, only=only, legend_up_to=0)
    unit = place.get_ylabel().partition("(")[2].partition(")")[0]
    parts = drawn.partition_by("run", "actor", maintain_order=True)
    pairs = [(str(part["run"][0]), str(part["actor"][0])) for part in parts]
    names = line_names(pairs)
    return pl.concat(
        _rows(name, pair[0], names[pair], part["time_s"], part["value"], unit)
        for pair, part in zip(pairs, parts, strict=True)
    )


def _lines(place: Axes, actors: Actors, name: str) -> list[pl.DataFrame]:
    frames = []
    for actor, (run, frame, _) in actors.items():
        rows = _carried(frame.filter(pl.col("name") == name))
        if rows.is_empty():
            continue
        scale, unit = _SCALES.get(rows["unit"][0], (1, rows["unit"][0]))
        values = rows["value"].fill_null(float("nan")) * scale
        place.plot(rows["time_s"].to_numpy(), values.to_numpy(), label=actor, drawstyle="steps-post")
        place.set_ylabel(label_of(name, unit))
        frames.append(_rows(name, run, actor, rows["time_s"], values, unit))
    if all(frame["value"].fill_nan(None).min() or 0 >= 0 for frame in frames):
        place.set_ylim(bottom=0)
    return frames


def _carried(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows within the time range, after the last row before it, which has the value at its beginning."""
    begin_s, _ = time_ends(0.0)
    before = rows.filter(pl.col("time_s") < begin_s).tail(1).with_columns(time_s=pl.lit(begin_s))
    return within(pl.concat([before, rows]))


def _in_range(spans: pl.DataFrame) -> pl.DataFrame:
    """The parts of spans within the time range."""
    begin_s, end_s = time_ends(math.inf)
    clipped = spans.with_columns(pl.col("start_s", "end_s").clip(begin_s, end_s))
    return clipped.filter(pl.col("end_s") > pl.col("start_s"))


def _bands(
    place: Axes, actors: Actors, name: str, colours: dict[str, str], notes: list[str]
) -> list[pl.DataFrame]:
    """Draw a row of coloured spans per flow, with the name of the state if there is room."""
    frames = []
    for height, (actor, (run, frame, flow)) in enumerate(actors.items()):
        if frame.filter(pl.col("name") == name).is_empty():
            continue
        every = states(frame, flow, name)
        spans, ends = _in_range(every), time_ends(every["end_s"][-1])
        points = _points_per_s(place, ends)
        drawn = _wide_enough(spans, ends, points)
        if drawn is not spans:
            notes.append(f"states shorter than {_LEAST / points:.2g} s are merged into longer ones")
        for start_s, end_s, state in drawn.iter_rows():
            patch = _patch_of(state, colours, (end_s - start_s) * points)
            place.broken_barh([(start_s, end_s - start_s)], (height - 0.4, 0.8), **patch)
            if (end_s - start_s) * points > _LETTER * len(state):
                middle = (start_s + end_s) / 2, height
                said = place.annotate(state, middle, ha="center", va="center", fontsize=SMALL)
                said.set(annotation_clip=True, path_effects=_HALO)
        frames.append(_rows(name, run, actor, spans["start_s"], None, "", spans["state"]))
    place.set_yticks(range(len(actors)), list(actors)) if len(actors) > 1 else place.set_yticks([])
    place.set_ylim(len(actors) - 0.5, -0.5)
    place.set_ylabel(label_of(name))
    place.grid(visible=False)
    return frames


def _points_per_s(place: Axes, ends: tuple[float, float]) -> float:
    """Width of a second in points, on an axis of time with these ends."""
    return 72 * _OF_AXES * figure_of(place).get_figwidth() / ((ends[1] - ends[0]) or 1.0)


def _patch_of(state: str, colours: dict[str, str], points: float, alpha: float = 1.0) -> dict[str, Any]:
    """The look of a band of a state. Narrow bands have no hatch, as hatches of neighbours would merge."""
    found = state_patch(state, colours, alpha)
    return found if points >= _HATCHED else found | {"hatch": ""}


def _wide_enough(spans: pl.DataFrame, ends: tuple[float, float], points: float) -> pl.DataFrame:
    """Return spans of states of which none is narrower than `_LEAST`: each interval of this width has the
    state that lasts longest in it. Spans that are all wide enough are returned unchanged."""
    step_s = _LEAST / points
    inner = spans[1:-1]
    if inner.filter(pl.col("end_s") - pl.col("start_s") < step_s).is_empty():
        return spans
    lasting: dict[int, dict[str, float]] = {}
    for start_s, end_s, state in spans.iter_rows():
        for place in range(int((start_s - ends[0]) / step_s), int((end_s - ends[0]) / step_s) + 1):
            begin_s = ends[0] + place * step_s
            covered_s = min(end_s, begin_s + step_s) - max(start_s, begin_s)
            own = lasting.setdefault(place, {})
            own[state] = own.get(state, 0.0) + covered_s
    first_s, last_s = spans["start_s"][0], spans["end_s"][-1]
    names = [max(own, key=own.__getitem__) for own in lasting.values()]
    begins_s = [max(first_s, ends[0] + place * step_s) for place in lasting]
    merged = pl.DataFrame({"start_s": begins_s, "state": names})
    merged = merged.filter((pl.col("state") != pl.col("state").shift(1)).fill_null(value=True))
    return merged.select("start_s", pl.col("start_s").shift(-1).fill_null(last_s).alias("end_s"), "state")


def _finish(
    figure: Figure,
    axes: Sequence[Axes],
    names: Sequence[str],
    runs: Mapping[str, Tables],
    actors: Actors,
    colours: dict[str, str],
    end_s: float,
) -> None:
    shading = [name for name in names if _is_state(actors, name)]
    flows = list(_flows(actors).values())
    for place, name in zip(axes, names, strict=True):
        place.set_xlim(*time_ends(end_s))
        place.set_xlabel("")
        place.label_outer()
        if len(flows) == 1 and shading and name not in shading:
            _shade(place, *flows[0][1:], shading[0], colours)
    axes[-1].set_xlabel("time (s)")
    of = algorithms(runs)
    lines = {with_algorithm(name, of): line for name, line in restyle(axes, of).items()}
    patches = {state: Patch(**state_patch(state, dict(colours))) for state in colours}
    shared_legend(figure, ({} if len(lines) < 2 and not patches else lines) | patches)
    figure.align_ylabels(axes)


def _shade(place: Axes, frame: pl.DataFrame, flow: str, name: str, colours: dict[str, str]) -> None:
    every = states(frame, flow, name)
    ends = time_ends(every["end_s"][-1])
    points = _points_per_s(place, ends)
    for start_s, end_s, state in _wide_enough(_in_range(every), ends, points).iter_rows():
        patch = _patch_of(state, colours, (end_s - start_s) * points, _SHADE)
        place.axvspan(start_s, end_s, **patch, zorder=0)


def _rows(
    panel: str,
    run: str,
    actor: str,
    time_s: pl.Series,
    value: pl.Series | None,
    unit: str = "",
    state: pl.Series | None = None,
) -> pl.DataFrame:
    size = len(time_s)
    return pl.DataFrame(
        {
            "panel": [panel] * size,
            "actor": [actor] * size,
            "time_s": time_s,
            "value": pl.Series([None] * size, dtype=pl.Float64) if value is None else value.cast(pl.Float64),
            "unit": [unit] * size,
            "state": [""] * size if state is None else state.to_list(),
            "run": [run] * size,
        }
    )


# Figures of the ports of a cell.


def channel(tables: Tables, warmup_s: float = 0.0) -> tuple[Figure, pl.DataFrame]:
    """Draw the signal-to-noise ratio and the PHY rate or MCS of every port over time. The table has the
    columns of `variables`.

    Raises:
        ValueError: If no station has noise or rate selection, or no variables were recorded.
    """
    recorded = set(tables["variables"]["name"].unique())
    rate = "phy_rate" if "phy_rate" in recorded else "mcs"
    names = [name for name in ("snr", rate) if name in recorded]
    if not names:
        raise ValueError("no snr or chosen rate was recorded; set record.variables = true")
    return variables({"": tables}, names, warmup_s=warmup_s)


@in_house_style
def waits(tables: Tables, warmup_s: float = 0.0) -> tuple[Figure, pl.DataFrame]:
    """Draw delay under load: goodput and RTT of flows, and queueing delay at each port. Flows and ports have
    a legend each. The warm-up is shaded.

    Returns:
        The figure, and its table: quantity, actor, time_s, value.

    Raises:
        ValueError: If no variables of a cell, or no samples, were recorded.
    """
    runs = {"": tables}
    ports, of = _ports(tables["variables"]), algorithms(runs)
    figure, axes = new_figure(3, row_height=2.0)  # the labels beside the axes need this height
    frames = []
    only: Mapping[str, list[str] | None] = {"goodput": None, "rtt": None, "sojourn": ports}
    for place, (quantity, chosen) in zip(axes, only.items(), strict=True):
        data = time_series(place, runs, quantity, only=chosen, legend_up_to=0)
        frames.append(data.select(pl.lit(quantity).alias("quantity"), "actor", "time_s", "value"))
        place.label_outer()
    for place in axes:
        place.set_xlim(*time_ends(last_sample_s(frames)))
    entries = restyle(axes, of)
    window_s = goodput_window_s(runs, asked_window_s())
    own = {name: line for name, line in entries.items() if name in ports}
    flows = {with_algorithm(name, of): line for name, line in entries.items() if name not in own}
    columns = legend_columns(list(own), _OF_AXES * figure.get_figwidth())
    axes[-1].legend(own.values(), own, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)
    shared_legend(figure, flows | draw_capacities(axes[0], runs, window_s), least=1)
    figure.align_ylabels(axes)
    mark_events(axes, runs, warmup_s)
    goodput = frames[0].select(pl.lit("").alias("run"), "time_s", "value")
    note_bursts(figure, goodput, runs, window_s)
    note_below(figure, dots_of(axes))
    return figure, pl.concat(frames)


def _ports(found: pl.DataFrame) -> list[str]:
    """The ports of cells: the links with a variable that counts airtime (Wi-Fi) or resource blocks (LTE,
    NR)."""
    chosen = pl.col("name").is_in(["airtime", "resource_blocks"]) & pl.col("link").is_not_null()
    ports = found.filter(chosen)["link"].unique(maintain_order=True).to_list()
    if not ports:
        raise ValueError("no variables of a cell were recorded; set record.variables = true")
    return ports
