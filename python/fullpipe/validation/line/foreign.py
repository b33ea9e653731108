"""Logs of programs that are not read, told by their lines."""

import re

from fullpipe.errors import InputFileError

READ = (
    "logs of ping and fping, CSV of t,bit/s, iperf3 --json or --json-stream, .flent.gz and captures are read"
)
_HEAD = 10_000
_KINDS = {
    r"^(?:Connecting to host |\[ *(?:ID|SUM|[0-9]{1,4})\](?:\[[TR]X-[CS]\])? )": (
        "the text that iperf prints; run iperf3 --json"
    ),
    r'"(?:irtt|round_trips)" *:|^(?:\[[^\]]{1,100}\] )?seq=[0-9]+ rtt=': (
        "of irtt; ping the server with ping -D beside iperf3 --json"
    ),
    r"\bcwnd:[0-9]+|\brtt:[0-9.]+/[0-9.]+": "of ss; measure with ping -D beside iperf3 --json",
    r"[^\s=]{2,12}=[0-9]{1,5} [^\s=<]{1,12}[=<][0-9]{1,6} ?ms TTL=[0-9]{1,3}\b": (
        "of Windows' ping, which prints whole milliseconds and no times; use fping, or ping -D of Linux"
    ),
}
"""Name of a log that is not read, and the remedy, by a line of it."""


def refuse(text: str, where: object) -> None:
    """Refuse the log of a program that is known not to be read.

    Raises:
        InputFileError: With what it is, what to do instead, and what is read.
    """
    for line, is_of in _KINDS.items():
        if re.search(line, text[:_HEAD], re.MULTILINE):
            raise InputFileError(f"{where}: is {is_of}; {READ}")
