"""A section of OpenWrt's `/etc/config/sqm`, read as what the scripts of sqm-scripts set up by it.

The options and what they do: openwrt.org, "SQM configuration /etc/config/sqm", and the scripts themselves.
"""

import re
import shlex
from collections.abc import Callable, Mapping

from fullpipe.errors import ScenarioError, shown, suggestion
from fullpipe.scenario.tc.qdiscs import queue_of
from fullpipe.scenario.tc.router import Router, Shaper

_SECTION = re.compile(r"^\s*config\s+queue\b", re.MULTILINE)
_KBIT = 1_000
_NO_EFFECT: Mapping[str, str] = {
    "debug_logging": "",
    "verbosity": "",
    "qdisc_advanced": "",
    "qdisc_really_really_advanced": "",
    "linklayer_advanced": "",
    "tcMTU": "",
    "tcTSIZE": "",
}
"""What says how much is logged, what the page of the router shows, or how large tables of `tc` are."""
_LEFT_OUT: Mapping[str, str] = {
    "use_mq": "the queues of one processor each",
    "shaper_burst": "the burst of HTB",
    "ishaper_burst_dur_us": "the burst of HTB",
    "eshaper_burst_dur_us": "the burst of HTB",
    "ishaper_quantum_dur_us": "the quantum of HTB",
    "eshaper_quantum_dur_us": "the quantum of HTB",
    "htb_quantum_function": "the quantum of HTB",
}
_READ = (
    *("enabled", "interface", "download", "upload", "qdisc", "script", "linklayer", "overhead", "tcMPU"),
    *("linklayer_adaptation_mechanism", "squash_dscp", "squash_ingress", "iqdisc_opts", "eqdisc_opts"),
    *("ilimit", "elimit", "itarget", "etarget", "ingress_ecn", "egress_ecn"),
)
_CAKE = ("piece_of_cake.qos", "layer_cake.qos")
_SHAPERS = ("simplest.qos", "simplest_tbf.qos", "simple.qos")
_LIMIT = "1001"
"""Packets, of queues other than CAKE unless a limit is given: LIMIT of sqm-scripts' defaults."""
_SLOP_KBIT = 16
"""By which the ceiling of best effort is below the rate: BE_CEIL of simple.qos."""
_YES = ("1", "on", "true", "yes", "enabled")
Options = Mapping[str, str]


def is_sqm(text: str) -> bool:
    """Whether a text has a section of such a file."""
    return _SECTION.search(text) is not None


def router_of(text: str) -> Router:
    """What the one enabled section of a file sets up.

    Raises:
        ScenarioError: If there is none or more than one, or an option is unknown, malformed or not modelled.
    """
    sections = _sections(text)
    enabled = [of for of in sections if of.get("enabled", "1") in _YES]
    if len(enabled) != 1:
        raise ScenarioError([f"sqm: {len(enabled)} of {len(sections)} sections are enabled; keep one"])
    (options,) = enabled
    known = [*_READ, *_NO_EFFECT, *_LEFT_OUT]
    if wrong := [
        f"sqm: unknown option {shown(key)}{suggestion(key, known)}" for key in options if key not in known
    ]:
        raise ScenarioError(wrong)
    router = Router(up=_shaper(options, "upload", _words_up), down=_shaper(options, "download", _words_down))
    router.notes += [f"{key} is left out: {_LEFT_OUT[key]}" for key in options if key in _LEFT_OUT]
    router.notes += _notes(options)
    return router


