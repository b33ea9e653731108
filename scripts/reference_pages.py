"""Make reference pages of the documentation from the code and from files of the root."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts import gallery
from scripts.annotated_scenario import annotated_page
from scripts.api_pages import module_pages
from scripts.markdown_table import table
from scripts.plan_page import plan_page
from scripts.scenario_page import scenario_page

ROOT = Path(__file__).resolve().parent.parent
ALGORITHMS = ROOT / "crates" / "congestion" / "src" / "algorithms"
QUEUES = ROOT / "crates" / "network" / "src" / "queue"
OF_ROOT = ("ARCHITECTURE", "DETERMINISM", "CONTRIBUTING", "CHANGELOG")


def results_page() -> str:
    """The tables of a run, from the schema that the code checks."""
    from fullpipe.runs import TABLES, Meta
    from fullpipe.runs.encoding import Sums

    parts = [
        "# Results",
        "A run is a folder `<out>/<digest>/<engine>-<seed>/` with `meta.json` and its tables. The digest "
        "identifies everything that is simulated except the seed. A folder under its final name is a "
        "finished run: it is written under a hidden name and renamed at the end. The unit is the last word "
        "of a column's name. A value that was not measured is null.",
        "Tables without rows are not written. Small ones are parts of `tables.arrow`, each a stream of Arrow "
        "IPC: `tables` in `meta.json` has the begin (`offset`), the length (`bytes`) and the "
        "checksum of each. A table of 1 MB in memory or more is a separate file, such as `packets.parquet`. "
        "`fullpipe.load` hides the difference. Runs of older versions have a Parquet file for every table, "
        "and stay readable.",
    ]
    for name, described in TABLES.items():
        rows = [[f"`{c.name}`", str(c.dtype), c.unit, c.meaning] for c in described.columns]
        parts += [
            f"## {name}",
            f"One row per {described.row}.",
            table(["column", "type", "unit", "meaning"], rows),
        ]
    parts += [
        "## meta.json",
        table(
            ["key", "meaning"], [[f"`{name}`", text] for kind in (Meta, Sums) for name, text in _fields(kind)]
        ),
    ]
    return "\n\n".join(parts)


def _fields(described: type) -> Iterator[tuple[str, str]]:
    """Names and the documentation below each field of a class."""
    body = ast.parse(inspect.getsource(described)).body[0]
    assert isinstance(body, ast.ClassDef)
    for statement, following in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        doc = following.value if isinstance(following, ast.Expr) else None
        yield statement.target.id, str(doc.value) if isinstance(doc, ast.Constant) else ""


def cli_page() -> str:
    """The commands with their options, from the parser itself."""
    from fullpipe.cli.help import examples_of
    from fullpipe.cli.tree import every_command

    parts = [
        "# Command line",
        "Exit codes: 0 done, 2 bad input (one line and no traceback), 1 failure. Progress goes to standard "
        "error: a bar on a terminal, and a line every ten seconds in a pipe. Tables and help are as wide as "
        "the terminal, or `COLUMNS` characters. They have colours on a terminal only; `NO_COLOR=1` switches "
        "colours off, and `FORCE_COLOR=1` on. Every command that writes a file makes its folder. "
        "`fullpipe completion` completes all this in a shell, and `fullpipe man` prints this page.",
    ]
    for command in every_command():
        rows = [[f"`{one.title}`", one.meaning] for one in (*command.arguments, *command.options)]
        parts += [f"## fullpipe {command.name}", command.help, table(["argument or option", "meaning"], rows)]
        parts += [f"`{line}`: {what}" for line, what in examples_of(command.name)]
    return "\n\n".join(parts)


def algorithms_page() -> str:
    """Table of all algorithms; each has a separate page."""
    from fullpipe.scenario import catalogue

    rows = [
        [f"[`{name}`](algorithms/{name}.md)", entry.title, entry.source]
        for name, entry in catalogue.controllers().items()
    ]
    return "\n\n".join(
        [
            "# Algorithms",
            "Each page has the head of the algorithm's source file, and the algorithm's parameters.",
            table(["name", "what it is", "source"], rows),
        ]
    )


def algorithm_page(name: str) -> str:
    """The head of an algorithm's source file, and its parameters and presets."""
    from fullpipe.scenario import catalogue

    entry = catalogue.controllers()[name]
    names = ", ".join(f"`{known}`" for known in (name, *entry.aliases))
    parts = [f"# {entry.title}", f"In a scenario: {names}. Source: {entry.source}.", _head(ALGORITHMS / name)]
    if entry.params:
        parts += ["## Parameters", _parameters(entry)]
    if entry.presets:
        presets = [_preset(*preset) for preset in entry.presets.items()]
        parts += ["## Presets", table(["preset", "values other than the defaults"], presets)]
    return "\n\n".join(parts)


