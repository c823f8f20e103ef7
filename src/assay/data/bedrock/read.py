"""Rows of Amazon Bedrock's evaluation jobs: its data sets, and the results that its jobs write, as plain rows.

- `conversationTurns`: jobs on retrieval, and on retrieval and generation, with `output` where the answers are brought
  along. The last turn is the sample, those before it its history. Results stand in the turns
- `modelResponses`: jobs on models. Results stand in `automatedEvaluationResult`, beside the `inputRecord`

What a sample has no field for goes to its metadata, under the names that it has there: `citations` with their spans,
`knowledgeBaseIdentifier`, `modelIdentifier`. Results go to `bedrock_scores`, by the name of the metric, and what the
judge said of them to `bedrock_explanations`. `assay.data.bedrock.write` writes such rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Keys of an output that go to the metadata as they are.
KEPT = ("citations", "knowledgeBaseIdentifier", "modelIdentifier")
#: Where an output has its passages: in jobs that generate, and in those that only retrieve.
PASSAGES = ("retrievedPassages", "retrievedResults")
#: What is kept of earlier turns, one object each, where there is something that a history has no field for.
EARLIER = "earlier_turns"


def bedrock_row(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The plain row in a record of Bedrock's; None where it is none of these."""
    turns = record.get("conversationTurns")
    if isinstance(turns, list) and turns and all(isinstance(turn, Mapping) for turn in turns):
        rest = {key: value for key, value in record.items() if key != "conversationTurns"}
        return _of_turns([_merged(turn) for turn in turns], rest)
    results = record.get("automatedEvaluationResult")
    inner = record.get("inputRecord") if isinstance(results, Mapping) else record
    given = inner.get("modelResponses", record.get("modelResponses")) if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(given, list) or not isinstance(inner.get("prompt"), str):
        return None
    scores = results.get("scores") if isinstance(results, Mapping) else None
    return _of_model(inner, given, scores)


def _merged(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    """A turn of a result, whose input lies one level deeper, as a turn of a data set."""
    inner = turn.get("inputRecord")
    return {**inner, **turn} if isinstance(inner, Mapping) else turn


def _of_turns(turns: Sequence[Mapping[str, Any]], rest: Mapping[str, Any]) -> dict[str, Any]:
    row, kept = _turn(turns[-1])
    earlier = [_turn(turn) for turn in turns[:-1]]
    if earlier:
        row["history"] = [
            {"question": turn.get("question", ""), "answer": turn.get("answer", ""), "contexts": turn.get("contexts")}
            for turn, _ in earlier
        ]
    left = [{**more, **{k: turn[k] for k in ("reference",) if k in turn}} for turn, more in earlier]
    if any(left):
        kept[EARLIER] = left
    row["metadata"] = {**rest, **kept}
    return row


def _turn(turn: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields in one turn, and what goes to the metadata."""
    row: dict[str, Any] = {}
    asked = _texts(turn.get("prompt"))
    if asked:
        row["question"] = "\n".join(asked)
    right = [text for reference in _list(turn.get("referenceResponses")) for text in _texts(reference)]
    if right:
        row["reference"] = right[0] if len(right) == 1 else right
    wanted = [{"text": text} for one in _list(turn.get("referenceContexts")) for text in _texts(one)]
    if wanted:
        row["reference_contexts"] = wanted
    output = turn.get("output")
    output = output if isinstance(output, Mapping) else {}
    if isinstance(output.get("text"), str):
        row["answer"] = output["text"]
    for name in PASSAGES:
        found = output.get(name)
        if isinstance(found, Mapping) and isinstance(found.get("retrievalResults"), list):
            row["contexts"] = [_passage(result) for result in found["retrievalResults"]]
    return row, {**{key: output[key] for key in KEPT if key in output}, **_results(turn.get("results"))}


def _passage(result: Any) -> Any:
    """A passage in the form that assay reads; what is none is left as it is, to be named as such."""
    content = result.get("content") if isinstance(result, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(content.get("text"), str):
        return result
    own = result.get("metadata")
    more = {key: result[key] for key in ("location",) if key in result}
    return {
        "text": content["text"],
        "id": result.get("name"),
        "score": result.get("score"),
        "metadata": {**(own if isinstance(own, Mapping) else {}), **more},
    }


def _of_model(inner: Mapping[str, Any], given: Sequence[Any], scores: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"question": inner["prompt"]}
    if isinstance(inner.get("referenceResponse"), str):
        row["reference"] = inner["referenceResponse"]
    said = next((one for one in given if isinstance(one, Mapping)), {})
    if isinstance(said.get("response"), str):
        row["answer"] = said["response"]
    about = {key: inner[key] for key in ("category",) if key in inner}
    model = {key: said[key] for key in ("modelIdentifier",) if key in said}
    row["metadata"] = {**about, **model, **_results(scores)}
    return row


def _results(results: Any) -> dict[str, Any]:
    """What a job found, for the metadata; empty for a row of a data set."""
    scores: dict[str, Any] = {}
    explanations: dict[str, list[str]] = {}
    for result in _list(results):
        if not isinstance(result, Mapping) or not isinstance(result.get("metricName"), str):
            continue
        scores[result["metricName"]] = result.get("result")
        said = [one.get("explanation") for one in _list(result.get("evaluatorDetails")) if isinstance(one, Mapping)]
        explanations[result["metricName"]] = [text for text in said if isinstance(text, str)]
    return {"bedrock_scores": scores, "bedrock_explanations": explanations} if scores else {}


def _texts(value: Any) -> list[str]:
    """The texts in `{"content": [{"text": ...}]}`."""
    content = value.get("content") if isinstance(value, Mapping) else None
    return [one["text"] for one in _list(content) if isinstance(one, Mapping) and isinstance(one.get("text"), str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
