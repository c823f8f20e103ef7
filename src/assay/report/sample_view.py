"""One sample for a terminal: the answer with its claims in the colours of their verdicts, the passages with the quotes
that decided them, then each score's formula and the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay._util.rich_text import SafeText
from assay.evaluation.display.explanation import STYLES, WITHOUT_TEXTS, Explanation
from assay.report.formulas import filled_in

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.records import Sample, Score
    from assay.store.store import Row

_QUOTED = "reverse"
_OTHER = "cyan"  # labels that are neither good nor bad
_WORST_FIRST = ("contradicted", "not_mentioned")
#: What is read against passages; the first of these that a score has says how its claims are coloured.
_AGAINST = ("contexts", "conversation", "tools", "reference")


@dataclass(frozen=True, slots=True)
class ViewPart:
    """Characters of a text and how they are shown; of pieces that overlap the shortest wins, then the lowest `rank`."""

    start: int
    end: int
    style: str
    rank: int = 0


def painted(text: str, pieces: Iterable[ViewPart]) -> SafeText:
    """The text with its pieces in their styles. Pieces reach no farther than the text."""
    found = [piece for piece in pieces if 0 <= piece.start < piece.end <= len(text)]
    begins: dict[int, list[ViewPart]] = {}
    ends: dict[int, list[ViewPart]] = {}
    for piece in found:
        begins.setdefault(piece.start, []).append(piece)
        ends.setdefault(piece.end, []).append(piece)
    made, start, inside = SafeText(""), 0, list[ViewPart]()
    for edge in sorted({*begins, *ends, len(text)}):
        style = min(inside, key=lambda piece: (piece.end - piece.start, piece.rank)).style if inside else ""
        made.append(text[start:edge], style)
        start = edge
        inside = [piece for piece in inside if piece.end != edge] + begins.get(edge, [])
    return made


def sample_view(row: Row, metric: str | None = None, *, full: bool = False) -> RenderableType:
    """The row, for a rich console; `metric` limits it to one, and `full` shows every verdict of every metric."""
    from rich.console import Group
    from rich.padding import Padding

    sample = row.scored.sample
    scores = {name: score for name, score in row.scored.scores.items() if metric in (None, name)}
    score, reading = _telling(scores)
    claims = [] if score is None else _claims(score, reading)
    quotes = {} if score is None else _quotes(score, reading)
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


def _telling(scores: Mapping[str, Score]) -> tuple[Score | None, str]:
    """The score whose reading of the answer's claims is shown in colour, and which reading it is."""
    for against in _AGAINST:
        for score in scores.values():
            if score.verdicts.get(f"answer/{against}"):
                return score, f"answer/{against}"
    return None, ""


def _claims(score: Score, reading: str) -> list[ViewPart]:
    return [
        ViewPart(verdict.claim.span.start, verdict.claim.span.end, STYLES.get(verdict.label, _OTHER),
              _WORST_FIRST.index(verdict.label) if verdict.label in _WORST_FIRST else len(_WORST_FIRST))
        for verdict in score.verdicts[reading] if verdict.claim is not None
    ]  # fmt: skip


def _quotes(score: Score, reading: str) -> dict[int, list[ViewPart]]:
    """By passage the quotes that the verdicts name."""
    found: dict[int, list[ViewPart]] = {}
    for verdict in score.verdicts[reading]:
        for quote in verdict.evidence if not reading.endswith(("/reference", "/tools")) else ():
            style = f"{STYLES.get(verdict.label, _OTHER)} {_QUOTED}"
            found.setdefault(quote.passage, []).append(ViewPart(quote.span.start, quote.span.end, style))
    return found


def _passages(sample: Sample, quotes: Mapping[int, list[ViewPart]]) -> list[SafeText]:
    if sample.contexts is None:
        return [SafeText("not known", style="dim")]
    if not sample.contexts:
        return [SafeText("nothing was retrieved", style="dim")]
    return [
        _headed(f"{number}  ", painted(context.text, quotes.get(number - 1, ())))
        for number, context in enumerate(sample.contexts, 1)
    ]
