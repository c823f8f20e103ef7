"""Why a row got its scores, in words: the claims, the verdicts and the passages that decided them."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay._util.tabular import Tabular
from assay._util.terminal import shortened, width
from assay.records import Sample, Score, Verdict
from assay.records.phrases import headline, not_judged, score_in_words, units_of, verdict_in_words
from assay.records.phrases import label_in_words as _label
from assay.records.phrases import place_in_words as _where
from assay.records.phrases import shortened as _short
from assay.records.phrases import subject_of as _subject
from assay.store.store import Row

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay._util.rich_text import SafeText

__all__ = ["Explanation", "headline", "score_in_words", "units_of", "verdict_in_words"]

#: Labels that are good or bad whatever was asked; those of a question of one's own are neither.
STYLES = {
    **dict.fromkeys(("supported", "useful", "direct"), "green"),
    **dict.fromkeys(("not_mentioned", "not_useful", "indirect"), "red"),
    "contradicted": "bold red",
}


_FAVOURABLE = ("supported", "useful", "direct", "yes")
_SUBJECT = "default not bold"
WITHOUT_TEXTS = "no texts of this row are kept (--lean)"
SHOWN = 2  # verdicts of each reading in the short form


@dataclass(frozen=True, slots=True)
class Explanation(Tabular):
    """Explanation of the scores of one row, with the evidence behind them. `str()` returns plain text.

    Attributes:
        row: The row with its scores.
        metric: Label of the only metric to explain. None: all metrics of the row.
    """

    row: Row
    metric: str | None = None

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap">{html.escape(self.text())}</pre>'

    def text(self, columns: int | None = None) -> str:
        """Render the explanation as plain text.

        Args:
            columns: Greatest width of a line, in columns. None: the width of the terminal, from 60 to 140, or 110
                without a terminal.

        Returns:
            The text, with line breaks.
        """
        from assay._util.rich_text import render_text

        return render_text(self.rich(), width() if columns is None else columns)

    def __repr__(self) -> str:
        return shortened(f"<Explanation of row {self.row.number}: {', '.join(self._scores())}>", 160)

    def _items(self) -> list[dict[str, Any]]:
        wanted = [self.row.scored.scores[name] for name in self._scores()]
        return [
            {
                "row": self.row.number,
                "metric": score.metric,
                "reading": reading,
                "claim": None if one.claim is None else one.claim.text,
                "passage": None if one.passage is None else one.passage + 1,
                "label": one.label,
                "probability": one.probability,
                "quotes": [quote.text for quote in one.evidence],
                "reason": one.reason,
            }
            for score in wanted
            for reading, verdicts in score.verdicts.items()
            for one in verdicts
        ]

    def _scores(self) -> list[str]:
        return [name for name in self.row.scored.scores if self.metric in (None, name)]

    @property
    def shortened(self) -> bool:
        """Whether the short form leaves something out."""
        scores = (self.row.scored.scores[name] for name in self._scores())
        return any(len(verdicts) > SHOWN for score in scores for verdicts in score.verdicts.values())

    def rich(self, *, short: bool = False) -> RenderableType:
        """Render the explanation for a rich console: question, answer, reference, scores and verdicts.

        Args:
            short: Show at most two verdicts of each list, the unfavourable ones first. False: show all.

        Returns:
            The renderable. A note replaces the texts of a row that was stored without them.
        """
        from rich.console import Group

        sample = self.row.scored.sample
        if not sample.has_texts:
            return Group(WITHOUT_TEXTS, self.evidence(short=short))
        head = [_labelled("question", sample.question), _labelled("answer", sample.answer)]
        if sample.reference is not None:
            head.append(_labelled("reference", sample.reference))
        return Group(*head, self.evidence(short=short))

    def evidence(self, *, short: bool = False) -> RenderableType:
        """Render the scores and verdicts for a rich console, without question, answer and reference.

        Args:
            short: Show at most two verdicts of each list, the unfavourable ones first. False: show all.

        Returns:
            The renderable. It is empty where the row has no score of `metric`.
        """
        from rich.console import Group

        wanted = [self.row.scored.scores[name] for name in self._scores()]
        return Group(*(block for score in wanted for block in _score(score, self.row.scored.sample, short)))


def _score(score: Score, sample: Sample, short: bool = False) -> list[RenderableType]:
    from rich.padding import Padding

    from assay._util.rich_text import SafeText as Text

    blocks: list[RenderableType] = [Text(""), Text(headline(score), style="bold")]
    for reading, verdicts in score.verdicts.items():
        subject, _, against = reading.partition("/")
        units = units_of(score, reading, sample)
        if verdicts and verdicts[0].claim is not None:
            blocks.append(Padding(Text(f"claims of the {subject} against the {against}", style="dim"), (0, 0, 0, 2)))
        chosen = _telling(verdicts) if short else verdicts
        for verdict in chosen:
            line = Text(_label(verdict), style=STYLES.get(verdict.label, "")).append("  ", style="")
            blocks.append(Padding(_with_subject(line, verdict, units), (0, 0, 0, 2)))
            own = len(sample.passages)
            for quote in verdict.evidence:
                near = "" if verdict.label in ("supported", "contradicted", "useful", "direct") else "closest, "
                text = f"{near}{_where(quote, against, own)}: “{_short(quote.text)}”"
                blocks.append(Padding(Text(text, style="dim"), (0, 0, 0, 6)))
            if verdict.reason:
                blocks.append(Padding(Text(verdict.reason, style="dim italic"), (0, 0, 0, 6)))
        if len(chosen) < len(verdicts):
            blocks.append(Padding(Text(f"and {_more(verdicts, chosen)}", style="dim"), (0, 0, 0, 2)))
    blocks += [Padding(Text(line, style="dim"), (0, 0, 0, indent)) for line, indent in not_judged(score)]
    for name, texts in score.texts.items():
        if name == "not_judged" or any(reading.endswith("/" + name) for reading in score.verdicts):
            continue  # shown with the verdicts on them
        blocks.append(Padding(Text(f"{name}: {'; '.join(texts) or '–'}", style="dim"), (0, 0, 0, 2)))
    if score.error is not None and score.error.raw:
        blocks.append(Padding(Text("the judge's reply: " + _short(score.error.raw, 400), style="dim"), (0, 0, 0, 2)))
    return blocks


def _with_subject(line: SafeText, verdict: Verdict, units: Sequence[str]) -> SafeText:
    """What was judged behind its label; the parts by which a claim is not supported are underlined."""
    text, done = _subject(verdict, units), 0
    for part in verdict.unsupported:
        line.append(text[done : part.start], style=_SUBJECT).append(part.of(text), style=f"{_SUBJECT} underline")
        done = part.end
    return line.append(text[done:], style=_SUBJECT)


def _telling(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that say most about a score, in their order: those against, then the others, a few in all."""
    against = [n for n, verdict in enumerate(verdicts) if verdict.label not in _FAVOURABLE]
    others = [n for n, verdict in enumerate(verdicts) if verdict.label in _FAVOURABLE]
    return [verdicts[n] for n in sorted([*against, *others][:SHOWN])]


def _more(verdicts: Sequence[Verdict], shown: Sequence[Verdict]) -> str:
    """What is left out, by label: "3 more supported"."""
    left = Counter(verdict.label for verdict in verdicts)
    left.subtract(verdict.label for verdict in shown)
    return ", ".join(f"{count} more {label}" for label, count in left.items() if count)


def _labelled(name: str, text: str | None) -> RenderableType:
    from assay._util.rich_text import SafeText as Text

    return Text(f"{name}: ", style="bold").append(text if text is not None else "–", style="not bold")
