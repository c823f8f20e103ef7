"""Builds training pairs of everyday statements, and adds pairs of the old mix, in `pairs.npz`.

    python prepare_statements.py --tokenizer FILE --rehearsal OLD/pairs.npz --out DIR

Statements come from the training part of `corpus/` (corpus.py) alone. The two halves of a minimal pair share a number
in `twins`, so that train_reader.py can compare them. An answer is read with its question in most rows, since many are
wrong only as answers to it. Two more tasks have the form of a claim and a text (tasks.py): whether a
sentence states anything, and whether an answer agrees with a short reference.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import corpus
import numpy as np
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.quantities import restated
from prepare_reader import CONTRADICTED, NOT_MENTIONED, SUPPORTED, packed, tokenizer_of
from tasks import answer_texts, statement_text
from tokenizers import Tokenizer

from assay.judges.pairwise_support import BETWEEN

LABELS = {"supported": SUPPORTED, "contradicted": CONTRADICTED, "not_mentioned": NOT_MENTIONED}
BUDGETS = (60, 90)  # words of the excerpt; 90 is what the judge reads
ALONE = 0.25  # of the answers, so many are read without the question
DIVISIONS = corpus.FOLDER / "divisions" / "train.jsonl"
ASKED = 0.8  # of the sentences that state something or do not, so many are read with their question
NEEDS_QUESTION = {"yesno", "absent", "mixed"}


@dataclass(frozen=True, slots=True)
class Example:
    passage: str
    claim: str
    label: int
    source: str
    twins: int = -1


def of_corpus(languages: Iterable[str], authors: int | None) -> Iterator[Example]:
    """The statements of the training part; `authors`: of the first so many."""
    wanted = set(languages)
    rows = [row for row in corpus.statements("train", None) if row.language in wanted and row.kind != "refusal"]
    first = sorted({row.author for row in rows}, key=lambda name: int(name[1:]))[:authors]
    number = 0
    groups: dict[tuple[str, str, str], list[corpus.Statement]] = defaultdict(list)
    for row in rows:
        if row.author in first:
            groups[row.author, row.item, row.kind].append(row)
    for (_, _, kind), found in groups.items():
        for at, row in enumerate(found):
            other = found[at + 1 : at + 2] if at % 2 == 0 else found[at - 1 : at]
            paired = kind in corpus.PAIRED and any(one.label != row.label for one in other)
            if row.label is not None:
                yield _example(row, number + at // 2 if paired else -1)
            for claim in row.claims:
                label = SUPPORTED if claim["label"] else CONTRADICTED
                yield Example(BETWEEN.join(row.contexts), claim["text"], label, "statement/claim")
        number += len(found)
    for row in _lines(DIVISIONS) if authors is None else ():
        if "contexts" not in row:  # written for their division alone
            continue
        passage = BETWEEN.join(row["contexts"])
        for claim in row["claims"]:
            yield Example(passage, claim["text"], SUPPORTED if claim["label"] else CONTRADICTED, "statement/claim")


def of_refusals(rng: random.Random) -> Iterator[Example]:
    """Whether a sentence states anything: of refusals.jsonl, and of the answers of the corpus as many."""
    for row in _lines(corpus.FOLDER / "refusals" / "train.jsonl"):
        for part in row["parts"] if row["language"] == "en" else ():
            yield _stating(row["question"], part["text"], part["checkable"], rng)
    rows = list(corpus.statements("train"))
    refusals = [row for row in rows if row.kind == "refusal"]
    for row in [*refusals, *rng.sample([row for row in rows if row.label is not None], len(refusals))]:
        yield _stating(row.question, row.answer, row.label is not None, rng)


def _stating(question: str, said: str, states: bool, rng: random.Random) -> Example:
    text = statement_text(question if rng.random() < ASKED else None)
    return Example(text, said, SUPPORTED if states else NOT_MENTIONED, "task/states")


def of_short_answers() -> Iterator[Example]:
    """Answers against short references, each read with its question."""
    for row in _lines(corpus.FOLDER / "short_answers" / "train.jsonl"):
        claim, text = answer_texts(row["question"], row["answer"], row["reference"])
        yield Example(text, claim, SUPPORTED if row["label"] else CONTRADICTED, "task/short answer")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _example(row: corpus.Statement, twins: int) -> Example:
    claim = f"{row.question}\t{row.answer}"
    return Example(BETWEEN.join(row.contexts), claim, LABELS[row.verdict or ""], f"statement/{row.kind}", twins)


def encoded(examples: list[Example], tokenizer: Tokenizer, rng: random.Random) -> dict[str, np.ndarray]:
    """As of prepare_reader.encoded, with `twins`; both halves of a pair are read alike."""
    ways: dict[int, tuple[int, bool]] = {}
    texts = []
    for one in examples:
        way = (rng.choice(BUDGETS), rng.random() < ALONE)
        budget, alone = ways.setdefault(one.twins, way) if one.twins >= 0 else way
        question, _, answer = one.claim.rpartition("\t")
        claim = answer if alone and one.source.split("/")[1] not in NEEDS_QUESTION else f"{question} {answer}".strip()
        claim, _, _ = restated(claim, one.passage)
        passage = Passage(one.passage)
        texts.append((claim, passage.read(excerpt(passage, claim, budget))))
    found = packed(texts, [one.label for one in examples], [one.source for one in examples], tokenizer)
    return found | {"twins": np.array([one.twins for one in examples])}


def joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Several npz contents as one."""
    out = {k: np.concatenate([part[k] for part in parts]) for k in ("ids", "firsts", "labels", "sources", "twins")}
    sizes = np.concatenate([np.diff(part["starts"]) for part in parts])
    return out | {"starts": np.concatenate([[0], np.cumsum(sizes)])}


