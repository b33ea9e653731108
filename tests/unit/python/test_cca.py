"""Algorithms written in Python: what they are told, what they may say, and whose code runs when."""

import math
import os
import py_compile
import re
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benches.python_algorithms import RenoPerAck
from fullpipe import Run, Scenario, algorithms, sweeps
from fullpipe import run as run_once
from fullpipe.algorithms import Ack, Controller, Episode, Undo
from fullpipe.algorithms import Path as PathView
from fullpipe.errors import EngineError, ScenarioError
from fullpipe.runs import Store

Cli = Callable[..., Any]
TALLY = count(10)
"""Source of numbers that differ between instances."""


class Reno(Controller):
    """Reno by the law."""

    slow_start = 1.0
    increase = 1.0
    beta: float = 0.5

    def on_congestion(self, episode: Episode, path: PathView) -> None:
        if episode.first:
            self.ssthresh = self.cwnd * self.beta


def run(scenario: Scenario, algorithm: object, seed: int = 1, **values: Any) -> Run:
    return run_once(scenario.with_values({"flows.0.cca": algorithm, **values}), seed)


@pytest.mark.parametrize("algorithm", [Reno, RenoPerAck])
def test_reno_in_python_is_reno(ten: Scenario, algorithm: type[Controller]) -> None:
    native, python = run(ten, "reno"), run(ten, algorithm)
    assert native.flows["retransmitted_packets"][0] > 0
    assert python.series.equals(native.series)
    assert python.flows.drop("cca").equals(native.flows.drop("cca"))


def test_sixteen_flows_of_python_reno_are_sixteen_of_reno() -> None:
    """The dumbbell of the first study, for five seconds."""
    values = {"topology.bottleneck.queue.packets": 100, "duration": "5 s", "flows.0.name": "it"}
    study = Scenario.named("kato2025").with_values(values)
    assert run(study, Reno).series.equals(run(study, "reno").series)


def test_a_round_trip_is_one_call(ten: Scenario) -> None:
    calls: list[Ack] = []

    class Watcher(Reno):
        def on_ack(self, ack: Ack, path: PathView) -> None:
            calls.append(ack)

    made = run(ten, Watcher)
    rounds = 10 / made.flows["rtt_mean_s"][0]
    assert 0.7 * rounds < len(calls) < 1.4 * rounds
    assert all(ack.rtt_min_s <= ack.rtt_mean_s <= ack.rtt_max_s for ack in calls if ack.rtts)  # type: ignore[operator]
    delivered = sum(ack.acked for ack in calls)
    sent = made.flows["sent_packets"][0] - made.flows["lost_packets"][0]
    assert delivered == pytest.approx(sent, rel=0.02)


def test_per_ack_is_a_call_for_every_ack(ten: Scenario) -> None:
    calls: list[int] = []

    class Watcher(Reno):
        per_ack = True

        def on_ack(self, ack: Ack, path: PathView) -> None:
            calls.append(ack.acks)

    run(ten, Watcher)
    assert len(calls) > 1000
    assert set(calls) == {1}


def test_the_window_of_the_transport_reaches_the_class(ten: Scenario) -> None:
    windows: list[tuple[float, float]] = []

    class Watcher(Reno):
        def on_recovery_exit(self, path: PathView) -> None:
            windows.append((self.cwnd, self.ssthresh))

    run(ten, Watcher)
    assert windows
    assert all(cwnd <= ssthresh for cwnd, ssthresh in windows)  # reduced by the transport


def test_a_pacing_rate_is_kept(ten: Scenario) -> None:
    class Paced(Controller):
        owns_recovery = True
        needs_pacing = True
        state = "Cruise"
        cwnd = 100
        pacing_bps = 5e6
        traced: ClassVar = {"pacing_bps": "bit/s"}

    made = run(ten, Paced, **{"record.variables": True})
    assert made.flows["goodput_bps"][0] == pytest.approx(5e6, rel=0.05)
    values = made.variables.filter(made.variables["name"] == "pacing_bps")["value"]
    assert set(values) == {5e6}
    assert "Cruise" in set(made.variables["state"])


