"""Reads the training and development data: rows of passage, claim, label, source."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """`label` 1: the passage supports all of the claim; 0: it does not. `passage` is all contexts, one a paragraph."""

    passage: str
    claim: str
    label: int
    source: str
    contexts: tuple[str, ...] = ()
    said: str = ""  # the label in the words of the data set


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """All rows of a file. One whose name says that it may not be used commercially is refused, whoever asks."""
    if "noncommercial" in path.name:
        raise ValueError(f"{path.name} may not go into a shipped model")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def group(source: str) -> str:
    """One name for the parts of a data set: `snli_dev` and `snli_test` are snli, `factscore/ChatGPT` is factscore."""
    if source.startswith("true/"):
        return source
    base = source.split("/")[0]
    for name in ("conjnli", "fever-nli", "mnli", "snli"):
        if base.startswith(name):
            return name
    return base


def training(data: Path, name: str) -> Iterator[Row]:
    """Rows of `train/NAME.jsonl.gz` that have a label and both texts."""
    for row in lines(data / "train" / f"{name}.jsonl.gz"):
        if row["label"] in (0, 1) and row["premise"] and row["hypothesis"]:
            claim = row["hypothesis"]
            if name == "qa_derived":  # "question: ... answer: ..."
                claim = claim.replace("question: ", "", 1).replace(" answer: ", " ", 1)
            yield Row(row["premise"], claim, row["label"], group(row["source"]))


GROUNDEDNESS = (
    "attribution_qa", "claim_evidence", "counterfactual_context", "dialogue_groundedness", "factscore_claims",
    "summ_consistency", "summedits",
)  # fmt: skip


def development(data: Path, name: str) -> Iterator[Row]:
    """Rows of a development set of groundedness; a passage is all its contexts, one a paragraph."""
    for row in lines(data / f"{name}.jsonl.gz"):
        claim = row.get("claim") or row.get("response")
        contexts = tuple(row.get("contexts") or ())
        passage = "\n".join(contexts)
        if row["label"] in (0, 1) and claim and passage:
            source = f"ragtruth, {row['task']}" if name == "ragtruth_dev" else group(row["source"])
            yield Row(passage, claim, row["label"], source, contexts, str(row.get("label_text") or ""))


def sample(rows: Iterable[Row], each: int, seed: int, even: bool = False) -> list[Row]:
    """At most `each` rows of a source, drawn with a fixed seed; with `even`, half of them of each label."""
    cells: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.source, row.label if even else 0].append(row)
    rng = random.Random(seed)
    out: list[Row] = []
    for key in sorted(cells):
        rng.shuffle(cells[key])
        out += cells[key][: each // 2 if even else each]
    return out
