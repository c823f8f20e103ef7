"""Why a row got its scores, in words: the claims, the verdicts and the passages that decided them."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.records import Evidence, Sample, Score, Verdict
from assay.store import Row

if TYPE_CHECKING:
    from rich.console import RenderableType

_AGAINST = {"contexts": "passage", "reference": "reference", "answer": "answer"}
_FAVOURABLE = {
    "not_mentioned": "supported",
    "contradicted": "supported",
    "not_useful": "useful",
    "indirect": "direct",
    "no": "yes",
}
_STYLE = {"supported": "green", "useful": "green", "direct": "green", "yes": "", "no": "", "contradicted": "bold red"}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One row's scores with their evidence; `metric` limits it to one. `str()` gives plain text."""

    row: Row
    metric: str | None = None

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap">{html.escape(self.text())}</pre>'

    def text(self, width: int = 110) -> str:
        """The explanation as plain text of at most `width` columns."""
        from rich.console import Console

        buffer = io.StringIO()
        Console(file=buffer, width=width, color_system=None, legacy_windows=False).print(self.rich())
        return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())

    def rich(self) -> RenderableType:
        """The explanation for a rich console."""
        from rich.console import Group

        sample = self.row.scored.sample
        wanted = [s for name, s in self.row.scored.scores.items() if self.metric in (None, name)]
        head = [_labelled("question", sample.question), _labelled("answer", sample.answer)]
        if sample.reference is not None:
            head.append(_labelled("reference", sample.reference))
        blocks = [block for score in wanted for block in _score(score, sample)]
        return Group(*head, *blocks)


def score_in_words(score: Score, sample: Sample) -> str:
    """One score and its evidence in a few plain sentences, for comments and feedback fields."""
    left = [" " * (indent - 2) + line for line, indent in _not_judged(score)]
    if score.unscored is not None:
        return "\n".join([f"Not scored ({score.unscored.cause}): {score.unscored.message}", *left])
    lines = [headline(score)]
    for reading, verdicts in score.verdicts.items():
        units = units_of(score, reading, sample)
        own = len(sample.passages)
        lines += ["- " + verdict_in_words(verdict, reading, units, own) for verdict in verdicts]
    return "\n".join(lines + left)


def units_of(score: Score, reading: str, sample: Sample) -> Sequence[str]:
    """What the verdicts of a reading number: the sentences of the contexts, or the contexts themselves."""
    _, _, against = reading.partition("/")
    return score.texts.get(against) or sample.passages


def headline(score: Score) -> str:
    """The value and the numbers it was made from."""
    if score.unscored is not None:
        return f"{score.metric}: not scored ({score.unscored.cause}): {score.unscored.message}"
    parts = ", ".join(f"{name} {value:.3g}" for name, value in score.parts.items())
    return f"{score.metric} = {score.value:.3f}" + (f" ({parts})" if parts else "")


def verdict_in_words(verdict: Verdict, reading: str, units: Sequence[str], own: int) -> str:
    """One verdict: what was judged, the label with its probability, the quotes, the reason.

    `units` are the passages (or sentences) that the verdict's `passage` counts; `own` of the passages are this turn's.
    """
    _, _, against = reading.partition("/")
    return f"{_label(verdict)}: {_subject(verdict, units)}" + "".join(
        f" [{_where(quote, against, own)}: “{_short(quote.text)}”]" for quote in verdict.evidence
    ) + (f" ({verdict.reason})" if verdict.reason else "")  # fmt: skip


def _score(score: Score, sample: Sample) -> list[RenderableType]:
    from rich.padding import Padding

    from assay.report.seen import SeenText as Text

    blocks: list[RenderableType] = [Text(""), Text(headline(score), style="bold")]
    for reading, verdicts in score.verdicts.items():
        subject, _, against = reading.partition("/")
        units = units_of(score, reading, sample)
        if verdicts and verdicts[0].claim is not None:
            blocks.append(Padding(Text(f"claims of the {subject} against the {against}", style="dim"), (0, 0, 0, 2)))
        for verdict in verdicts:
            line = Text(_label(verdict), style=_STYLE.get(verdict.label, "red")).append("  ", style="")
            blocks.append(Padding(line.append(_subject(verdict, units), style="default not bold"), (0, 0, 0, 2)))
            own = len(sample.passages)
            for quote in verdict.evidence:
                near = "" if verdict.label in ("supported", "contradicted", "useful", "direct") else "closest, "
                text = f"{near}{_where(quote, against, own)}: “{_short(quote.text)}”"
                blocks.append(Padding(Text(text, style="dim"), (0, 0, 0, 6)))
            if verdict.reason:
                blocks.append(Padding(Text(verdict.reason, style="dim italic"), (0, 0, 0, 6)))
    blocks += [Padding(Text(line, style="dim"), (0, 0, 0, indent)) for line, indent in _not_judged(score)]
    for name, texts in score.texts.items():
        if name == "not_judged" or any(reading.endswith("/" + name) for reading in score.verdicts):
            continue  # shown with the verdicts on them
        blocks.append(Padding(Text(f"{name}: {'; '.join(texts) or '–'}", style="dim"), (0, 0, 0, 2)))
    if score.unscored is not None and score.unscored.raw:
        blocks.append(Padding(Text("the judge's reply: " + _short(score.unscored.raw, 400), style="dim"), (0, 0, 0, 2)))
    return blocks


def _not_judged(score: Score) -> list[tuple[str, int]]:
    """The lines, with their indents, that name what no verdict speaks of."""
    left = score.texts.get("not_judged", ())
    if not left:
        return []
    head = f"not judged: {len(left)} sentence{'' if len(left) == 1 else 's'}"
    return [(head, 2), *((_short(sentence), 6) for sentence in left)]


def _labelled(name: str, text: str | None) -> RenderableType:
    from assay.report.seen import SeenText as Text

    return Text(f"{name}: ", style="bold").append(text if text is not None else "–", style="not bold")


def _label(verdict: Verdict) -> str:
    """The label; the probability is that of the favourable one, which is named where it is another."""
    label = verdict.label.replace("_", " ")
    if verdict.probability is None:
        return label
    other = _FAVOURABLE.get(verdict.label)
    return f"{label} (p{f' of {other} ' if other else '='}{verdict.probability:.2f})"


def _subject(verdict: Verdict, units: Sequence[str]) -> str:
    if verdict.claim is not None:
        return verdict.claim.text
    if verdict.passage is not None and verdict.passage < len(units):
        return f"{verdict.passage + 1}: {_short(units[verdict.passage])}"
    return ""


def _where(quote: Evidence, against: str, own: int) -> str:
    kind = _AGAINST.get(against, "passage")
    place = f"{kind} {quote.passage + 1}" if kind == "passage" else kind
    if against == "conversation" and quote.passage >= own:
        place = f"passage {quote.passage - own + 1} of earlier turns"
    return f"{place}, characters {quote.span.start}–{quote.span.end}"


def _short(text: str, most: int = 240) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