def test_a_model_of_the_path_can_be_written(small: Scenario) -> None:
    """Pace at the fastest rate seen, probe a little, keep two bandwidth-delay products: what BBR does."""

    class Model(Controller):
        owns_recovery = True
        needs_pacing = True
        slow_start = 1.0
        packets_per_s = 0.0
        rounds = 0

        def on_ack(self, ack: Ack, path: PathView) -> None:
            if ack.rate is None or ack.rate.packets_per_s is None or path.min_rtt_s is None:
                return
            grown = ack.rate.packets_per_s > 1.25 * self.packets_per_s
            self.packets_per_s = max(0.98 * self.packets_per_s, ack.rate.packets_per_s)
            if not grown and self.ssthresh == math.inf:
                self.ssthresh = self.cwnd  # the pipe is full
            self.rounds += 1
            gain = 2.0 if self.ssthresh == math.inf else (1.25, 0.75, 1, 1)[self.rounds % 4]
            self.pacing_bps = gain * self.packets_per_s * path.mss * 8
            if self.ssthresh < math.inf:
                self.cwnd = max(4, 2 * self.packets_per_s * path.min_rtt_s)

    deep = {"topology.bottleneck.queue.packets": 200, "duration": "10 s", "warmup": "2 s"}
    model, reno = run(small, Model, **deep), run(small, "reno", **deep)
    assert model.flows["goodput_bps"][0] > 0.9 * reno.flows["goodput_bps"][0]
    assert model.flows["rtt_mean_s"][0] < 0.5 * reno.flows["rtt_mean_s"][0]


def test_every_event_reaches_the_class_that_defines_it(ten: Scenario) -> None:
    told: set[str] = set()

    class Hears(Reno):
        watches_sends = True

        def on_established(self, path: PathView) -> None:
            told.add("established")

        def on_lost(self, lost: algorithms.LostPacket, path: PathView) -> None:
            told.add("lost")

        def on_congestion(self, episode: Episode, path: PathView) -> None:
            super().on_congestion(episode, path)
            told.add(episode.kind)

        def on_recovery_exit(self, path: PathView) -> None:
            told.add("recovery_exit")

        def on_send(self, sent: algorithms.Sent, path: PathView) -> None:
            told.add("send")

    heard, plain = run(ten, Hears), run(ten, Reno)
    assert told >= {"established", "lost", "loss", "recovery_exit", "send"}
    assert heard.series.equals(plain.series)  # to listen changes nothing


def test_a_class_may_be_swept(ten: Scenario) -> None:
    swept = Scenario(**{**ten.to_dict(), "sweep": {"flows.0.cca": [Reno, "reno"]}})
    runs = sweeps.run(sweeps.jobs(swept))
    assert [r.flows["cca"][0] for r in runs] == [algorithms.name(Reno), "reno"]


def test_a_wakeup_comes_when_it_was_asked_for(ten: Scenario) -> None:
    times: list[float] = []

    class Alarm(Reno):
        wakeup_s = 0.5

        def on_wakeup(self, path: PathView) -> None:
            times.append(path.now_s)
            assert self.wakeup_s is None
            self.wakeup_s = path.now_s + 1

    run(ten, Alarm)
    assert times[:3] == pytest.approx([0.5, 1.5, 2.5], abs=1e-6)


def test_undo_takes_the_window_back_unless_overridden() -> None:
    assert "on_undo" not in Reno.__dict__
    broken = algorithms.judge(Reno, cases=30)
    assert not broken, broken[0]


def test_the_seed_decides_what_is_drawn(ten: Scenario) -> None:
    class Dice(Reno):
        def on_ack(self, ack: Ack, path: PathView) -> None:
            self.increase = self.rng.choice([0.5, 1.0, 2.0])

    runs = [run(ten, Dice, seed, **{"flows.0.start_jitter": "0 s"}) for seed in (1, 1, 2)]
    assert runs[0].series.equals(runs[1].series)
    assert not runs[0].series.equals(runs[2].series)


def test_threads_change_nothing(ten: Scenario) -> None:
    scenario = ten.with_values({"flows.0.cca": RenoPerAck, "duration": "3 s"})
    jobs = sweeps.jobs(scenario, range(1, 5))
    one, four = sweeps.run(jobs), sweeps.run(jobs, workers=4)
    assert all(a.series.equals(b.series) for a, b in zip(one, four, strict=True))


