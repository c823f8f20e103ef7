"""One sample for a terminal: the answer with its claims in the colours of their verdicts, the passages with the quotes
that decided them, then each score's formula and the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from assay._util.rich_text import SafeText
from assay.evaluation.display.explanation import STYLES, WITHOUT_TEXTS, Explanation
from assay.report.formulas import filled_in
from assay.report.marked_text import ViewPart, claim_parts, quote_parts, segments, telling

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.records import Sample, Score
    from assay.store.store import Row

_QUOTED = "reverse"
_OTHER = "cyan"  # labels that are neither good nor bad


def painted(text: str, pieces: Iterable[ViewPart]) -> SafeText:
    """The text with its pieces in their styles. Pieces reach no farther than the text."""
    made = SafeText("")
    for piece, style in segments(text, pieces):
        made.append(piece, style)
    return made


def sample_view(row: Row, metric: str | None = None, *, full: bool = False) -> RenderableType:
    """The row, for a rich console; `metric` limits it to one, and `full` shows every verdict of every metric."""
    from rich.console import Group
    from rich.padding import Padding

    sample = row.scored.sample
    scores = {name: score for name, score in row.scored.scores.items() if metric in (None, name)}
    score, reading = telling(scores)
    claims = [] if score is None else claim_parts(score, reading, _style)
    quotes = {} if score is None else quote_parts(score, reading, lambda label: f"{_style(label)} {_QUOTED}")
    blocks: list[RenderableType] = [_title(row)]
    if sample.has_texts:
        blocks += [
            _labelled("question", SafeText(sample.question or "–")),
            _labelled("answer", painted(sample.answer or "–", claims)),
        ]
        if sample.reference is not None:
            blocks.append(_labelled("reference", SafeText(sample.reference)))
        blocks += [SafeText(""), SafeText("passages", style="bold")]
        blocks += [Padding(one, (0, 0, 0, 2)) for one in _passages(sample, quotes)]
    else:
        blocks.append(WITHOUT_TEXTS)
    blocks += [SafeText(""), SafeText("scores", style="bold")]
    blocks += [Padding(_score(name, one), (0, 0, 0, 2)) for name, one in scores.items()]
    explanation = Explanation(row, metric)
    blocks += [SafeText(""), SafeText("why", style="bold"), explanation.evidence(short=metric is None and not full)]
    return Group(*blocks)


def _title(row: Row) -> SafeText:
    name = row.scored.sample.id
    return SafeText(f"row {row.number}", style="bold underline").append("" if name is None else f"  {name}", "not bold")


def _labelled(name: str, text: SafeText) -> SafeText:
    return _headed(f"{name}: ", text)


def _headed(head: str, text: SafeText) -> SafeText:
    whole = SafeText("").append(head, "bold")
    whole.append_text(text)
    return whole


def _score(name: str, score: Score) -> SafeText:
    if score.error is not None:
        return SafeText(f"{name}: not scored ({score.error.cause}): {score.error.message}", style="yellow")
    return _headed(f"{name}: ", SafeText(filled_in(score)))


def _style(label: str) -> str:
    return STYLES.get(label, _OTHER)


def _passages(sample: Sample, quotes: Mapping[int, list[ViewPart]]) -> list[SafeText]:
    if sample.contexts is None:
        return [SafeText("not known", style="dim")]
    if not sample.contexts:
        return [SafeText("nothing was retrieved", style="dim")]
    return [
        _headed(f"{number}  ", painted(context.text, quotes.get(number - 1, ())))
        for number, context in enumerate(sample.contexts, 1)
    ]
