"""Conversion of a section of OpenWrt's `/etc/config/sqm` to the queues that sqm-scripts configure.

Sources: openwrt.org, "SQM configuration /etc/config/sqm", and the source of sqm-scripts. Comments name the
files and functions of sqm-scripts.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fullpipe.errors import ScenarioError, brief, shown, suggestion
from fullpipe.scenario.tc.devices import Router, Shaper, link_of
from fullpipe.scenario.tc.qdiscs import Line

_SECTION = re.compile(r"^\s*config\s+queue\b", re.MULTILINE)
_DEFAULTS: Mapping[str, str] = {
    "enabled": "",
    "interface": "",
    "upload": "2302",
    "download": "14698",
    "script": "simple.qos",
    "qdisc": "fq_codel",
    "linklayer": "none",
    "linklayer_adaptation_mechanism": "default",
    "overhead": "0",
    "tcMPU": "0",
    "elimit": "1001",
    "ilimit": "1001",
    "etarget": "",
    "itarget": "",
    "egress_ecn": "ECN",
    "ingress_ecn": "ECN",
    "eqdisc_opts": "",
    "iqdisc_opts": "",
    "squash_dscp": "1",
    "squash_ingress": "1",
    "autorate": "0",
}
"""Values of missing or empty options (defaults.sh of sqm-scripts; it has no default for `script`)."""
_NO_EFFECT = (
    *("debug_logging", "verbosity", "tcMTU", "tcTSIZE"),
    *("qdisc_advanced", "qdisc_really_really_advanced", "linklayer_advanced"),
)
"""Options without effect on queues: options of logs, of the router's web page, and of the dimensions of size
tables."""
_LEFT_OUT: Mapping[str, str] = {
    "use_mq": "the queues of one processor each",
    "shaper_burst": "the burst of HTB",
    "ishaper_burst_dur_us": "the burst of HTB",
    "eshaper_burst_dur_us": "the burst of HTB",
    "ishaper_quantum_dur_us": "the quantum of HTB",
    "eshaper_quantum_dur_us": "the quantum of HTB",
    "htb_quantum_function": "the quantum of HTB",
}
_AUTORATE = (
    *("min_download", "max_download", "min_upload", "max_upload", "delay_thr_ms", "pinger", "no_pingers"),
    *("reflector_ping_interval_s", "enable_sleep_function", "enable_sleep_functions", "startup_wait_s"),
    *("connection_active_thr_kbps", "connection_active_thr_kpbs", "sustained_idle_sleep_thr"),
    *("substained_idle_sleep_thr_s", "min_shaper_rates_enforcement", "sss_compensation", "debug"),
    *("output_processing_stats", "output_load_stats", "output_reflector_stats", "output_cake_changes"),
)
"""Options of the program that changes the rates of a section while it runs (OpenMPTCProuter sqm-autorate)."""
_CAKE = ("piece_of_cake.qos", "layer_cake.qos")
_SHAPERS = ("simplest.qos", "simplest_tbf.qos", "simple.qos")
_SLOP_KBIT = 16
"""Rate minus the ceiling of the best-effort class, in kbit/s (BE_CEIL of simple.qos)."""
_LONGEST_PACKET_BITS = 33 * 53 * 8
"""Size of a packet in 33 ATM cells of 53 bytes, in bits (MAX_DELAY of `adapt_target_to_slow_link`)."""
_LEAST_TARGET_US = 5_000
_INTERVAL_ABOVE_TARGET_US = (100 - 5) * 1_000
_TIMES = ("s", "sec", "secs", "ms", "msec", "msecs", "us", "usec", "usecs")
_KBIT = 1_000


@dataclass(frozen=True)
class _Section:
    name: str
    options: dict[str, str] = field(default_factory=dict)
    """Options set in the file, as text."""

    def __getitem__(self, key: str) -> str:
        return self.options.get(key) or _DEFAULTS[key]


@dataclass(frozen=True)
class _Direction:
    rate: str
    letter: str
    """First letter of the direction's options."""
    ecn: str
    quantum: str
    """Quantum of the class of unmarked packets in bytes, if simple.qos makes three classes (functions
    egress() and ingress() of simple.qos)."""


