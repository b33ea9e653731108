"""Algorithms written in Python that fail: what is said, and what goes on."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from typing import Any

import pytest

from benches.python_algorithms import Reno
from fullpipe import Run, Scenario, algorithms, sweeps
from fullpipe import run as run_once
from fullpipe.algorithms import Ack, Controller, Episode
from fullpipe.algorithms import Path as PathView
from fullpipe.errors import ControllerError, ScenarioError


def run(scenario: Scenario, algorithm: object, seed: int = 1, **values: Any) -> Run:
    return run_once(scenario.with_values({"flows.0.cca": algorithm, **values}), seed)


def failure(scenario: Scenario, algorithm: type[Controller]) -> ControllerError:
    with pytest.raises(ControllerError) as caught:
        run(scenario, algorithm)
    return caught.value


class TestFailures:
    def test_an_exception_ends_the_run_with_traceback_and_time(self, ten: Scenario) -> None:
        class Divides(Reno):
            def on_congestion(self, episode: Episode, path: PathView) -> None:
                self.ssthresh = self.cwnd / 0

        error = failure(ten, Divides)
        assert isinstance(error.__cause__, ZeroDivisionError)
        assert 0 < error.time_s < 10
        assert (error.flow, error.event) == ("it", "on_congestion")
        for words in ("Divides of flow it failed at", "in on_congestion", "self.ssthresh = self.cwnd / 0"):
            assert words in str(error)
        assert run(ten, Reno).flows.height == 1  # the interpreter and the engine are well

    def test_leaving_the_interpreter_only_ends_the_run(self, ten: Scenario) -> None:
        class Leaves(Reno):
            def on_ack(self, ack: Ack, path: PathView) -> None:
                sys.exit(3)

        assert isinstance(failure(ten, Leaves).__cause__, SystemExit)

    def test_an_interrupt_stays_one(self, ten: Scenario) -> None:
        class Interrupted(Reno):
            def on_ack(self, ack: Ack, path: PathView) -> None:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(ten, Interrupted)

    @pytest.mark.parametrize("cwnd", [math.inf, math.nan, -1, 0, 1e12])
    def test_windows_that_are_none_are_refused(self, ten: Scenario, cwnd: float) -> None:
        class Odd(Reno):
            def on_congestion(self, episode: Episode, path: PathView) -> None:
                self.cwnd = cwnd

        message = str(failure(ten, Odd))
        assert "Odd of flow it failed at" in message
        assert "cwnd is" in message

    @pytest.mark.parametrize(
        ("name", "value"),
        [("ssthresh", -1), ("ssthresh", math.nan), ("increase", -1.0), ("pacing_bps", 0), ("wakeup_s", -1.0)],
    )
    def test_so_are_other_values(self, ten: Scenario, name: str, value: float) -> None:
        class Odd(Reno):
            def on_congestion(self, episode: Episode, path: PathView) -> None:
                setattr(self, name, value)

        assert f"{name} is" in str(failure(ten, Odd))

    def test_a_wakeup_in_the_past_is_refused(self, ten: Scenario) -> None:
        class Stuck(Reno):
            wakeup_s = 0.5

            def on_wakeup(self, path: PathView) -> None:
                self.wakeup_s = path.now_s

        assert "must be in the future" in str(failure(ten, Stuck))

    def test_one_job_that_fails_leaves_the_others_alone(self, ten: Scenario) -> None:
        class Fails(Reno):
            def on_ack(self, ack: Ack, path: PathView) -> None:
                raise RuntimeError("no")

        bad, good = ten.with_values({"flows.0.cca": Fails}), ten.with_values({"flows.0.cca": Reno})
        outcomes = list(sweeps.stream([sweeps.Job(bad, 1), sweeps.Job(good, 1)], workers=2))
        assert isinstance(outcomes[0].error, ControllerError)
        assert outcomes[1].error is None

    @pytest.mark.parametrize("wrong", ["on_acks", "onack", "on_loss_detected", "On_Congestion"])
    def test_a_mistyped_method_is_refused(self, wrong: str) -> None:
        with pytest.raises(TypeError, match=f"Typo.{wrong}: fullpipe calls no method of this name; .*on_"):
            type("Typo", (Reno,), {wrong: lambda self, ack, path: None})

    def test_methods_of_ones_own_are_not(self) -> None:
        mine = ("target", "_on_idle", "ack_rate")
        type("Fine", (Reno,), dict.fromkeys(mine, lambda self: 1))

    def test_a_class_that_is_no_controller_is_refused(self, ten: Scenario) -> None:
        with pytest.raises(ScenarioError, match="not a subclass"):
            ten.with_values({"flows.0.cca": int})

    def test_the_engine_cannot_be_entered_again(self, ten: Scenario) -> None:
        from fullpipe._native import Simulation
        from fullpipe.engines.native.plan import plan

        class Again(Reno):
            def on_ack(self, ack: Ack, path: PathView) -> None:
                held[0].advance(10**10)

        import json

        text = json.dumps(plan(ten.with_values({"flows.0.cca": Again})))
        held = [Simulation(text, 1, {algorithms.name(Again): lambda params, seed: Again(None)})]  # type: ignore[arg-type]
        with pytest.raises(ControllerError, match="finished or running"):
            held[0].advance(10**10)
        with pytest.raises(RuntimeError, match="finished or running"):
            held[0].advance(10**10)


class TestOvertime:
    def test_a_loop_without_end_fails_with_flow_hook_and_limit_and_others_go_on(self, ten: Scenario) -> None:
        class Loops(Reno):
            def on_congestion(self, episode: Episode, path: PathView) -> None:
                while True:
                    try:
                        while True:
                            pass
                    except BaseException as error:  # as careless code does, once
                        if self.beta < 0:
                            raise
                        self.beta = -1.0
                        self.caught = error

        bad, good = ten.with_values({"flows.0.cca": Loops}), ten.with_values({"flows.0.cca": "reno"})
        outcomes = list(
            sweeps.stream([sweeps.Job(bad, 1), sweeps.Job(good, 1)], workers=2, cca_timeout_s=0.2)
        )
        error = outcomes[0].error
        assert isinstance(error, ControllerError)
        assert (error.flow, error.event) == ("it", "on_congestion")
        assert "took longer than the 0.2 s that a call may take" in str(error)
        assert outcomes[1].error is None

    def test_many_short_calls_may_take_longer_together(self, ten: Scenario) -> None:
        class Slow(Reno):
            def on_ack(self, ack: Ack, path: PathView) -> None:
                time.sleep(0.004)

        values = {"flows.0.cca": Slow, "duration": "20 s"}
        begun_s = time.monotonic()
        assert run_once(ten.with_values(values), cca_timeout_s=1).flows.height == 1
        assert time.monotonic() - begun_s > 1

    @pytest.mark.parametrize("limit_s", [0, -1, math.nan, math.inf])
    def test_a_limit_that_is_none_is_refused(self, ten: Scenario, limit_s: float) -> None:
        with pytest.raises(ValueError, match=r"cca_timeout_s: .* is not valid"):
            run_once(ten.with_values({"flows.0.cca": Reno}), cca_timeout_s=limit_s)

    def test_an_import_in_the_thread_is_no_call_into_an_algorithm(self) -> None:
        # numpy is imported when the first tables are made: a process of its own sees it.
        words = (
            "import fullpipe as fp, fullpipe.algorithms\n"
            "class Own(fp.algorithms.Controller):\n"
            "    slow_start = 1.0\n"
            "    increase = 1.0\n"
            "    def on_ack(self, ack, path): pass\n"
            "values = {'flows.0.cca': Own, 'duration': '1 s'}\n"
            "scenario = fp.Scenario.named('single-reno').with_values(values)\n"
            "print(fp.run(scenario, cca_timeout_s=0.05).flows.height)\n"
        )
        done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("1\n", "")

    def test_a_traced_thread_goes_on_after_a_limit(self) -> None:
        words = (
            "import sys\n"
            "from fullpipe.engines.overtime import limited\n"
            "with limited(5.0): pass\n"
            "sys.settrace(lambda *_: None)\n"
            "print(sum(map(lambda n: n, range(3))))\n"
        )
        command = [sys.executable, "-c", words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert (done.stdout, done.stderr) == ("3\n", "")

    def test_whoever_is_told_of_progress_has_no_limit(self, ten: Scenario) -> None:
        waits = iter([1.5])
        scenario = ten.with_values({"flows.0.cca": Reno})
        made = run_once(scenario, progress=lambda _: time.sleep(next(waits, 0)), cca_timeout_s=0.7)
        assert made.flows.height == 1