def drawn(data: dict[str, np.ndarray], most: int, rng: random.Random) -> dict[str, np.ndarray]:
    """`most` rows of it, at random."""
    count = len(data["labels"])
    chosen = sorted(rng.sample(range(count), min(most, count)))
    pieces = [data["ids"][data["starts"][i] : data["starts"][i + 1]] for i in chosen]
    return {
        "ids": np.concatenate(pieces), "starts": np.concatenate([[0], np.cumsum([len(one) for one in pieces])]),
        **{k: data[k][chosen] for k in ("firsts", "labels", "sources")}, "twins": np.full(len(chosen), -1),
    }  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--tokenizer", type=Path, required=True)
    ask.add_argument("--rehearsal", type=Path, help="pairs.npz of prepare_reader.py")
    ask.add_argument("--old", type=int, default=9000, help="pairs of it")
    ask.add_argument("--rounds", type=int, default=1, help="how often statements are gone through, each differently")
    ask.add_argument("--authors", type=int, help="of the corpus, the first so many")
    ask.add_argument("--languages", nargs="+", default=["en"])
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--seed", type=int, default=29)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(given.seed)
    tokenizer = tokenizer_of(given.tokenizer)
    authored = list(of_corpus(given.languages, given.authors))
    parts, count = [], 0
    for turn in range(given.rounds):
        found = [replace(one, twins=one.twins + turn * 10**6 if one.twins >= 0 else -1) for one in authored]
        found += [*of_refusals(rng), *of_short_answers()]
        parts.append(encoded(found, tokenizer, rng))
        count += len(found)
    if given.rehearsal:
        parts.append(drawn(dict(np.load(given.rehearsal)), given.old, rng))
    whole = joined(parts)
    np.savez(given.out / "pairs.npz", **whole)
    print(len(whole["labels"]), "pairs, of statements", count, "tokens on average", np.diff(whole["starts"]).mean())
    for key, number in sorted(Counter(source.split(",")[0] for source in whole["sources"].tolist()).items()):
        print("  ", key, number)


if __name__ == "__main__":
    main()
