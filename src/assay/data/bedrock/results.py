"""Scored samples as the results that Amazon Bedrock's evaluation jobs write: `results` in the last turn of each line.

A metric of `bedrock:` has the name that it has there ("Builtin.Correctness"), any other one its own. A score without a
value, or with one by convention alone, is null, and its explanation says why. `assay.data.bedrock.read` reads such
lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from assay._util.output_files import output_file
from assay.data.bedrock.write import bedrock_record
from assay.errors import InputError
from assay.records import Score, ScoredSample

#: Names there that are not ours in capitals.
NAMED = {"professional_style": "ProfessionalStyleAndTone"}
OURS = "bedrock:"


def metric_name(label: str) -> str:
    """What Bedrock calls a metric: "Builtin.ContextRelevance" for "bedrock:context_relevance"; a label of no metric of
    its own as it is.
    """
    name = label.removesuffix("@original").removeprefix(OURS)
    if not label.startswith(OURS) or name.partition(":")[0] == "custom":
        return label
    return f"Builtin.{NAMED.get(name) or ''.join(word.capitalize() for word in name.split('_'))}"


def bedrock_result(scored: ScoredSample, source: str = "assay") -> dict[str, Any]:
    """One line of results. Raises InputError for a sample that the format cannot hold."""
    turns = []
    for turn in bedrock_record(scored.sample, source)["conversationTurns"]:
        output = turn.pop("output", None)
        turns.append({"inputRecord": turn, **({} if output is None else {"output": output})})
    turns[-1]["results"] = [_result(label, score) for label, score in scored.scores.items()]
    return {"conversationTurns": turns}


def write_results(rows: Iterable[tuple[int, ScoredSample]], path: str | Path, *, source: str = "assay") -> Path:
    """Write numbered rows with their scores. Returns the path.

    Raises InputError, which names the row, for one that the format cannot hold; no file is written then.
    """
    path = Path(path)
    with output_file(path) as out:
        for number, scored in rows:
            try:
                line = bedrock_result(scored, source)
            except InputError as error:
                raise InputError(f"row {number}: {error}") from None
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def _result(label: str, score: Score) -> dict[str, Any]:
    found: dict[str, Any] = {"metricName": metric_name(label), "result": score.value if score.measured else None}
    explanation = _explanation(score)
    if explanation or score.judge:
        found["evaluatorDetails"] = [{"modelIdentifier": score.judge or "", "explanation": explanation}]
    return found


def _explanation(score: Score) -> str:
    """Why there is no value, or what the judge said, each reason once."""
    if score.error is not None:
        return f"{score.error.cause}: {score.error.message}"
    if score.convention:
        return f"by convention: {score.convention}"
    reasons = (verdict.reason for verdict in chain.from_iterable(score.verdicts.values()))
    return "\n".join(dict.fromkeys(filter(None, (*score.texts.get("reason", ()), *reasons))))