class TestParameters:
    def test_they_are_what_the_class_annotates(self, ten: Scenario) -> None:
        gentle = run(ten, {"kind": Reno, "beta": 0.8})
        assert gentle.series.equals(run(ten, {"kind": "reno", "beta": 0.8}).series)

    @pytest.mark.parametrize(
        ("params", "word"), [({"bta": 0.8}, r': .*"bta"'), ({"beta": "much"}, r"\.beta: ")]
    )
    def test_others_are_refused_where_they_stand(
        self, ten: Scenario, params: dict[str, Any], word: str
    ) -> None:
        with pytest.raises(ScenarioError, match=rf"flows\[0\]\.cca{word}"):
            ten.with_values({"flows.0.cca": {"kind": Reno, **params}})


MINE = """
from pathlib import Path
from fullpipe.algorithms import Controller

Path(__file__).with_name("imported").touch()

class Mine(Controller):
    slow_start = 1.0
    increase = 1.0

    def on_congestion(self, episode, path):
        self.ssthresh = self.cwnd * 0.5
"""


@pytest.fixture
def theirs(tmp_path: Path, small: Scenario, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A scenario file that names a class in a module beside it, which leaves a trace when it is imported."""
    (tmp_path / "their_module.py").write_text(MINE, encoding="utf-8")
    scenario = small.with_values({"flows.0.cca": "python:their_module:Mine"})
    (tmp_path / "theirs.toml").write_text(scenario.to_toml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path / "theirs.toml"
    sys.modules.pop("their_module", None)
    algorithms.classes._known.pop("python:their_module:Mine", None)  # type: ignore[attr-defined]


def was_imported(file: Path) -> bool:
    return file.with_name("imported").exists() or "their_module" in sys.modules


class TestTrust:
    def test_a_file_is_refused_and_nothing_imported(self, theirs: Path, fullpipe: Cli) -> None:
        result = fullpipe("run", theirs)
        assert result.exit_code == 2
        assert "flows[0].cca" in result.output
        assert "--allow-python" in result.output
        assert not was_imported(theirs)

    def test_it_can_be_read_and_shown(self, theirs: Path, fullpipe: Cli) -> None:
        result = fullpipe("show", theirs)
        assert result.exit_code == 0
        assert "python:their_module:Mine" in result.output
        assert Scenario.from_file(theirs).digest
        assert not was_imported(theirs)

    def test_with_permission_it_runs(self, theirs: Path, fullpipe: Cli) -> None:
        result = fullpipe("run", theirs, "--allow-python", "--no-store")
        assert result.exit_code == 0, result.output
        assert was_imported(theirs)

    def test_the_source_is_run_and_not_bytecode_of_the_same_size_and_second(self, theirs: Path) -> None:
        file, kind = theirs.with_name("their_module.py"), "python:their_module:Mine"
        os.utime(file, (1e9, 1e9))
        py_compile.compile(str(file))
        file.write_text(MINE.replace("increase = 1.0", "increase = 3.0"), encoding="utf-8")
        os.utime(file, (1e9, 1e9))
        sys.path.insert(0, str(theirs.parent))
        algorithms.import_class(kind)
        assert algorithms.classes.find(kind).increase == 3.0  # type: ignore[attr-defined,union-attr]

    def test_the_api_wants_permission_too(self, theirs: Path) -> None:
        scenario = Scenario.from_file(theirs)
        with pytest.raises(EngineError, match="allow_python=True"):
            run_once(scenario)
        assert not was_imported(theirs)
        sys.path.insert(0, str(theirs.parent))
        made = run_once(scenario, allow_python=True)
        assert made.flows["flow"].to_list() == ["Mine-1"]

    def test_what_cannot_be_imported_is_a_mistake_in_the_scenario(self, theirs: Path, fullpipe: Cli) -> None:
        result = fullpipe("run", theirs, "--set", "flows.0.cca=python:no_such_module:X", "--allow-python")
        assert result.exit_code == 2
        assert "no_such_module" in result.output

    def test_a_parameter_replaces_no_other_with_a_longer_name(self, theirs: Path, fullpipe: Cli) -> None:
        text = MINE.replace(
            "increase = 1.0", "increase = 1.0\n    target: float = 1.0\n    target_s: float = 1.0"
        )
        theirs.with_name("their_module.py").write_text(text, encoding="utf-8")
        cca = {"kind": "python:their_module:Mine", "target_s": 2.0}
        given = Scenario.from_file(theirs).with_values({"flows.0.cca": cca})
        theirs.write_text(given.to_toml(), encoding="utf-8")
        result = fullpipe("run", theirs, "--allow-python", "--set", "flows.0.cca.target=3.0", "--out", "made")
        assert result.exit_code == 0, result.output
        (run,) = Store(Path("made"))
        assert run.scenario.flows[0].cca.params == {"target_s": 2.0, "target": 3.0}

    @pytest.mark.parametrize("name", ["python:", "python:os", "python:os:system()", "python:a b:C"])
    def test_names_that_are_none_are_refused(self, small: Scenario, name: str) -> None:
        with pytest.raises(ScenarioError, match="not the name of a class"):
            small.with_values({"flows.0.cca": name})

    def test_a_failure_says_so_on_the_command_line(self, theirs: Path, fullpipe: Cli) -> None:
        module = theirs.with_name("their_module.py")
        module.write_text(MINE.replace("self.cwnd * 0.5", "self.cwnd * nonsense"), encoding="utf-8")
        words = ("--allow-python", "--no-store", "--set", "duration=5 s", "--seeds", 3)
        result = fullpipe("run", theirs, *words)
        assert result.exit_code == 1
        (line,) = result.stderr.splitlines()
        number = 1 + next(
            n for n, text in enumerate(module.read_text("utf-8").splitlines()) if "nonsense" in text
        )
        assert line.startswith("fullpipe: 3 of 3 runs failed, the first with seed 1: ")
        assert f"their_module.py:{number}: NameError: name 'nonsense' is not defined; in on_" in line
        assert "failed at" in line

    def test_failures_of_one_line_with_other_numbers_are_alike(self, theirs: Path, fullpipe: Cli) -> None:
        text = MINE.replace("from pathlib", "from time import monotonic_ns\nfrom pathlib", 1)
        text += "        raise ValueError(f'{monotonic_ns()} is too much')\n"
        theirs.with_name("their_module.py").write_text(text, encoding="utf-8")
        words = ("--allow-python", "--no-store", "--set", "duration=5 s", "--seeds", 3, "--jobs", 3)
        (line,) = fullpipe("run", theirs, *words).stderr.splitlines()
        assert line.startswith(
            "fullpipe: 3 of 3 runs failed, the first with seed 1: their_module.py:14: ValueError: "
        )


class TestStore:
    def test_a_run_is_found_again(self, theirs: Path, tmp_path: Path) -> None:
        sys.path.insert(0, str(theirs.parent))
        first = run_once(Scenario.from_file(theirs), out=tmp_path / "runs", allow_python=True)
        again = run_once(Scenario.from_file(theirs), out=tmp_path / "runs", allow_python=True)
        assert first.meta.started == again.meta.started
        assert first.meta.engine.code

    def test_another_source_is_another_run(self, theirs: Path, tmp_path: Path) -> None:
        from fullpipe.engines import engine, identity

        sys.path.insert(0, str(theirs.parent))
        scenario = Scenario.from_file(theirs)
        run_once(scenario, out=tmp_path / "runs", allow_python=True)
        theirs.with_name("their_module.py").write_text(MINE + "\n# edited\n", encoding="utf-8")
        sys.modules.pop("their_module")
        algorithms.classes._known.pop("python:their_module:Mine")  # type: ignore[attr-defined]
        algorithms.import_class("python:their_module:Mine")
        store = Store(tmp_path / "runs")
        assert store.find(scenario, identity(engine("native"), scenario), 1) is None

    def test_a_class_without_a_file_is_never_taken_from_the_store(self, ten: Scenario) -> None:
        names: dict[str, Any] = {"__name__": "nowhere", "Controller": Controller}
        exec("class Loose(Controller): slow_start = 1.0", names)
        kind = algorithms.name(names["Loose"])
        assert algorithms.fingerprint(kind) != algorithms.fingerprint(kind)


class TestKit:
    def test_reno_holds_all_invariants_per_ack_too(self) -> None:
        assert not algorithms.judge(RenoPerAck, cases=30)

    def test_a_fault_is_found(self) -> None:
        class Grows(Controller):
            per_ack = True

            def on_ack(self, ack: Ack, path: PathView) -> None:
                self.cwnd += 1

        assert any("unused window" in line for line in algorithms.judge(Grows, cases=20))

    def test_a_finding_names_attributes_and_what_to_do(self) -> None:
        class Grows(Controller):
            per_ack = True

            def on_ack(self, ack: Ack, path: PathView) -> None:
                self.cwnd += 1

        found = [line for line in algorithms.judge(Grows, cases=40) if "unused window" in line]
        pattern = (
            r"an unused window does not grow: cwnd went from \d+ to \d+, after an ACK with ack\.acked = \d+, "
            r"ack\.lost = \d+, .*path\.cwnd_limited = False; "
            r"let cwnd grow only if ack\.may_grow and path\.cwnd_limited"
        )
        assert found
        assert all(re.fullmatch(pattern, line) for line in found)

    def test_an_attribute_that_makes_no_sense_is_a_finding(self) -> None:
        class Sums(Controller):
            def on_congestion(self, episode: Episode, path: PathView) -> None:
                self.cwnd = 2e7

        found = algorithms.judge(Sums, cases=40)
        assert found
        assert all(
            line.startswith("cwnd is 20000000; it must be from 1 to 10,000,000 packets; in on_congestion at ")
            for line in found
        )

    @pytest.mark.parametrize("hook", ["__init__", "on_established", "on_ack", "on_undo"])
    def test_an_exception_is_a_finding_with_its_place(self, hook: str) -> None:
        def fails(self: Controller, *_: object) -> None:
            raise RuntimeError("one\ntwo")

        found = algorithms.judge(type("Fails", (Reno,), {hook: fails}), cases=40)
        assert found
        start = (
            f"RuntimeError: one two (line {fails.__code__.co_firstlineno + 1} of {__file__}); in {hook} at "
        )
        assert all(line.startswith(start) for line in found)

    def test_an_interrupt_is_none(self) -> None:
        class Interrupted(Controller):
            def on_ack(self, ack: Ack, path: PathView) -> None:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            algorithms.judge(Interrupted, cases=40)

    @pytest.mark.parametrize(
        ("invariant", "faulty"),
        [
            ("variables are finite, each named once", {"traced": {"gain": ""}, "gain": math.nan}),
            (
                "same seed and events, same outcome",
                {"on_ack": lambda self, ack, path: setattr(self, "cwnd", next(TALLY))},
            ),
            (
                "a repeated timeout does not reduce again",
                {"on_congestion": lambda self, e, p: setattr(self, "ssthresh", 2)},
            ),
            (
                "undo restores the window and the threshold",
                {"on_undo": lambda self, u, p: setattr(self, "cwnd", 1)},
            ),
        ],
    )
    def test_what_a_class_can_break_comes_with_what_to_do(
        self, invariant: str, faulty: dict[str, Any]
    ) -> None:
        found = [
            line for line in algorithms.judge(type("Faulty", (Reno,), faulty), cases=100) if invariant in line
        ]
        assert found
        assert all(line.endswith(algorithms.controller._REMEDIES[invariant]) for line in found)  # type: ignore[attr-defined]
        assert not any("{" in line or "Some(" in line for line in found)

    def test_what_is_no_algorithm_and_an_unknown_parameter_are_refused(self) -> None:
        with pytest.raises(TypeError, match=r"not a subclass of fullpipe\.algorithms\.Controller"):
            algorithms.judge(int)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match='unknown parameter "betta" of Reno; did you mean "beta"'):
            algorithms.judge(Reno, betta=0.5)

    def test_round_trips_are_those_of_reno(self) -> None:
        snapshot = Path(__file__).parents[3] / "crates/congestion/tests/snapshots/rounds__reno.snap"
        assert snapshot.read_text(encoding="utf-8").endswith(algorithms.round_trips(Reno).rstrip("\n") + "\n")


def test_events_can_be_made_for_tests() -> None:
    ack = Ack(acked=2, rtt_s=0.04)
    assert (ack.acked, ack.acks, ack.rate) == (2, 1, None)
    assert Undo(prior_cwnd=7).prior_cwnd == 7
