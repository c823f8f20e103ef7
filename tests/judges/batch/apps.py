"""What runs in a process that is killed: an evaluation through batches, and what it found."""

from __future__ import annotations

import json
from pathlib import Path

from assay import evaluate
from assay.judges.batch.judge import AnthropicBatchJudge, OpenAIBatchJudge
from tests.evaluation.test_llm_evaluation import row

METRICS = ["faithfulness", "context_precision", "context_recall"]
ROWS = 6


def score(url: str, kind: str, folder: str, list_lag: str) -> None:
    """Score a few rows, and write what they got into a file once all are done."""
    options = {"base_url": url, "poll": 0.02, "list_lag": float(list_lag), "retry_base": 0.01, "discount": 0.5}
    Path(folder, "begun").touch()
    make = OpenAIBatchJudge if kind == "openai" else AnthropicBatchJudge
    result = evaluate([row(n) for n in range(ROWS)], METRICS, make("fake", **options), store=folder, progress=False)
    found = {"values": [dict(scored.values) for scored in result], "calls": result.usage.calls}
    Path(folder, "out.json").write_text(json.dumps(found))
