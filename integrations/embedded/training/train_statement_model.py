"""Trains the model that tells refusals and talk from statements (`assay.judges.claim_rules.statement_model`).

    python train_statement_model.py --data DATA --out FILE [--measure]

Rows of the training parts of `corpus/` alone: parts of answers in `refusals/`, refusals and statements of `train/`, and
the sentences of its passages; and claims and sentences of passages from the open training rows, which all state
something. Each sentence counts whole and by its clauses. A refusal weighs four times an English statement, of which
there are more, and so does a statement in another language, of which there are few. Small weights are left out. With
--measure, the development part is read with what was trained.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import corpus
import numpy as np
import rows as reading
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from assay.judges.claim_rules import statement_model
from assay.judges.claim_rules.statement_model import StatementModel, clauses, ngrams, plain
from assay.judges.claim_rules.statements import is_question, states_something
from assay.text import split_sentences

RARE = 3  # sentences that an n-gram has to be in
SMALL = 0.15  # weights below are left out
RARER = 4.0  # the weight of a refusal, or of a sentence that is not English, against an English statement
CLAIMS, PASSAGES, SENTENCES = 9000, 700, 14000  # open claims, open passages, and sentences of passages
Labelled = tuple[str, int, str]  # a text, whether it states something, and its language


def sentences(text: str, language: str) -> list[str]:
    return [span.of(text) for span in split_sentences(text, language)]


def of_refusals() -> Iterator[Labelled]:
    """Parts of answers, and the sentences of which they are parts, which state something where one of them does."""
    for line in (corpus.FOLDER / "refusals" / "train.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        language = row["language"]
        yield from ((part["text"], int(part["checkable"]), language) for part in row["parts"])
        if row["kind"] == "mixed" and len(sentences(row["answer"], language)) == 1:
            yield row["answer"], int(any(part["checkable"] for part in row["parts"])), language


def of_statements() -> Iterator[Labelled]:
    """Refusals and statements of the corpus, and the sentences of its passages."""
    passages: dict[str, str] = {}
    for row in corpus.statements("train", None):
        if row.kind != "mixed" and (row.kind == "refusal" or row.label is not None):
            yield from ((one, int(row.kind != "refusal"), row.language) for one in sentences(row.answer, row.language))
        passages |= dict.fromkeys(row.contexts, row.language)
    for text, language in passages.items():
        yield from ((one, 1, language) for one in sentences(text, language) if _is_plain(one))


def of_open_rows(data: Path, rng: random.Random) -> Iterator[Labelled]:
    """First sentences of claims, and sentences of passages, of the open training rows."""
    found = list(reading.training(data, "groundedness_open"))
    claims = sorted({row.claim for row in found if len(row.claim) < 400})
    passages = sorted({row.passage[:3000] for row in found})
    texts = [sentences(one, "en")[0] for one in rng.sample(claims, CLAIMS)]
    longer = [one for text in rng.sample(passages, PASSAGES) for one in sentences(text, "en")[:20]]
    texts += rng.sample(longer, min(SENTENCES, len(longer)))
    yield from ((text, 1, "en") for text in dict.fromkeys(texts) if _is_plain(text))


def _is_plain(text: str) -> bool:
    """A sentence that most likely states something, since its source is no answer of a system."""
    return 20 < len(text) < 400 and not is_question(text)


def with_clauses(rows: Sequence[Labelled]) -> list[Labelled]:
    """The plain texts, and their clauses; of statements those of three words or more."""
    out = []
    for text, label, language in rows:
        said = plain(text)
        out.append((said, label, language))
        parts = clauses(said)
        if len(parts) > 1:
            out += [(part, label, language) for part in parts if not label or len(part.split()) > 2]
    return out


def trained(rows: Sequence[Labelled]) -> StatementModel:
    """The model with the least loss on these rows."""
    found = [set(ngrams(text)) for text, *_ in rows]
    counts = Counter(one for each in found for one in each)
    place = {one: n for n, one in enumerate(sorted(one for one, count in counts.items() if count >= RARE))}
    columns = [[place[one] for one in sorted(each) if one in place] for each in found]
    values = [statement_model.SCALE / np.sqrt(len(each)) for each in found]
    matrix = csr_matrix(
        (np.repeat(values, [len(one) for one in columns]), np.concatenate(columns).astype(int),
         np.cumsum([0, *map(len, columns)])),
        shape=(len(found), len(place)),
    )  # fmt: skip
    labels = np.array([label for _, label, _ in rows])
    rarer = (labels == 0) | np.array([language != "en" for *_, language in rows])
    fitted = LogisticRegression(C=1.0, solver="liblinear", max_iter=3000)
    fitted.fit(matrix, labels, sample_weight=np.where(rarer, RARER, 1.0))
    weights = {one: round(float(weight), 2) for one, weight in zip(place, fitted.coef_[0], strict=True)}
    kept = {one: weight for one, weight in weights.items() if abs(weight) >= SMALL}
    return StatementModel(round(float(fitted.intercept_[0]), 3), kept)


def measure() -> None:
    """Print what share of the refusals and statements of the development part states nothing."""
    found: dict[bool, list[bool]] = {True: [], False: []}
    for row in corpus.statements("development"):
        if row.kind != "mixed" and (row.kind == "refusal" or row.label is not None):
            silent = not any(map(states_something, sentences(row.answer, "en")))
            found[row.kind == "refusal"].append(silent)
    for refusal, skipped in found.items():
        print("refusals" if refusal else "statements", len(skipped), "state nothing:", round(np.mean(skipped), 4))


def main() -> None:
    """Train, and write the weights."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--measure", action="store_true")
    given = ask.parse_args()
    rows = [*of_refusals(), *of_statements(), *of_open_rows(given.data, random.Random(3))]
    model = trained(with_clauses(rows))
    content = {"intercept": model.intercept, "weights": dict(sorted(model.weights.items()))}
    given.out.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(
        len(rows), "sentences,", sum(not label for _, label, _ in rows), "state nothing;", len(model.weights), "n-grams"
    )
    if given.measure:
        measure()


if __name__ == "__main__":
    main()
