"""Samples as a data set of Amazon Bedrock's evaluation jobs: JSON lines with `conversationTurns`.

    write_bedrock("answers.csv", "bedrock.jsonl", source="my-rag")

A sample with an answer is a row for jobs on retrieval and generation with answers that are brought along, one with
contexts alone a row for retrieve-only jobs, one with neither a row whose answer Bedrock makes. What is written reads
back as the same sample: question, answer, reference, contexts with their ids, scores and metadata, earlier turns, and
the `citations` and identifiers of the metadata. Other fields have no place in the format and are left out. One job
takes 1000 rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._util.output_files import output_file
from assay.data.bedrock.read import EARLIER, KEPT, PASSAGES
from assay.errors import InputError
from assay.records import Context, Sample

if TYPE_CHECKING:
    from assay.data import Rows

#: Turns of one conversation: in jobs that generate, and in those that only retrieve.
MOST_TURNS, MOST_RETRIEVED = 5, 1


def bedrock_record(sample: Sample, source: str = "assay") -> dict[str, Any]:
    """One line of a data set. `source` is the `knowledgeBaseIdentifier` of samples that have none in their metadata.

    Raises InputError for a sample without a question, and for more turns than a job takes.
    """
    turns = len(sample.history) + 1
    most = MOST_TURNS if sample.answer is not None or sample.contexts is None else MOST_RETRIEVED
    if turns > most:
        raise InputError(f"sample {sample.key()!r}: Bedrock takes {most} turns of such a conversation, not {turns}")
    if not sample.question:
        raise InputError(f"sample {sample.key()!r}: Bedrock needs a question, which is missing")
    earlier = sample.metadata.get(EARLIER)
    lefts = earlier if isinstance(earlier, list) and len(earlier) == turns - 1 else [{}] * (turns - 1)
    made = [
        _turn(turn.question, turn.answer or None, turn.contexts or None, left.get("reference"), left, source)
        for turn, left in zip(sample.history, lefts, strict=True)
    ]
    last = _turn(sample.question, sample.answer, sample.contexts, sample.reference, sample.metadata, source)
    if sample.reference_contexts:
        last["referenceContexts"] = [_content(context.text) for context in sample.reference_contexts]
    return {"conversationTurns": [*made, last]}


def write_bedrock(data: Rows, path: str | Path, *, source: str = "assay") -> Path:
    """Write rows of any kind that assay reads as a data set of Bedrock's. Returns the path.

    Raises InputError, which names the row, for one that cannot be read or written; no file is written then.
    """
    from assay.data import RowError, open_data

    path = Path(path)
    with output_file(path) as out:
        for number, item in open_data(data):
            if isinstance(item, RowError):
                raise InputError(item.message)
            try:
                record = bedrock_record(item, source)
            except InputError as error:
                raise InputError(f"row {number}: {error}") from None
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def _turn(
    question: str,
    said: str | None,
    found: tuple[Context, ...] | None,
    right: str | None,
    metadata: Mapping[str, Any],
    source: str,
) -> dict[str, Any]:
    turn: dict[str, Any] = {"prompt": _content(question)}
    if right is not None:
        turn["referenceResponses"] = [_content(right)]
    output: dict[str, Any] = {}
    if said is not None:
        output["text"] = said
    if found is not None:
        name = PASSAGES[0] if said is not None else PASSAGES[1]
        output[name] = {"retrievalResults": [_passage(context) for context in found]}
    kept = {key: metadata[key] for key in KEPT if key in metadata}
    if output or kept:
        turn["output"] = {"knowledgeBaseIdentifier": source, **output, **kept}
    return turn


def _passage(context: Context) -> dict[str, Any]:
    made: dict[str, Any] = {"content": {"text": context.text}}
    if context.id is not None:
        made["name"] = context.id
    if context.score is not None:
        made["score"] = context.score
    if context.metadata:
        made["metadata"] = dict(context.metadata)
    return made


def _content(said: str) -> dict[str, Any]:
    return {"content": [{"text": said}]}
