"""`fullpipe ui`: serves a web page to one user. See docs/explanation/ui.md."""

from __future__ import annotations

import ipaddress
import socket
import sys
import warnings
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.output import complain, echo
from fullpipe.cli.shared import AllowPython, LabelOption, Out, target
from fullpipe.errors import FolderError, MissingExtraError

__all__ = ["ui"]


_LOOPBACK = "127.0.0.1"
_NAMES = ("127.0.0.1", "localhost")
"""IPv4 names of this machine that only this machine can reach."""


def ui(
    store: Annotated[
        Path | None, typer.Argument(parser=target, metavar="STORE", help="The store; overrides --out.")
    ] = None,
    out: Out = Path("runs"),
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address without opening a browser.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Addresses other than 127.0.0.1, ::1 and localhost need --expose.",
        ),
    ] = _LOOPBACK,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="N", help="Port to listen on; 0 selects a free port.")
    ] = 0,
    expose: Annotated[
        bool, typer.Option("--expose", help="Let other machines reach the page, without encryption.")
    ] = False,
    allow_python: AllowPython = False,
    label: LabelOption = None,
) -> None:
    """The command prints a one-time address and serves the page until you press Ctrl-C. Without `--expose`,
    only this machine can open the page.
    """
    try:
        from fullpipe.cli.ui.application import guarded
        from fullpipe.cli.ui.guard import Limits, server_of
    except ImportError as error:
        told = f"the page needs {error.name}; install it with: python -m pip install starlette uvicorn"
        raise MissingExtraError(told) from None
    labels = _labels(label or ())
    if host not in (*_NAMES, "::1") and not expose:
        told = f'other machines can reach "{host}", without encryption; add --expose to allow this'
        raise typer.BadParameter(told, param_hint="--host")
    folder = store or out
    if folder.exists() and not folder.is_dir():
        raise FolderError(f"{folder}: is a file; name the folder of stored runs")
    listening = _listening(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"{shown}:{listening.getsockname()[1]}"
    guard = guarded(folder, address, allow_python, labels)
    url = f"http://{address}/?token={guard.token}"
    try:
        echo(url)
        sys.stdout.flush()
        if not no_browser and not webbrowser.open(url):
            complain("note: no browser could be opened; open the address in a browser")
        # After Ctrl-C between the creation and the start of the server's coroutine, asyncio would warn.
        warnings.filterwarnings("ignore", r"coroutine 'Server\.\w+' was never awaited", RuntimeWarning)
        server_of(guard, Limits()).run(sockets=[listening])
    except KeyboardInterrupt:
        complain("stopped; the page is no longer served")
        raise typer.Exit(1) from None


def _labels(texts: Sequence[str]) -> dict[str, str]:
    """The labels that the user gives. The scenarios of the page are not known yet, so that a label is only
    refused if no scenario can have its key."""
    from fullpipe.cli.selection import read_labels  # imported here, as help needs no labels
    from fullpipe.scenario.labels import problem_of

    found = read_labels(texts)
    for key in found:
        if problem := problem_of(key):
            raise typer.BadParameter(f"{key}: {problem}", param_hint="--label")
    return found


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # before the address is printed, so that an early request waits
    except OSError as error:
        listening.close()
        raise FolderError(f"{host}:{port}: cannot listen on it: {error.strerror or error}") from error
    bound = ipaddress.ip_address(listening.getsockname()[0])
    if (getattr(bound, "ipv4_mapped", None) or bound).is_unspecified:
        listening.close()
        told = f'"{host}" means all addresses; give the address of this machine that other machines use'
        raise typer.BadParameter(told, param_hint="--host")
    return listening
