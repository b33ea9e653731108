"""HTTP routes of `fullpipe ui`. Errors are returned as JSON."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from fullpipe.cli.ui.compare import comparison, comparison_report, seeds_of
from fullpipe.cli.ui.export import kept, report_of
from fullpipe.cli.ui.fields import all_studies, catalogue, fields_of, figure, problems_of, study
from fullpipe.cli.ui.guard import Guard, Limits
from fullpipe.cli.ui.inputs import (
    body_of,
    has_room,
    only_own_files,
    package_version,
    question_of,
    scenario_of,
    seconds_of,
    seed_of,
)
from fullpipe.cli.ui.live import Turns, live, means
from fullpipe.cli.ui.stored import KeptRuns
from fullpipe.cli.ui.understood import understood
from fullpipe.errors import FullpipeError, ScenarioError
from fullpipe.scenario import Scenario
from fullpipe.scenario.read.files import named_text

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
_HTTP = "80"
"""The default port of HTTP, which clients leave out of the header `Host` (RFC 9110, section 4.2.1)."""
_Answer = Callable[[Request], Awaitable[Response]]


def guarded(store: Path, address: str, allow_python: bool, labels: Mapping[str, str] | None = None) -> Guard:
    """The application of the page, behind a guard that refuses requests without the token.

    Args:
        store: The folder of finished runs.
        address: Host and port at which the page is served.
        allow_python: Whether scenarios may name the user's own algorithms, whose code then runs.
        labels: Labels of paths, values and groups of flows, in addition to those of the scenarios.
    """
    port = address.rpartition(":")[2]
    hosts = {address, f"127.0.0.1:{port}", f"localhost:{port}"}
    hosts |= {host.rpartition(":")[0] for host in hosts if port == _HTTP}
    return Guard(
        Server(store, allow_python, labels=labels).application(), frozenset(hosts), f"fullpipe-{port}"
    )


class Server:
    """The routes of the page. Between requests, the server keeps no runs except those in the store."""

    def __init__(
        self,
        store: Path,
        allow_python: bool = False,
        limits: Limits | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self._store, self._allow_python, self._labels = store, allow_python, labels or {}
        self._limits = limits or Limits()
        self._turns = Turns(self._limits)
        self._kept = KeptRuns(store, self._labels)

    def application(self) -> Starlette:
        """Return the application. A thread begins to read the store immediately, so that no request waits for
        this."""
        threading.Thread(target=self._kept.prepare, daemon=True).start()
        get = {
            "/": self._page,
            "/static/{name}": self._static,
            "/api/about": self._about,
            "/api/runs": self._runs,
            "/api/run/{digest}/{seed}/{engine}": self._run,
            "/api/run/{digest}/{seed}/{engine}/samples": self._samples,
            "/api/run/{digest}/{seed}/{engine}/packets": self._packets,
            "/api/scenario/{name}": self._named,
            "/api/studies": self._studies,
            "/api/studies/{name}": self._study,
            "/api/studies/{name}/{figure}": self._figure,
        }
        post = {
            "/api/check": self._check,
            "/api/live": self._live,
            "/api/seeds": self._seeds,
            "/api/compare": self._compare,
            "/api/compare/report": self._report_verdicts,
            "/api/keep": self._keep,
            "/api/report": self._report,
            "/api/runs/compare": self._compare_runs,
            "/api/runs/report": self._report_runs,
            "/api/runs/compare/report": self._report_verdicts_of_runs,
        }
        return Starlette(
            routes=[
                *(Route(path, self._told(answer), methods=["GET"]) for path, answer in get.items()),
                *(Route(path, self._told(answer), methods=["POST"]) for path, answer in post.items()),
            ]
        )

    async def _page(self, _: Request) -> Response:
        return _file("index.html")

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _file(name) if name in _static_files() else JSONResponse({"problems": ["no such file"]}, 404)

    async def _about(self, _: Request) -> Response:
        told = await to_thread.run_sync(catalogue)
        return JSONResponse({"version": package_version(), "store": self._store.name, **told})

    async def _check(self, request: Request) -> Response:
        body = await self._body(request)
        return JSONResponse(await to_thread.run_sync(self._checked, body))

    def _checked(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the properties of a scenario, or its errors with their lines in the text."""
        sent = body.get("scenario")
        text = sent if isinstance(sent, str) else ""
        told: dict[str, Any] = {"understood": None, "points": 1, "problems": [], "fields": fields_of(text)}
        try:
            scenario = self._scenario(sent)
            with only_own_files():
                points = scenario.expand() if scenario.sweep else [scenario]
                first = understood(points[0], seed_of(body.get("seed", 1)))
            return {**told, "understood": first, "points": len(points)}
        except ScenarioError as error:
            return {**told, "problems": problems_of(error, text)}

    async def _live(self, request: Request) -> Response:
        body = await self._body(request)
        scenario = await to_thread.run_sync(self._bounded, body.get("scenario"))
        events = live(scenario, seed_of(body.get("seed", 1)), self._limits, self._turns)
        return StreamingResponse(events, media_type="text/event-stream")

    async def _seeds(self, request: Request) -> Response:
        body = await self._body(request)
        seeds = seeds_of(body.get("seeds"), self._limits.seeds)
        scenario = await to_thread.run_sync(self._bounded, body.get("scenario"), seeds)
        events = means(scenario, seeds, self._limits, self._turns)
        return StreamingResponse(events, media_type="text/event-stream")

    async def _compare(self, request: Request) -> Response:
        body = await self._body(request)
        seeds = seeds_of(body.get("seeds"), self._limits.seeds)
        scenarios = await to_thread.run_sync(self._several, body.get("scenarios"), seeds)
        return StreamingResponse(
            comparison(scenarios, seeds, self._limits, self._turns), media_type="text/event-stream"
        )

    async def _keep(self, request: Request) -> Response:
        body = await self._body(request)
        scenarios = await to_thread.run_sync(self._several, body.get("scenarios"))
        seed, runs = seed_of(body.get("seed", 1)), []
        for scenario in scenarios:
            async with self._turns.turn():
                runs.append(await to_thread.run_sync(kept, scenario, seed, self._store, self._limits))
        return JSONResponse({"runs": runs})

    async def _report(self, request: Request) -> Response:
        body = await self._body(request)
        scenarios = await to_thread.run_sync(self._several, body.get("scenarios"))
        seed = seed_of(body.get("seed", 1))
        async with self._turns.turn():
            page = await to_thread.run_sync(report_of, scenarios, seed, self._limits, question_of(body))
        return Response(page, media_type="text/html")

    async def _report_verdicts(self, request: Request) -> Response:
        body = await self._body(request)
        seeds = seeds_of(body.get("seeds"), self._limits.seeds)
        scenarios = await to_thread.run_sync(self._several, body.get("scenarios"), seeds)
        page = await comparison_report(scenarios, seeds, self._limits, self._turns, question_of(body))
        return Response(page, media_type="text/html")

    async def _named(self, request: Request) -> Response:
        return JSONResponse({"toml": named_text(request.path_params["name"])})

    async def _runs(self, request: Request) -> Response:
        asked = {key: request.query_params.getlist(key) for key in request.query_params}
        return JSONResponse(await to_thread.run_sync(self._kept.listed, asked))

    async def _run(self, request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(self._kept.run, *_run_of(request)))

    async def _samples(self, request: Request) -> Response:
        data = await to_thread.run_sync(self._kept.samples, *_run_of(request))
        return Response(data, media_type="application/octet-stream")

    async def _packets(self, request: Request) -> Response:
        since_s = seconds_of(request.query_params.get("from", "0"))
        async with self._turns.turn():
            data = await to_thread.run_sync(self._kept.packets, *_run_of(request), since_s)
        return Response(data, media_type="application/octet-stream")

    async def _compare_runs(self, request: Request) -> Response:
        body = await self._body(request)
        async with self._turns.turn():
            return JSONResponse(await to_thread.run_sync(self._kept.compared, body.get("runs")))

    async def _report_runs(self, request: Request) -> Response:
        return await self._kept_report(request, self._kept.report)

    async def _report_verdicts_of_runs(self, request: Request) -> Response:
        return await self._kept_report(request, self._kept.report_of_verdicts)

    async def _kept_report(self, request: Request, make: Callable[[Any, str], str]) -> Response:
        body = await self._body(request)
        asked = body.get("runs"), question_of(body)
        async with self._turns.turn():
            return Response(await to_thread.run_sync(make, *asked), media_type="text/html")

    async def _studies(self, _: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(all_studies, self._store))

    async def _study(self, request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(study, self._store, request.path_params["name"]))

    async def _figure(self, request: Request) -> Response:
        names = request.path_params["name"], request.path_params["figure"]
        return Response(await to_thread.run_sync(figure, self._store, *names), media_type="image/png")

    def _scenario(self, sent: object) -> Scenario:
        made = scenario_of(sent, self._allow_python)
        return made.model_copy(update={"labels": {**made.labels, **self._labels}}) if self._labels else made

    def _bounded(self, sent: object, times: int = 1) -> Scenario:
        """Return the scenario, or refuse it if `times` runs of the scenario exceed the limits of the page."""
        scenario = self._scenario(sent)
        with only_own_files():
            self._limits.check(scenario, times)
        return scenario

    def _several(self, sent: object, times: int = 1) -> list[Scenario]:
        if not isinstance(sent, list) or not 1 <= len(sent) <= 2:
            raise ScenarioError(["scenarios: expected a list of one or two scenarios"])
        return [self._bounded(each, times * len(sent)) for each in sent]

    def _told(self, answer: _Answer) -> _Answer:
        """A handler that returns the response of `answer`, or an error as JSON with status 400."""

        async def answered(request: Request) -> Response:
            try:
                return await answer(request)
            except FullpipeError as error:
                problems = str(error).split("\n")
            await to_thread.run_sync(has_room, self._limits)  # return the memory of a stopped run
            return JSONResponse({"problems": problems}, 400)

        return answered

    async def _body(self, request: Request) -> dict[str, Any]:
        """The body of a request. Reading stops when the body exceeds its maximum size."""
        data = b""
        async for part in request.stream():
            data += part
            if len(data) > self._limits.body_bytes:
                raise ScenarioError([f"the request is larger than {self._limits.body_bytes:,} bytes"])
        return body_of(data)


def _run_of(request: Request) -> tuple[str, str, str]:
    """Digest, seed and engine of a run, from the path of a request."""
    parts = request.path_params
    return parts["digest"], parts["seed"], parts["engine"]


@cache
def _static_files() -> dict[str, bytes]:
    """The files of the page by name. The files are read once, so a name from a request never becomes a
    path."""
    folder = files("fullpipe.cli.ui") / "static"
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}


def _file(name: str) -> Response:
    suffix = name[name.rindex(".") :]
    return Response(_static_files()[name], media_type=_TYPES.get(suffix, "text/plain"))