_UP = _Direction("upload", "e", "egress_ecn", "300")
_DOWN = _Direction("download", "i", "ingress_ecn", "1500")


def is_sqm(text: str) -> bool:
    """Whether a text has a section of an sqm configuration."""
    return _SECTION.search(text) is not None


def router_of(text: str) -> Router:
    """Return the router that the enabled section of a file describes.

    Raises:
        ScenarioError: If not exactly one section is enabled, or an option is unknown, malformed or not
            modelled.
    """
    section = _enabled(_sections(text))
    known = [*_DEFAULTS, *_NO_EFFECT, *_LEFT_OUT, *_AUTORATE]
    if wrong := [
        f"sqm: unknown option {shown(key)}{suggestion(key, known)}"
        for key in section.options
        if key not in known
    ]:
        raise ScenarioError(wrong)
    router = Router()
    router.up, router.down = (_shaper(section, direction, router.notes) for direction in (_UP, _DOWN))
    router.notes += [f"{key} is left out: {_LEFT_OUT[key]}" for key in section.options if key in _LEFT_OUT]
    router.notes += _notes(section)
    router.notes = list(dict.fromkeys(router.notes))
    return router


def _enabled(sections: Sequence[_Section]) -> _Section:
    """Return the only section that is not disabled. A section without the option `enabled` counts as enabled,
    although sqm-scripts require enabled '1' (`start_sqm_section`)."""
    enabled = [one for one in sections if one["enabled"] not in ("0", "off", "false", "no", "disabled")]
    if len(enabled) == 1:
        return enabled[0]
    count = f"sqm: {len(enabled)} of {len(sections)} sections are enabled"
    if enabled:
        raise ScenarioError([f"{count}; keep one, and write option enabled '0' in the others"])
    names = brief(", ".join(shown(one.name) for one in sections))
    which = f"section {names}" if len(sections) == 1 else f"one of the sections {names}"
    raise ScenarioError([f"{count}; write option enabled '1' in {which}"])


def _sections(text: str) -> list[_Section]:
    found: list[_Section] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise ScenarioError([f"sqm: line {number}: a quote is not closed"]) from None
        if not words:
            continue
        if words[0] == "config" and len(words) in (2, 3) and words[1] == "queue":
            found.append(_Section(words[2] if len(words) == 3 else ""))
        elif words[0] in ("option", "list") and len(words) == 3 and found:
            found[-1].options[words[1]] = words[2].strip()
        else:
            raise ScenarioError(
                [
                    f"sqm: line {number}: expected config queue NAME or option NAME VALUE, got"
                    f" {shown(line.strip()[:80])}"
                ]
            )
    return found


def _shaper(section: _Section, direction: _Direction, notes: list[str]) -> Shaper | None:
    """Return the shaper of a direction, or None if its rate is 0."""
    key, script = direction.rate, section["script"]
    text = section[key]
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise ScenarioError([f"sqm: {key}: expected kbit/s as a whole number, got {shown(text[:80])}"])
    if int(text) == 0:
        return None
    if script not in (*_CAKE, *_SHAPERS):
        names = ", ".join((*_CAKE, *_SHAPERS))
        raise ScenarioError([f"sqm: script {shown(script[:80])} is not modelled; known are {names}"])
    if _is_cake(section):
        words = ("bandwidth", f"{text}kbit", *_link_layer(section), *_cake_words(section, direction))
        stab = _stab(section)
        return _made(Line("cake", words, section["interface"], stab=stab), notes)
    qdisc = _leaf(section)
    kbit = int(text) - (_SLOP_KBIT if _has_classes(section, direction) else 0)
    if kbit <= 0:
        raise ScenarioError([f"sqm: {key}: simple.qos needs more than {_SLOP_KBIT} kbit/s, got {text}"])
    return Shaper(_made(Line(qdisc, _leaf_words(section, direction, qdisc)), notes).queue, kbit * _KBIT)