def _sections(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise ScenarioError([f"sqm: line {number}: a quote is not closed"]) from None
        if not words:
            continue
        if words[0] == "config" and len(words) in (2, 3) and words[1] == "queue":
            found.append({})
        elif words[0] in ("option", "list") and len(words) == 3 and found:
            found[-1][words[1]] = words[2].strip()
        else:
            raise ScenarioError(
                [
                    f"sqm: line {number}: expected config queue NAME or option NAME VALUE, got"
                    f" {shown(line.strip()[:80])}"
                ]
            )
    return found


def _shaper(options: Options, key: str, words: Callable[[Options], str]) -> Shaper | None:
    """That of a direction; None if it is switched off."""
    text = options.get(key, "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise ScenarioError([f"sqm: {key}: expected kbit/s as a whole number, got {shown(text[:80])}"])
    if int(text) == 0:
        return None
    qdisc, script = options.get("qdisc", "fq_codel"), options.get("script", "simple.qos")
    if script not in (*_CAKE, *_SHAPERS):
        names = ", ".join((*_CAKE, *_SHAPERS))
        raise ScenarioError([f"sqm: script {shown(script[:80])} is not modelled; known are {names}"])
    if script in _CAKE or (qdisc == "cake" and script == "simplest.qos"):
        line = f"tc qdisc add dev x root cake bandwidth {text}kbit {_link_layer(options)} {words(options)}"
        return Shaper(queue_of(line))
    if qdisc == "cake":
        raise ScenarioError(
            [f"sqm: {script} with cake is not modelled; take piece_of_cake.qos or layer_cake.qos"]
        )
    kbit = int(text) - (_SLOP_KBIT if _has_classes(options, key) else 0)
    if kbit <= 0:
        raise ScenarioError([f"sqm: {key}: simple.qos needs more than {_SLOP_KBIT} kbit/s, got {text}"])
    return Shaper(queue_of(f"tc qdisc add dev x root {qdisc} {_leaf(options, key, qdisc)}"), kbit * _KBIT)


def _has_classes(options: Options, key: str) -> bool:
    """Whether a direction has the three classes of simple.qos; what comes has one if marks are squashed."""
    if options.get("script", "simple.qos") != "simple.qos":
        return False
    return key == "upload" or options.get("squash_ingress", "1") not in _YES


def _words_up(options: Options) -> str:
    """What CAKE is told of what leaves. The last of words that exclude each other counts."""
    classes = "besteffort" if options.get("script") != "layer_cake.qos" else "diffserv3 nat"
    return f"{classes} {options.get('eqdisc_opts', '')}"


def _words_down(options: Options) -> str:
    """What CAKE is told of what comes."""
    classes = "diffserv3 nat"
    if options.get("script") != "layer_cake.qos" or options.get("squash_ingress", "1") in _YES:
        classes = "besteffort nat"
    wash = "wash" if options.get("squash_dscp", "1") in _YES else ""
    return f"{classes} {wash} {options.get('iqdisc_opts', '')}"


def _link_layer(options: Options) -> str:
    """What CAKE counts beside the packet; the option `linklayer` "none" switches that off."""
    kind = options.get("linklayer", "none")
    if kind == "none" or options.get("linklayer_adaptation_mechanism", "default") not in ("default", "cake"):
        return ""
    if kind not in ("ethernet", "adsl", "atm"):
        raise ScenarioError([f"sqm: linklayer: expected none, ethernet, adsl or atm, got {shown(kind[:80])}"])
    cells = "atm " if kind != "ethernet" else ""
    return f"{cells}overhead {options.get('overhead', '0')} mpu {options.get('tcMPU', '0')}"


def _leaf(options: Options, key: str, qdisc: str) -> str:
    """What the queue below a shaper is told."""
    i = "i" if key == "download" else "e"
    if qdisc not in ("fq_codel", "codel", "pie"):
        raise ScenarioError(
            [f"sqm: qdisc {shown(qdisc[:80])} is not modelled; known are cake, fq_codel, codel, pie"]
        )
    words = [f"limit {options.get(f'{i}limit') or _LIMIT}"]
    target = options.get(f"{i}target", "")
    words += [f"target {target}"] if target not in ("", "auto", "default") else []
    ecn = options.get("ingress_ecn" if i == "i" else "egress_ecn", "ECN")
    words += ["noecn" if ecn.upper() == "NOECN" else "ecn", options.get(f"{i}qdisc_opts", "")]
    return " ".join(words)


def _notes(options: Options) -> list[str]:
    notes = [f"interface {options.get('interface', 'of the section')} is taken for the one towards the line"]
    shapes = options.get("script") not in _CAKE
    classed = [key for key in ("upload", "download") if _has_classes(options, key)]
    if classed:
        notes.append(
            f"simple.qos, {' and '.join(classed)}: of its three classes that of unmarked packets is taken for"
            f" all, {_SLOP_KBIT} kbit/s below the rate; left out are those of EF, CS6, AF42 and of CS1, ICMP;"
            " to try classes, take layer_cake.qos with cake"
        )
    if shapes and options.get("qdisc") != "cake" and options.get("linklayer", "none") != "none":
        notes.append("linklayer, overhead and tcMPU are left out: links count tcp.link_overhead")
    if shapes and "auto" in (options.get("itarget"), options.get("etarget")):
        notes.append("itarget and etarget: auto is taken for the target of the queue, whatever the rate")
    return notes