def _preset(name: str, values: Mapping[str, Any]) -> list[str]:
    return [f"`{name}`", ", ".join(f"`{parameter}` {value}" for parameter, value in values.items()) or "none"]


def _parameters(entry: Any) -> str:
    rows = [
        [
            f"`{p.key}`",
            "required" if p.required else p.written(p.default),
            p.written_unit,
            p.written_range,
            p.doc,
        ]
        for p in entry.params.values()
    ]
    return table(["parameter", "default", "unit", "range", "meaning"], rows)


def queues_page() -> str:
    """One section per queue discipline: the head of its source file, its parameters, their names in tc."""
    from fullpipe.scenario import catalogue
    from fullpipe.scenario.tc.options import QDISCS

    parts = [
        "# Queues",
        'A queue is in front of a link: `queue = { kind = "codel", target = "2 ms" }`. Each section has the '
        "head of the source file, the parameters, and the options of tc that `fullpipe import-tc` reads. "
        '`size = "1 bdp"` and `size = "50 ms"` set the limit in packets of any queue.',
    ]
    for name, entry in catalogue.queues().items():
        parts += [f"## {name}: {entry.title}", f"Source: {entry.source}.", _head(QUEUES / name)]
        spelt = [(kind, qdisc) for kind, qdisc in QDISCS.items() if qdisc.queue == name]
        rows = [[f"`{kind}`", _words([*qdisc.options, *qdisc.flags])] for kind, qdisc in spelt]
        parts += [_parameters(entry)] + ([table(["tc", "options that are read"], rows)] if rows else [])
    return "\n\n".join(parts)


def links_page() -> str:
    """Losses and impairments of a link, from the registry, in which times are in nanoseconds."""
    from fullpipe.scenario import catalogue

    parts = [
        "# Losses and impairments",
        "Losses and impairments of packets on a link, by their names in plans. [The reference of scenario "
        "files](scenario.md) has their keys and units in scenarios. They act in this order, whatever the "
        "order in the scenario.",
    ]
    for title, family in (("Losses", "losses"), ("Impairments", "impairments")):
        parts.append(f"## {title}")
        for name, entry in catalogue.family(family).items():
            source = f"Source: {entry.source}." if entry.source else ""
            parts += [f"### {name}", f"{entry.title}. {source}".strip(), _parameters(entry)]
    return "\n\n".join(parts)