def _made(line: Line, notes: list[str]) -> Shaper:
    found = link_of(line)
    notes += found.notes
    return found.up or Shaper()


def _is_cake(section: _Section) -> bool:
    """Whether CAKE shapes: in the scripts for CAKE, and in simplest.qos with qdisc cake (cake_egress())."""
    script = section["script"]
    return script in _CAKE or (section["qdisc"] == "cake" and script == "simplest.qos")


def _has_classes(section: _Section, direction: _Direction) -> bool:
    """Whether a direction has the three classes of simple.qos. Downloads have one class if DSCPs are
    ignored."""
    is_simple = section["script"] == "simple.qos"
    return is_simple and (direction is _UP or section["squash_ingress"] != "1")


def _cake_words(section: _Section, direction: _Direction) -> list[str]:
    """Return the words for CAKE's classes and other options (functions egress and ingress of the scripts). If
    two words conflict, the later word counts."""
    ignores = direction is _DOWN and section["squash_ingress"] == "1"
    words = ["diffserv3" if section["script"] == "layer_cake.qos" and not ignores else "besteffort"]
    if direction is _DOWN and section["squash_dscp"] == "1" and section["script"] in _CAKE:
        words.append("wash")
    return [*words, *section[f"{direction.letter}qdisc_opts"].split()]


def _layer(section: _Section) -> str:
    kind = section["linklayer"]
    if kind not in ("none", "ethernet", "adsl", "atm"):
        raise ScenarioError([f"sqm: linklayer: expected none, ethernet, adsl or atm, got {shown(kind[:80])}"])
    return kind


def _link_layer(section: _Section) -> list[str]:
    """Return the words for the overhead that CAKE adds itself (`get_cake_lla_string` of functions.sh)."""
    layer = _layer(section)
    if layer == "none" or section["linklayer_adaptation_mechanism"] not in ("default", "cake"):
        return []
    cells = ["atm"] if layer == "atm" else []
    return [*cells, "overhead", section["overhead"], "mpu", section["tcMPU"]]


def _stab(section: _Section) -> tuple[str, ...]:
    """Return the words for the overhead that a size table adds (`get_stab_string` of functions.sh)."""
    layer = _layer(section)
    if layer == "none" or section["linklayer_adaptation_mechanism"] != "tc_stab":
        return ()
    return ("mpu", section["tcMPU"], "overhead", section["overhead"], "linklayer", layer)


def _leaf(section: _Section) -> str:
    """Return the kind of the queue below a shaper."""
    qdisc = section["qdisc"]
    if qdisc == "cake":
        raise ScenarioError(
            [f"sqm: {section['script']} with cake is not modelled; take piece_of_cake.qos or layer_cake.qos"]
        )
    if qdisc not in ("fq_codel", "codel", "pie"):
        raise ScenarioError(
            [f"sqm: qdisc {shown(qdisc[:80])} is not modelled; known are cake, fq_codel, codel, pie"]
        )
    return qdisc


def _leaf_words(section: _Section, direction: _Direction, qdisc: str) -> tuple[str, ...]:
    """Return the options of the queue below a shaper, in the order of sqm-scripts (`get_limit` to
    `get_quantum` of functions.sh)."""
    i = direction.letter
    has_quantum = qdisc == "fq_codel" and _has_classes(section, direction)
    return (
        *("limit", section[f"{i}limit"]),
        *_target(section[f"{i}target"], qdisc, int(section[direction.rate])),
        section[direction.ecn].lower(),
        *(("quantum", direction.quantum) if has_quantum else ()),
        *section[f"{i}qdisc_opts"].split(),
    )


