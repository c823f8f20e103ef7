"""What the workers of these tests are given: functions of a module, since processes start from nothing."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path

from assay.judges import BaseJudge
from assay.judges.resolve import resolve_judge
from assay.judges.scripted_judge import ScriptedJudge


def write(path: Path, count: int, start: int = 0) -> Path:
    """Rows whose faithfulness is n % 4 / 4: so many of their four sentences stand in the context."""
    with path.open("a", encoding="utf-8") as file:
        for n in range(start, start + count):
            said = [f"Thing {n} has part {part}." for part in range(4)]
            row = {
                "id": f"row-{n}",
                "question": f"What has thing {n}?",
                "contexts": [" ".join(said[: n % 4]) or "Nothing."],
                "answer": " ".join(said),
            }
            file.write(json.dumps(row) + "\n")
    return path


def support(claim: str, passage: str) -> str:
    return "supported" if claim in passage else "not_mentioned"


def judge() -> BaseJudge:
    return ScriptedJudge(support=support)


def _deadly(thing: str, claim: str, passage: str) -> str:
    if thing in claim:
        os.kill(os.getpid(), signal.SIGKILL)
    return support(claim, passage)


def deadly() -> BaseJudge:
    """Dies over the row of thing 7."""
    return ScriptedJudge(support=partial(_deadly, "Thing 7 "))


def always_deadly() -> BaseJudge:
    return ScriptedJudge(support=partial(_deadly, "Thing "))


def asking(base_url: str) -> BaseJudge:
    """An LLM judge over a server of the tests."""
    return resolve_judge("openai:fake", base_url=base_url, api_key="none")
