"""The corpus of everyday statements: items of passages with rows of question, answer and label.

    python corpus.py            counts, and whether labels can be told without the passages

A part is a folder of `corpus/`: test (which nobody reads who trains), development and train. Parts share no author and
no domain. A file is one author's, a line one item: `item`, `author`, `domain`, `language`, `contexts` and `rows`, each
with `id`, `kind`, `question`, `answer`, `label`, `verdict`, `why`, and for divisions `claims`. A label is 1 where all
of the answer follows from the passages, 0 where something does not, and null where it states nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("corpus")
PARTS = ("test", "development", "train")
#: Kinds of statements, of which an item has pairs: one true, one false.
PAIRED = (
    "paraphrase", "swap", "units", "arithmetic", "negation", "quantifier", "condition", "comparison", "time", "role",
    "combine", "addition", "omission", "modality", "entity", "generality", "absent", "yesno",
)  # fmt: skip
KINDS = (*PAIRED, "refusal", "mixed", "division")
VERDICTS = {1: ("supported",), 0: ("contradicted", "not_mentioned"), None: (None,)}
_STOP = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do", "does", "for", "from",
    "had", "has", "have", "he", "her", "his", "i", "if", "in", "is", "it", "its", "may", "must", "no", "not", "of",
    "on", "or", "our", "she", "so", "than", "that", "the", "their", "then", "there", "they", "this", "to", "was",
    "we", "were", "will", "with", "you", "your",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """One row, with its item."""

    id: str
    item: str
    author: str
    domain: str
    language: str
    kind: str
    question: str
    contexts: tuple[str, ...]
    answer: str
    label: int | None
    verdict: str | None
    claims: tuple[dict[str, Any], ...] = ()


def statements(part: str, language: str | None = "en") -> Iterator[Statement]:
    """Iterate over the rows of a part.

    Args:
        part: One of `PARTS`.
        language: Only rows in this language. None: all.

    Yields:
        The rows, item by item.
    """
    for file in sorted((FOLDER / part).glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if language not in (None, item["language"]):
                continue
            for row in item["rows"]:
                yield Statement(
                    row["id"], item["item"], item["author"], item["domain"], item["language"], row["kind"],
                    row["question"], tuple(item["contexts"]), row["answer"], row["label"], row["verdict"],
                    tuple(row.get("claims", ())),
                )  # fmt: skip


def overlap(row: Statement) -> float:
    """The share of the answer's content words that stand in the passages."""
    own = [word for word in words(row.answer) if word not in _STOP]
    there = set(words(" ".join(row.contexts)))
    return sum(word in there for word in own) / max(1, len(own))


def words(text: str) -> list[str]:
    """The words and numbers of a text, in lower case."""
    return re.findall(r"[^\W_]+", text.lower())


def overlap_difference(rows: Iterable[Statement]) -> float:
    """The mean overlap of true rows minus that of false ones."""
    of: dict[int, list[float]] = {1: [], 0: []}
    for row in rows:
        if row.label is not None:
            of[row.label].append(overlap(row))
    return sum(of[1]) / len(of[1]) - sum(of[0]) / len(of[0])


def accuracy_without_passages(rows: Iterable[Statement]) -> dict[str, float]:
    """Measure whether the words of an answer give its label away: naive Bayes, each item read by all the others.

    Args:
        rows: The rows.

    Returns:
        Balanced accuracy by kind, and of all rows under "all"; 0.5 where nothing can be told.
    """
    marked = [(row.item, row.kind, row.label, set(words(row.answer))) for row in rows if row.label is not None]
    total = {label: Counter(word for _, _, one, said in marked if one == label for word in said) for label in (0, 1)}
    size = {label: sum(one == label for _, _, one, _ in marked) for label in (0, 1)}
    items = defaultdict(list)
    for row in marked:
        items[row[0]].append(row)
    right: dict[str, Counter[tuple[int, bool]]] = defaultdict(Counter)
    for here in items.values():
        own = {label: Counter(word for _, _, one, said in here if one == label for word in said) for label in (0, 1)}
        left = {label: size[label] - sum(one == label for _, _, one, _ in here) for label in (0, 1)}
        for _, kind, label, said in here:
            assert label is not None
            log_odds = sum(
                math.log((total[1][word] - own[1][word] + 1) / (left[1] + 2))
                - math.log((total[0][word] - own[0][word] + 1) / (left[0] + 2))
                for word in said
            )
            for name in (kind, "all"):
                right[name][label, (log_odds > 0) == bool(label)] += 1
    return {
        name: sum(found[label, True] / max(1, found[label, True] + found[label, False]) for label in (0, 1)) / 2
        for name, found in right.items()
    }


def main() -> None:
    """Print counts and tells of each part and language."""
    for part in PARTS:
        for language in sorted({row.language for row in statements(part, None)}):
            rows = list(statements(part, language))
            kinds = Counter(row.kind for row in rows)
            accuracy = accuracy_without_passages(rows)
            counts = (f"{len({getattr(row, name) for row in rows})} {name}s" for name in ("item", "author", "domain"))
            print(f"{part} {language}: {len(rows)} rows, {', '.join(counts)}")
            print(f"  rows by kind: {dict(kinds.most_common())}")
            print(f"  overlap, true - false: {overlap_difference(rows):.3f}")
            print(f"  balanced accuracy without passages: {accuracy['all']:.3f}")


if __name__ == "__main__":
    main()
