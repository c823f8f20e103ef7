"""A small real data set: 22 answers of RAG systems that people have judged. See NOTICE beside this file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def answers() -> list[dict[str, Any]]:
    """The rows: question, contexts, answer, for eight of them a reference, and `human`, what people said of them."""
    text = (files(__name__) / "answers.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
