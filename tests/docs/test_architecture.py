"""The plan that ARCHITECTURE.md shows has the fields of a plan."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from fullpipe import Scenario
from fullpipe.engines.native.plan import plan

ROOT = Path(__file__).resolve().parent.parent.parent


def documented() -> dict[str, Any]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```jsonc\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = json.loads(re.sub(r"//.*", "", block))
    return found


def fields(of: dict[str, Any]) -> dict[str, set[str]]:
    flow = of["flows"][0]
    parts = {"plan": of, "link": of["links"][0], "flow": flow, "tcp": flow["tcp"], "record": of["record"]}
    return {name: set(part) for name, part in parts.items()}


def test_the_plan_of_the_documentation_has_the_fields_of_a_plan() -> None:
    assert fields(documented()) == fields(plan(Scenario.named("single-reno")))