def _words(words: list[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def _head(module: Path) -> str:
    """The leading `//!` comment of a module, without its title."""
    file = module.with_suffix(".rs")
    lines = (file if file.exists() else module / "mod.rs").read_text(encoding="utf-8").splitlines()
    comment = [line[3:].removeprefix(" ") for line in lines if line.startswith("//!")]
    return "\n".join(line for line in comment if not line.startswith("# ")).strip()


def conformance_page() -> str:
    """The example tests of the BBR draft, from the cases themselves."""
    from fullpipe.validation.conformance import cases
    from fullpipe.validation.conformance.lab import DRAFT

    rows = [
        [f"[{case.section}](#{case.name})", f"`{case.name}`", case.title, ", ".join(case.needs) or "nothing"]
        for case in cases()
    ]
    parts = [
        "# Conformance tests",
        f"The example tests of {DRAFT}, appendix A, as `fullpipe conformance` runs them: "
        "[how to](../how-to/conformance.md).",
        table(["section", "test", "what it says", "needs"], rows),
    ]
    for case in cases():
        heading = f"## {case.section} {case.title} {{#{case.name}}}"
        parts += [heading, f"`{case.name}`. {case.why}", f"**Tolerance.** {case.tolerance}"]
    return "\n\n".join(parts)


def metrics_page() -> str:
    """Every metric with its formula and source, and the measured values of every group of flows and link."""
    from fullpipe import metrics

    parts = [
        "# Metrics",
        "Metrics are functions of `fullpipe.metrics` on the tables of a run: they run and draw nothing. "
        "[How to](../how-to/metrics.md) use them.",
        "## What `fullpipe metrics` shows",
        "Values are per entry of the scenario's `flows`, per link at which packets waited, were dropped or "
        "were marked, and for all flows together. All but `convergence` leave out the warm-up.",
        "**Bulk flows** are the flows that compete for throughput. "
        + _after(metrics.bulk_flows, "table of flows.\n\n"),
        "**Better** is the preferred direction, for verdicts. A difference within the **margin** does not "
        "matter; `--margin` sets another. A margin is a share of the reference, or an amount in the "
        "unit of the metric, whichever is larger.",
        table(["of flows", *_MEASURE], [_measure(m) for m in metrics.MEASURES]),
        table(["of links", *_MEASURE], [_measure(m) for m in metrics.LINK_MEASURES]),
    ]
    for module, functions in _metrics().items():
        parts.append(f"## {module.rpartition('.')[2].capitalize()}")
        for name, function in functions.items():
            parts += [f"### {name}", _call(name, function), _metric_doc(function)]
    return "\n\n".join(parts)


_MEASURE = ["unit", "better", "margin", "meaning"]


def _measure(measure: Any) -> list[str]:
    return [f"`{measure.name}`", measure.unit, measure.better, str(measure.margin), measure.meaning]


def _after(function: Any, mark: str) -> str:
    """Return the text of a function's docstring after the first `mark`."""
    return (inspect.getdoc(function) or "").partition(mark)[2]


def _measures(measures: Iterable[Any]) -> list[list[str]]:
    return [[f"`{measure.name}`", measure.unit, measure.meaning] for measure in measures]


def _metrics() -> dict[str, dict[str, Any]]:
    """Functions with a formula, by the module that they are of."""
    from fullpipe import metrics

    found: dict[str, dict[str, Any]] = {}
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if inspect.isfunction(function) and "\nFormula: " in (inspect.getdoc(function) or ""):
            found.setdefault(function.__module__, {})[name] = function
    return dict(sorted(found.items()))


def _call(name: str, function: Any) -> str:
    """Signature of a function, without types: units are in the names."""
    bare = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
    return f"`{name}{inspect.Signature(bare)}`"


def _metric_doc(function: Any) -> str:
    """A docstring without its example; formula, source and the parts of the signature begin paragraphs."""
    text = re.split(r"\n>>>", inspect.getdoc(function) or "")[0]
    text = re.sub(r"^(Formula|Source): ", r"\n**\1**: ", text, flags=re.MULTILINE)
    text = re.sub(r"^(Args|Returns|Raises):\n", r"\n**\1**:\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"^    (\w+): ", r"- `\1`: ", text, flags=re.MULTILINE)
    return re.sub(r"^ {4,}", "  ", text, flags=re.MULTILINE).strip()


def project_page(name: str) -> str:
    """A page of the repository's root, with its links adapted to the site."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
    return re.sub(r"\]\(([A-Z]+\.md)", lambda link: link[0].lower(), text)


def pages() -> dict[str, str]:
    """Path of each page, below the folder of the documentation, and its text."""
    from fullpipe.scenario import catalogue

    of_root = {f"{name.lower()}.md": project_page(f"{name}.md") for name in OF_ROOT}
    reference = {
        "reference/results.md": results_page(),
        "reference/scenario.md": scenario_page(),
        "reference/annotated-scenario.md": annotated_page(),
        "reference/cli.md": cli_page(),
        "reference/algorithms.md": algorithms_page(),
        "reference/queues.md": queues_page(),
        "reference/links.md": links_page(),
        "reference/conformance.md": conformance_page(),
        "reference/metrics.md": metrics_page(),
        "reference/plan.md": plan_page(),
    }
    algorithms = {f"reference/algorithms/{name}.md": algorithm_page(name) for name in catalogue.controllers()}
    return of_root | {"gallery.md": gallery.page()} | reference | algorithms | module_pages()
