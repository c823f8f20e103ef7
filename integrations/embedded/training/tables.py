"""Prints the tables of ../README.md and docs/evidence/embedded-judge.md from the card: they say what was measured.

python tables.py --files DIR

`../tests/test_documents.py` holds both documents to it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ANSWERS = "qa_gold, own and others' answers"

# section of the card, part, signal, name in the table; a row without a signal of its own is headed by the judge
ROWS = (
    ("support", "agreement", "support", "**is this claim supported?** 14 sources"),
    ("support", "agreement", "word overlap", "word overlap"),
    ("support", "agreement", "embedding similarity", "embedding similarity"),
    ("support", "agreement", "regression over words (the first judge)", "the first judge: a regression over words"),
    ("support", "agreement", "reader alone", "the trained reader alone"),
    ("support", "ragtruth", "support", "**is a whole answer supported?** RAGTruth"),
    ("support", "ragtruth", "word overlap", "word overlap"),
    ("support", "ragtruth", "embedding similarity", "embedding similarity"),
    ("support", "ragtruth", "regression over words (the first judge)", "the first judge"),
    ("support", "data2text", "support", "**is an answer about a record right?** Quintd"),
    ("support", "data2text", "word overlap", "word overlap"),
    ("support", "grounded", "ragtruth_dev", "**`grounded`, one verdict** RAGTruth"),
    ("support", "grounded", "ragtruth_dev, threshold of other documents", "threshold of other documents"),
    ("support", "grounded", "ragtruth_dev, every claim supported", '"every claim is supported"'),
    ("support", "correctness", "answer_correctness", "**is a short answer correct?** EVOUNA"),
    ("relevance", "usefulness", "relevance", "**does the context answer the question?** context_relevance"),
    ("relevance", "usefulness", "word overlap", "word overlap"),
    ("relevance", "usefulness", "embedding similarity", "embedding similarity"),
    ("relevance", "directness", "directness", f"**does the answer meet the question?** {ANSWERS}"),
    ("relevance", "directness", "embedding similarity", "embedding similarity"),
)
HEAD = ("rows", "AUROC", "balanced accuracy", "F1", "mean AUROC over sources")


LANGUAGES = {
    "en": "English", "de": "German", "es": "Spanish", "fr": "French", "it": "Italian", "nl": "Dutch",
    "pt": "Portuguese",
}  # fmt: skip


def languages(card: dict[str, Any]) -> list[str]:
    """The lines of the table of languages, from the card of assay-embedded-multilingual."""
    head = ("", "pairs", "AUROC", "balanced accuracy", "word overlap", "reader of English")
    out = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for code, name in LANGUAGES.items():
        one = card["languages"][code]
        others = (one[other]["balanced_accuracy"] for other in ("word_overlap", "english_reader"))
        cells = [
            f"{name} ({code})", str(one["rows"]), f"{one['auroc']:.3f} {between(one['auroc_95'])}",
            f"{one['balanced_accuracy']:.3f} {between(one['balanced_accuracy_95'])}", *(f"{o:.3f}" for o in others),
        ]  # fmt: skip
        out.append("| " + " | ".join(cells) + " |")
    return out


def sources(card: dict[str, Any]) -> str:
    """Balanced accuracy by language and source, as a sentence."""
    found = {
        code: ", ".join(f"{name} {one['balanced_accuracy']:.3f}" for name, one in part["by_source"].items())
        for code, part in card["languages"].items()
    }
    return "; ".join(f"{code}: {found[code]}" for code in LANGUAGES)


def between(edges: Sequence[float], sign: str = "") -> str:
    """An interval as it stands in brackets."""
    low, high = edges
    return f"({low:{sign}.3f} to {high:{sign}.3f})" if sign else f"({low:.3f}-{high:.3f})"


def table(card: dict[str, Any], with_f1: bool) -> list[str]:
    """The lines of the table; docs/evidence/embedded-judge.md leaves out F1."""
    head = [name for name in HEAD if with_f1 or name != "F1"]
    out = ["| | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|"]
    for section, part, signal, name in ROWS:
        one = card[section][part][signal]
        first = name.startswith("**")
        cells = [
            str(one["rows"]) if first else "",
            f"{one['auroc']:.3f} {between(one['auroc_95'])}",
            f"{one['balanced_accuracy']:.3f} {between(one['balanced_accuracy_95'])}",
            f"{one['f1_unsupported']:.3f} {between(one['f1_unsupported_95'])}",
            f"{one['auroc_mean_over_sources']:.3f}",
        ]
        kept = [cell for cell, title in zip(cells, HEAD, strict=True) if with_f1 or title != "F1"]
        out.append(f"| {name if first else '&nbsp;&nbsp;' + name} | " + " | ".join(kept) + " |")
    return out


def gains(card: dict[str, Any], over: str) -> list[str]:
    """What the judge gains over a signal in AUROC, over all rows and by group."""
    found = card["support"]["agreement"][f"gain over {over}"]
    return [f"{group} {one['auroc_gain']:+.3f} {between(one['auroc_gain_95'], '+')}" for group, one in found.items()]


def grades(card: dict[str, Any]) -> list[str]:
    """How what people grade goes along with what the judge says (Spearman), by set."""
    return [
        f"{signal} {one['spearman']:.3f} {between(one['spearman_95'])}"
        for found in card["support"]["graded"].values()
        for signal, one in found.items()
        if signal != "rows"
    ]


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    card = json.loads((ask.parse_args().files / "card.json").read_text(encoding="utf-8"))
    for with_f1 in (True, False):
        print("\n".join(table(card, with_f1)), end="\n\n")
    for over in ("word overlap", "regression over words (the first judge)"):
        print(f"over {over}:", ", ".join(gains(card, over)))
    print("grades:", ", ".join(grades(card)))


if __name__ == "__main__":
    main()
