"""`fullpipe flent`: runs a test of Flent on a simulated path."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files
from fullpipe.api import run as run_one
from fullpipe.cli import tables
from fullpipe.cli.asked import read_scenario, values_of
from fullpipe.cli.forms import Form
from fullpipe.cli.jobs import check_all
from fullpipe.cli.output import echo
from fullpipe.cli.shared import Assignments, Out, seconds_of, target
from fullpipe.scenario import Scenario
from fullpipe.scenario.flent.build import (
    COUNTED,
    DEFAULT,
    PRESETS,
    Choices,
    declared,
    path_of,
    scenario_of,
    with_streams,
)
from fullpipe.scenario.flent.families import DELAY_S, LENGTH_S, FlentTest
from fullpipe.scenario.quantities import MAX_SEED
from fullpipe.sweeps import Outcome, jobs

MOST_STREAMS = 1_000
_KERNEL = {"bbr1": "bbr", "bbr2": "bbr2", "bbr3": "bbr"}
"""Linux names of the algorithms that have another name in Linux."""


class Qdisc(StrEnum):
    """Queue disciplines for the network card of the test host."""

    fq = "fq"
    fq_codel = "fq_codel"
    cake = "cake"


def flent(
    test: Annotated[str, typer.Argument(metavar="TEST", help="A name from `fullpipe list flent-tests`.")],
    path: Annotated[
        str,
        typer.Option(
            metavar="PRESET|SCENARIO",
            help=f"Scenario whose path is used: {', '.join(PRESETS)}, another name, or a TOML file.",
        ),
    ] = DEFAULT,
    cca: Annotated[
        str, typer.Option(metavar="NAMES", help="Algorithms of the streams in turn, as in cubic,bbr3.")
    ] = "cubic",
    server_cca: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Algorithm of the server, for downloads (default: as given by --cca)."
        ),
    ] = None,
    qdisc: Annotated[
        Qdisc | None,
        typer.Option(help="Queue at the test host's network card (default: as in the scenario of --path)."),
    ] = None,
    streams: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_STREAMS,
            metavar="N",
            help="Number of streams of tcp_nup and tcp_ndown, of stream pairs of rrul_var, or of servers of"
            " rtt_fair_var.",
        ),
    ] = None,
    length: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Duration of the streams. Pings begin 5 s earlier and end 5 s later."
        ),
    ] = f"{LENGTH_S:g} s",
    extra_rtt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="Extra RTT of a server of rtt_fair. Repeat the option for every server, in their order.",
        ),
    ] = None,
    assignments: Assignments = None,
    engine: Annotated[str, typer.Option(help="Engine that runs the test.", metavar="NAME")] = "native",
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, metavar="N", help="Seed of the run.")] = 1,
    out: Out = Path("runs"),
    file: Annotated[
        Path | None,
        typer.Option("-o", parser=target, metavar="FILE", help="Also write a .flent.gz that Flent opens."),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title of the .flent.gz.")] = "",
    print_command: Annotated[
        bool,
        typer.Option(
            "--print-command", help="Print the command for Flent on real hosts without running a test."
        ),
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the scenario without running it.")] = False,
) -> None:
    """Start and end times, packet markings and names of series are those of Flent's own tests."""
    chosen = _with_streams(declared(test), streams)
    algorithms = [name.strip() for name in cca.split(",") if name.strip()]
    if not algorithms:
        raise typer.BadParameter("name at least one algorithm, as in cubic,bbr3", param_hint="--cca")
    length_s = seconds_of(length, "--length") or LENGTH_S
    if print_command:
        echo(_command(chosen, algorithms, qdisc, length_s, title))
        return
    choices = Choices(algorithms, server_cca, length_s, [_ms(text) for text in extra_rtt or ()])
    queue = {"kind": qdisc.value} if qdisc else None
    made = scenario_of(chosen, path_of(read_scenario(path), queue), choices)
    scenario = made.with_values(values_of(assignments or [], None))
    if show:
        echo(scenario.to_toml(), nl=False)
        return
    _run(scenario, engine, seed, out, file, title)


def _run(scenario: Scenario, engine: str, seed: int, out: Path, file: Path | None, title: str) -> None:
    from fullpipe.analysis.export import flent as as_file  # imported here, as --print-command needs no run

    (job,) = jobs(scenario, [seed], engine)
    check_all([job])
    run = run_one(scenario, engine=engine, seed=seed, out=out)
    tables.show([Outcome(job, run)], (), Form.TABLE)
    if file is not None:
        files.write(file, as_file(run, title))
        echo(file)


def _with_streams(test: FlentTest, streams: int | None) -> FlentTest:
    if streams is None:
        return test
    found = with_streams(test, streams)
    if found is test:
        raise typer.BadParameter(
            f"applies only to tcp_nup, tcp_ndown, {', '.join(COUNTED[2:])}; leave it out for other tests",
            param_hint="--streams",
        )
    return found


def _ms(text: str) -> float:
    if text.split(maxsplit=1)[0] in ("0", "0s", "0ms"):
        return 0.0
    return (seconds_of(text, "--extra-rtt") or 0.0) * 1e3


def _command(test: FlentTest, ccas: list[str], qdisc: Qdisc | None, length_s: float, title: str) -> str:
    """Command that runs the test on real hosts. The user replaces the words in capitals, such as SERVER."""
    known = list(dict.fromkeys(_KERNEL.get(name, name) for name in ccas))
    words: list[Any] = ["flent", test.name, "-l", f"{length_s:g}", "-D", f"{DELAY_S:g}"]
    words += [
        word
        for n in range(1, test.hosts + 1)
        for word in ("-H", f"SERVER{n}" if test.hosts > 1 else "SERVER")
    ]
    if test.name in COUNTED:
        parameters = [f"{key}={value}" for key, value in test.parameters.items()]
        words += [word for each in parameters for word in ("--test-parameter", each)]
    one = [f"tcp_cong_control={known[0]}"] if len(known) == 1 else [f"cc_algos={','.join(known)}"]
    words += ["--test-parameter", *one, "--socket-stats", "-t", title or " ".join(known)]
    line = shlex.join([*words, "-p", test.plot, "-o", f"{test.name}.png"])
    set_up = f"tc qdisc replace dev IFACE root {qdisc}\n" if qdisc else ""
    return f"{set_up}{line}"
