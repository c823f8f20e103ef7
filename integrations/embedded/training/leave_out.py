"""What a stranger's data look like: the judge trained without any source of a kind, and measured on that kind.

    python leave_out.py --data DATA --onnx PUBLISHED_INT8.onnx --tokenizer FILE --out DIR --steps 800

For each kind the training pairs are made anew without its sources, derived ones too; the reader is trained from the
reranker for as many batches as the one that sees everything, and the regression over shared words is fitted without
them as well. NLI sets stay: they are of no kind. What the words weigh beside the reader is what ships, one number that
saw all kinds. Measured as the agreement of measure.py: at most 80 rows of a source, half of them supported; all rows of
`data2text_spans` for records. Beside each the judge that was trained on everything, on the same rows, with a paired
bootstrap interval of the difference. One seed each. What is done is kept, so the script may be stopped and started
again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import rows as reading
from agreement import claims_of, figures, gain, overlap
from assay_embedded.features import Passage
from measure import GROUPS, all_rows
from signals import of_answer
from speed import inputs, torch_logits
from train_reader import trained
from train_support import MIXES, Model, Table

#: What training has of each kind, by the beginnings of the names of its sources.
KINDS: dict[str, tuple[str, ...]] = {
    "everything": (),
    "qa": ("attributionbench", "pubmedqa", "qed_nq"),
    "summarization": ("bump", "fib_xsum", "summedits"),
    "dialogue": ("faithdial_audit", "true/begin", "true/dialfact", "true/q2", "attributionbench/BEGIN"),
    "claims": ("factcheckgpt_stance", "factscore", "foolmetwice", "factcg"),
    "records": ("quintd", "infotabs", "scitab"),
}
STRENGTH = 0.001  # what train_support.py chose


def run(script: str, *arguments: object) -> None:
    command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def model_without(kind: str, given: argparse.Namespace) -> Any:
    """The reader of a kind left out, trained where it is not there yet."""
    room = given.out / kind
    if not (room / "final.pt").exists():
        room.mkdir(parents=True, exist_ok=True)
        if not (room / "pairs.npz").exists():
            run("prepare_reader.py", "--data", given.data, "--tokenizer", given.tokenizer, "--out", room, "--rounds", 2,
                "--derived", 9000, "--records", 0 if kind == "records" else 8000, "--seed", 212,
                "--most", given.pairs, "--without", *KINDS[kind])  # fmt: skip
        run("train_reader.py", "--onnx", given.onnx, "--pairs", room / "pairs.npz", "--out", room,
            "--steps", given.steps, "--tokens", given.tokens, "--flat", 0.3)  # fmt: skip
    return trained(given.onnx, room / "final.pt").eval()


def scores(model: Any, words: Model, weight: float, rows: list[reading.Row]) -> np.ndarray:
    """What reader and words say of each row: of an answer its two least supported claims."""
    units = [reading.Row(row.passage, claim, n, "") for n, row in enumerate(rows) for claim in claims_of(row.claim)]
    logits = torch_logits(model, [found[0] for found in inputs(units)], 16)
    margins = logits[:, 0] - np.logaddexp(logits[:, 1], logits[:, 2])
    passages = {text: Passage(text) for text in {unit.passage for unit in units}}
    values = np.array([passages[unit.passage].compare(unit.claim).values for unit in units])
    said, owners = margins + weight * words.logits(values), np.array([unit.label for unit in units])
    return np.array([of_answer(said[owners == n].tolist()) for n in range(len(rows))])


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--onnx", type=Path, required=True, help="the published int8 file")
    ask.add_argument("--tokenizer", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--steps", type=int, default=800)
    ask.add_argument("--tokens", type=int, default=1200)
    ask.add_argument("--pairs", type=int, default=10**6, help="made for a training at most, at random of all")
    given = ask.parse_args()
    kept = json.loads((given.files / "support.json").read_text(encoding="utf-8"))["support"]
    rows = reading.sample(
        [row for row in all_rows(given.data, reading.GROUNDEDNESS) if row.source != "foolmetwice"], 80, 5, even=True
    )
    sets = {kind: [row for row in rows if row.source in sources] for kind, sources in GROUPS.items()}
    sets["records"] = all_rows(given.data, ["data2text_spans"])
    table = Table(given.data, each=1500, seed=11)
    found: dict[str, dict[str, np.ndarray]] = {}
    for kind, sources in KINDS.items():
        path = given.out / f"{kind}.npz"
        if not path.exists():
            seen = np.array([not name.startswith(sources) for name in table.sources.tolist()])
            words = Model(table, seen & np.isin(table.files, MIXES["all"]), STRENGTH)
            weight, model = kept["words"] / kept["reader"], model_without(kind, given)
            measured = sets if kind == "everything" else {kind: sets[kind]}
            np.savez(path, **{name: scores(model, words, weight, one) for name, one in measured.items()})
        found[kind] = dict(np.load(path))
        for name in found[kind]:
            labels, groups = np.array([r.label for r in sets[name]]), np.array([r.source for r in sets[name]])
            mine, full = found[kind][name], found["everything"][name]
            shared = np.array([overlap(row.passage, row.claim) for row in sets[name]])
            told = figures(labels, mine, (mine >= 0).astype(int), groups)
            by_source = {source: one["auroc"] for source, one in told["by_source"].items()}
            print(f"without {kind}, on {name}: AUROC {told['auroc']} {told['auroc_95']}, mean over sources "
                  f"{told['auroc_mean_over_sources']}, against everything {gain(labels, mine, full)}, against word "
                  f"overlap {gain(labels, mine, shared)}, {by_source}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