def _target(text: str, qdisc: str, kbit: int) -> list[str]:
    """Return the words for target and interval, as `get_target` of functions.sh does. `get_target` reads the
    leading digits and the trailing letters of the option."""
    number, unit = re.match("[0-9]+", text), re.search("[A-Za-z]+$", text)
    if number and unit and unit[0] in _TIMES:
        return ["target", f"{number[0]}{unit[0]}"]
    if not _is_auto(text):
        return []
    target_us, interval_us = _adapted_us(kbit)
    if qdisc == "pie":
        return ["target", f"{target_us}us"]
    is_default = target_us == _LEAST_TARGET_US
    return [] if is_default else ["target", f"{target_us}us", "interval", f"{interval_us}us"]


def _adapted_us(kbit: int) -> tuple[int, int]:
    """Return target and interval in us for a rate (`adapt_target_to_slow_link`,
    `adapt_interval_to_slow_link`)."""
    target_us = max(_LEAST_TARGET_US, _LONGEST_PACKET_BITS * 1_000 // kbit)
    return target_us, _INTERVAL_ABOVE_TARGET_US + target_us


def _is_auto(text: str) -> bool:
    return text in ("auto", "Auto", "AUTO") or not re.search("^[0-9]|[A-Za-z]$", text)


def _notes(section: _Section) -> list[str]:
    notes = [f"interface {section['interface'] or 'of the section'} is assumed to be at the access line"]
    notes += _of_defaults(section)
    if section["autorate"] == "1":
        notes.append("autorate is left out: the rates stay as download and upload set them")
    layer, how = section["linklayer"], section["linklayer_adaptation_mechanism"]
    if _is_cake(section):
        notes += _of_layer(layer, how)
        return notes
    if layer != "none":
        notes.append("linklayer, overhead and tcMPU are left out: links use tcp.link_overhead instead")
    shaped = [one for one in (_UP, _DOWN) if int(section[one.rate])]
    if classed := [one.rate for one in shaped if _has_classes(section, one)]:
        notes.append(
            f"simple.qos, {' and '.join(classed)}: the class of unmarked packets, {_SLOP_KBIT} kbit/s below"
            " the rate, has all packets; the classes of EF, CS6, AF42 and of CS1, ICMP are left out; for"
            " classes, use layer_cake.qos with cake"
        )
    return [*notes, *(note for one in shaped if (note := _of_target(section, one)))]


def _of_defaults(section: _Section) -> list[str]:
    """Return notes on missing options."""
    notes = [
        f"{key} is not set: sqm-scripts use {_DEFAULTS[key]} kbit/s"
        for key in ("upload", "download")
        if not section.options.get(key)
    ]
    if section["enabled"] != "1":
        notes.append("the section is read as enabled; sqm-scripts start it only with option enabled '1'")
    if not section.options.get("script"):
        notes.append("script is not set: simple.qos is used, while sqm-scripts would start nothing")
    return notes


def _of_layer(layer: str, how: str) -> list[str]:
    if layer == "none":
        return []
    if how not in ("default", "cake", "tc_stab"):
        return [f"linklayer and overhead have no effect: sqm-scripts ignore {shown(how)} with cake"]
    if layer == "adsl" and how != "tc_stab":
        return ["linklayer adsl adds no cells with cake: sqm-scripts add ATM cells only for linklayer atm"]
    return []


def _of_target(section: _Section, direction: _Direction) -> str:
    """Return a note on a computed or invalid target, or "" if the section gives a valid time."""
    key, qdisc = f"{direction.letter}target", _leaf(section)
    text, kbit = section[key], section[direction.rate]
    if _is_auto(text):
        target_us, interval_us = _adapted_us(int(kbit))
        interval = "" if qdisc == "pie" else f", interval {interval_us / 1e3:g} ms"
        return f"{key} is automatic: {target_us / 1e3:g} ms{interval} for {kbit} kbit/s, as in sqm-scripts"
    if not _target(text, qdisc, int(kbit)) and text.lower() != "default":
        return f"{key} {shown(text)} is not a time such as 5ms: {qdisc} has its default target"
    return ""
