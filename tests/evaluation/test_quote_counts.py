"""A run says how many of its verdicts quote what is not in the passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay import OpenAIJudge, Result, ScriptedJudge, evaluate
from tests._support.servers.openai_server import OpenAIServer

ROWS: list[dict[str, Any]] = [
    {"id": "1", "answer": "The lighthouse was lit.", "contexts": ["The lighthouse was lit in 1862."]},
    {"id": "2", "answer": "The harbour was dug.", "contexts": ["The harbour was dug in 1870."]},
    {"id": "3", "answer": "The bridge was built.", "contexts": ["The bridge was built in 1889."]},
    {"id": "4", "answer": "Ann Smith built it.", "contexts": ["Ann Smith built it in 1890."]},
]
SENTENCE = "quotes not found: in 1 of 4 verdicts with quotes (25%); they are no evidence"


def test_the_share_of_verdicts_whose_quotes_are_not_found(tmp_path: Path) -> None:
    """The judge reads and quotes [name] where a mask stands for Ann Smith: that stands in no passage."""
    with OpenAIServer() as server:
        judge = OpenAIJudge("fake", base_url=server.base_url, mask=lambda text: text.replace("Ann Smith", "[name]"))
        result = evaluate(ROWS, "faithfulness", judge, store=tmp_path, progress=False)
    for found in (result, Result.load("last", tmp_path)):
        assert found.to_dict()["quotes"] == {"verdicts": 4, "unlocated": 1}
        assert SENTENCE in " ".join(str(found).split())
    assert json.loads(json.dumps(result.to_dict()))["quotes"]["unlocated"] == 1
    assert Result.load("last", tmp_path).cluster_by("language").quotes.verdicts == 4


def test_a_run_whose_quotes_are_all_found_says_nothing(tmp_path: Path) -> None:
    result = evaluate(ROWS, "faithfulness", ScriptedJudge(), store=tmp_path, progress=False)
    assert "quotes not found" not in str(result)
