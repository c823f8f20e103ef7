"""Trains what is to divide a sentence into statements (division.py), over the states of the shared layers.

    python train_divider.py --files FILES --out DIR [--epochs 14]

The sentences are those of `corpus/divisions/train.jsonl`, of five authors, with their pieces written by hand. A fifth
of them, by item, is left out at first and measured on; then all are learnt. `divider.onnx.gz` is written into DIR; it
does not ship yet. The measure is the F1 of claims: the same words in the same order as the annotator's.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus
import graphs
import numpy as np
import torch
from assay_embedded.features import words
from assay_embedded.graphs import arrays
from assay_embedded.runtime import Models, load_from
from assay_embedded.windows import CLS, SEP
from division import (
    BORROWING,
    EAGER,
    INSIDE,
    LABELS,
    OUTSIDE,
    OWN,
    SHARED,
    Place,
    first_tokens,
    statements,
)

WIDTH, DROPOUT, BATCH, RATE = 128, 0.3, 16, 2e-3
UNMARKED = -100  # tokens that do not begin a word


@dataclass(slots=True)
class Divided:
    """A sentence, its claims as places, and what the model sees of it."""

    item: int
    text: str
    claims: list[list[Place]]
    offsets: list[Place]
    states: np.ndarray
    tags: list[int]


def read(part: str, models: Models) -> list[Divided]:
    """The sentences of a part."""
    out = []
    for line in (corpus.FOLDER / "divisions" / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, claims = row["answer"], [places(row["answer"], claim["pieces"]) for claim in row["claims"]]
        offsets, states = encoded(models, text)
        out.append(Divided(row["item"], text, claims, offsets, states, tags(text, claims, offsets)))
    return out


def encoded(models: Models, text: str) -> tuple[list[Place], np.ndarray]:
    """The place of each token, and the states of the shared layers for it."""
    loaded = models._loaded
    found = loaded.tokens._tokenizer.encode(text, add_special_tokens=False)
    ids = [CLS, *found.ids, SEP]
    feed = arrays(input_ids=ids, attention_mask=[1] * len(ids), token_type_ids=[0] * len(ids))
    return list(found.offsets), loaded.trunk.run(feed)[0, 1:-1]


def places(text: str, pieces: Sequence[str]) -> list[Place]:
    """Where the pieces of a claim stand: each behind the one before, where it does."""
    found: list[Place] = []
    for piece in pieces:
        start = text.find(piece, found[-1][1] if found else 0)
        start = start if start >= 0 else text.find(piece)
        found.append((start, start + len(piece)))
    return sorted(found)


def tags(text: str, claims: Sequence[Sequence[Place]], offsets: Sequence[Place]) -> list[int]:
    """What each token is; only first tokens of words are marked."""
    used = Counter(at for claim in claims for start, end in claim for at in range(start, end))
    marks = {at: SHARED if count > 1 else INSIDE for at, count in used.items()}
    for claim in claims:
        own = [at for start, end in claim for at in range(start, end) if used[at] == 1 and text[at] != " "]
        if own:
            borrows = any(used[at] > 1 for start, end in claim for at in range(start, end))
            marks[own[0]] = BORROWING if borrows else OWN
    found = [UNMARKED] * len(offsets)
    for number in first_tokens(text, offsets):
        said = [marks.get(at, OUTSIDE) for at in range(*offsets[number])]
        begins = [mark for mark in said if mark in (OWN, BORROWING)]
        found[number] = begins[0] if begins else Counter(said).most_common(1)[0][0]
    return found


class Divider(torch.nn.Module):
    """Two layers of LSTM in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow = torch.nn.Linear(384, WIDTH)
        self.drop = torch.nn.Dropout(DROPOUT)
        self.read = torch.nn.LSTM(WIDTH, WIDTH, 2, batch_first=True, bidirectional=True, dropout=DROPOUT)
        self.label = torch.nn.Linear(2 * WIDTH, len(LABELS))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        states, _ = self.read(self.drop(torch.relu(self.narrow(hidden))))
        return self.label(self.drop(states))


def trained(rows: Sequence[Divided], epochs: int, seed: int) -> Divider:
    """A divider that learnt these sentences."""
    torch.manual_seed(seed)
    rng, order, model = random.Random(seed), list(rows), Divider()
    optimiser = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01)
    for epoch in range(epochs):
        rng.shuffle(order)
        for part in optimiser.param_groups:
            part["lr"] = RATE * (1 - epoch / epochs) + 1e-5
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            longest = max(len(row.tags) for row in batch)
            hidden, wanted = torch.zeros(len(batch), longest, 384), torch.full((len(batch), longest), UNMARKED)
            for n, row in enumerate(batch):
                hidden[n, : len(row.tags)] = torch.from_numpy(row.states)
                wanted[n, : len(row.tags)] = torch.tensor(row.tags)
            loss = torch.nn.functional.cross_entropy(model(hidden).reshape(-1, len(LABELS)), wanted.reshape(-1))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model.eval()


def divided(model: Divider, row: Divided) -> list[tuple[Place, ...]]:
    """The statements that the divider finds in a sentence."""
    with torch.no_grad():
        scores = model(torch.from_numpy(row.states)[None])[0]
    scores[:, OWN:] += EAGER
    return [one.places for one in statements(row.text, row.offsets, scores.argmax(-1).tolist())]


def same_claims(rows: Sequence[Divided], found: Sequence[Sequence[Sequence[Place]]]) -> tuple[float, float]:
    """F1 of the claims, and the share of sentences of which all are the same."""
    both = own = wanted = whole = 0
    for row, claims in zip(rows, found, strict=True):
        first, second = ({_plain(row.text, one) for one in some} for some in (claims, row.claims))
        both, own, wanted = both + len(first & second), own + len(first), wanted + len(second)
        whole += first == second
    return 2 * both / max(1, own + wanted), whole / len(rows)


def _plain(text: str, claim: Sequence[Place]) -> str:
    return " ".join(word for start, end in claim for word in words(text[start:end]))


def export(model: Divider, out: Path) -> None:
    """Write it as ONNX."""
    torch.onnx.export(
        model, (torch.zeros(1, 16, 384),), str(out), input_names=["hidden"], output_names=["labels"],
        dynamic_axes={"hidden": {1: "tokens"}, "labels": {1: "tokens"}}, opset_version=graphs.OPSET, dynamo=False,
    )  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--epochs", type=int, default=14)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--test", action="store_true", help="measure on the test part as well")
    given = ask.parse_args()
    torch.set_num_threads(1)
    models = load_from(given.files, 1)
    rows = read("train", models)
    left = [row for row in rows if row.item % 5 == 0]
    model = trained([row for row in rows if row.item % 5], given.epochs, given.seed)
    report: dict[str, Any] = {"left out": same_claims(left, [divided(model, row) for row in left])}
    print(json.dumps(report), flush=True)
    model = trained(rows, given.epochs, given.seed)
    if given.test:
        test = read("test", models)
        report["test"] = same_claims(test, [divided(model, row) for row in test])
    print(json.dumps({name: [round(value, 3) for value in found] for name, found in report.items()}))
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "divider.onnx"
    export(model, path)
    graphs.pack(path)
    path.unlink()


if __name__ == "__main__":
    main()
