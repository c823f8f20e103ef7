"""Whether the words by which a claim is told to be unsupported are those that people marked.

    python unsupported_words.py --data D

Of claims that are not supported, stand in the answer as read, and in which people marked something, by letters and
digits: how much of what is told is marked (precision), how much of what is marked is told (recall), and in how many
claims both meet; beside telling the whole claim.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.judges.cache import JudgementCache
from assay.judges.embedded.judge import EmbeddedJudge
from assay.metrics._faithfulness import Faithfulness
from assay.records import Context, Sample, Verdict

NO_ERROR = "other"  # marks of style and repetition


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


async def verdicts(row: dict[str, Any], judge: JudgementCache) -> list[Verdict]:
    contexts = tuple(Context(text=text) for text in row["contexts"])
    score = await Faithfulness().score(
        Sample(question=row["question"], answer=row["response"], contexts=contexts), judge
    )
    found = score.verdicts.get("answer/contexts", ())
    return [one for one in found if one.claim is not None and one.label != "supported"]


def letters(text: str, start: int, end: int) -> set[int]:
    return {place for place in range(start, end) if text[place].isalnum()}


async def measure(path: Path) -> None:
    told_right = told = marked = whole = claims = met = 0
    for row in rows(path):
        text = row["response"]
        spans = [letters(text, one["start"], one["end"]) for one in row["spans"] if one["label"] != NO_ERROR]
        gold = set().union(*spans)
        for verdict in await verdicts(row, JudgementCache(EmbeddedJudge())) if gold else ():
            claim = verdict.claim
            assert claim is not None
            here = letters(text, claim.span.start, claim.span.end)
            if not gold & here or claim.text != claim.span.of(text):
                continue
            parts = [letters(text, claim.span.start + part.start, claim.span.start + part.end)
                     for part in verdict.unsupported]  # fmt: skip
            found = set().union(*parts)
            claims, told, marked, whole = claims + 1, told + len(found), marked + len(gold & here), whole + len(here)
            told_right, met = told_right + len(found & gold), met + bool(found & gold)
    print(f"{path.name}: {claims} claims; precision {told_right / told:.2f} ({marked / whole:.2f} of whole claims), "
          f"recall {told_right / marked:.2f}, both meet in {met / claims:.0%}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    data: Path = parser.parse_args().data
    for name in ("ragtruth_dev", "data2text_spans"):
        asyncio.run(measure(data / f"{name}.jsonl.gz"))
