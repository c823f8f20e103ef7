"""The command `assay demo`: answers that people have judged, scored by the embedded judge."""

from __future__ import annotations

from pathlib import Path

from assay.cli.options import StoreOption, named_again
from assay.cli.output import say, show


def demo(store: StoreOption = Path(".assay")) -> None:
    """Score 22 real answers offline, and explain the worst one."""
    from assay.data.demo import answers
    from assay.evaluation.display.table import as_rich
    from assay.evaluation.evaluate import evaluate

    result = evaluate(answers(), store=store, note="assay demo")
    show(as_rich(result))
    worst = result.worst("faithfulness")
    if worst is not None:
        label = worst.scored.sample.metadata["human"]
        say(f"\nThe least faithful answer, row {worst.number} (people labelled it: {label})\n")
        show(result.explain(worst.number, "faithfulness").rich())
    say(f"\nMore: assay show last ROW{named_again(store)}")
