"""Agreement of a verdict with itself: its label, the labels of single passages, and the quotes must fit together.

A quote is evidence if a string search finds it in its passage. The rules, for all prompts that ask for quotes:

- An invented quote (one that is not in its passage) is no evidence. It adds nothing and changes no label.
- A label that comes with quotes needs one that counts and has the same label. Otherwise the reply contradicts itself:
  the judge is asked again, and in the end the score has no value (`ambiguous`).

For support, where a verdict is on several passages together:

- A located quote that is no more than a piece of a word, or a full stop, is no evidence either.
- "supported" needs a located quote of a passage that supports the claim alone, or located quotes of two or more
  passages that have the label "together"; "contradicted" needs a located quote that contradicts it. Otherwise the reply
  contradicts itself.
- "not_mentioned" becomes the label of a located quote: a passage that supports a claim is enough for all together. A
  quote of a few letters is in any passage: it changes no label, and the reply contradicts itself.

Quotes that no search finds in the passage count in two cases: those from a picture, and those from a text that the
judge was shown with changes, behind a mask for one. They keep a label, and change none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import InconsistentReply
from assay.prompts.schemas import text_of
from assay.records import Evidence, Span
from assay.records.phrases import shortened
from assay.text import locate_parts
from assay.text.scripts import CJK

#: The key by which a judge says of an entry with a quote that the quote is in the text as it was shown, with changes.
AS_SHOWN = "as_shown"
#: The label of quotes by which several passages support a claim that none of them supports alone.
TOGETHER = "together"
_NEUTRAL = "not_mentioned"
_TELLING = 8  # letters and digits, of which one in a script without spaces counts as four


@dataclass(frozen=True, slots=True)
class PassageLabel:
    """What a reply says of one passage: a label, and the words that decide.

    Attributes:
        spans: Where the quote is in the passage; () where it is not there, or where there is none.
        pictured: Whether the passage has a picture, on which the quote may be.
        as_shown: Whether the quote is in a text that the judge was shown with changes.
        telling: Whether one located part of the quote has letters and digits enough to say something.
        whole: Whether one located part of the quote is made of whole words.
    """

    passage: int
    label: str
    quote: str | None = None
    probability: float | None = None
    spans: tuple[Span, ...] = ()
    pictured: bool = False
    as_shown: bool = False
    telling: bool = False
    whole: bool = False

    @classmethod
    def of(
        cls,
        entry: Mapping[str, Any],
        passage: int,
        text: str,
        label: str,
        *,
        probability: float | None = None,
        pictured: bool = False,
    ) -> PassageLabel:
        """What an entry of a reply says of the passage with this text, its quote searched for there."""
        quote = text_of(entry, "quote")
        spans = locate_parts(quote, text) if quote else ()
        telling = any(_weight(span.of(text)) >= _TELLING for span in spans)
        whole = any(_is_whole(span, text) for span in spans)
        return cls(passage, label, quote, probability, spans, pictured, entry.get(AS_SHOWN) is True, telling, whole)

    @property
    def counts(self) -> bool:
        """Whether the label of this passage counts: it does unless its quote is invented."""
        return self.located or not self.quote

    @property
    def located(self) -> bool:
        """Whether its quote is evidence: found, and more than a piece of a word, or where no search can find it."""
        return self.telling or self.whole or self.pictured or self.as_shown

    def evidence(self, text: str) -> tuple[Evidence, ...]:
        """The located quote, in the passage with this text."""
        return tuple(Evidence(passage=self.passage, span=span, text=span.of(text)) for span in self.spans)


def consistent(label: str, about: str, quotes: Sequence[PassageLabel]) -> str:
    """The label of a verdict whose quotes agree with it; one without quotes stands.

    Args:
        label: The label of the verdict as the reply has it.
        about: What the verdict is on, for the message to the judge.
        quotes: The quotes of the reply, in its order.

    Returns:
        The label.

    Raises:
        InconsistentReply: There are quotes, and none that counts has the label.
    """
    if quotes and not any(one.counts and one.label == label for one in quotes):
        raise _disagreement(label, about, quotes)
    return label


def consistent_support(label: str, about: str, passages: Sequence[PassageLabel]) -> str:
    """The label of a claim that agrees with what the reply says of single passages.

    Args:
        label: The label of the verdict as the reply has it.
        about: What the verdict is on, for the message to the judge.
        passages: What the reply says of single passages, in its order.

    Returns:
        The label; in place of "not_mentioned" that of a located quote, "supported" before others.

    Raises:
        InconsistentReply: No located quote has the label, or quotes of a few letters have another.
    """
    together = len({one.passage for one in passages if one.label == TOGETHER and one.located}) > 1
    if label == _NEUTRAL:
        return _lifted(about, passages, together)
    if any(one.located and one.label == label for one in passages) or (label == "supported" and together):
        return label
    raise _disagreement(label, about, [one for one in passages if one.label != _NEUTRAL or not one.counts])


def _lifted(about: str, passages: Sequence[PassageLabel], together: bool) -> str:
    lifted = {one.label for one in passages if one.telling} - {_NEUTRAL, TOGETHER}
    if lifted:
        return "supported" if "supported" in lifted else min(lifted)
    short = next((one for one in passages if one.spans and not one.telling and one.label != _NEUTRAL), None)
    if together or short is not None:
        quote = short or next(one for one in passages if one.label == TOGETHER and one.located)
        raise InconsistentReply(
            f"{about} has the label {_NEUTRAL!r}, and the quote {shortened(quote.quote or '', 80)!r} the label "
            f"{quote.label!r}. The labels of verdict and quotes must agree; quote all the words that decide."
        )
    return _NEUTRAL


def _disagreement(label: str, about: str, quotes: Sequence[PassageLabel]) -> InconsistentReply:
    """Why the quotes of a reply are no evidence for its label, and what to do."""
    said = f"{about} has the label {label!r}, and "
    invented = next((one.quote for one in quotes if not one.counts and one.quote and not one.spans), None)
    if invented is not None:
        return InconsistentReply(
            f"{said}the quote {shortened(invented, 80)!r} is not in its passage. Copy the words that decide exactly "
            "from the passage, or change the label."
        )
    if any(one.label not in (label, TOGETHER) for one in quotes):
        return InconsistentReply(f"{said}no quote has that label. The labels of verdict and quotes must agree.")
    return InconsistentReply(
        f"{said}no quote that decides. Copy the words that decide exactly from the passage; where only several "
        f"passages together support a claim, words of each of them, with the label {TOGETHER!r}; or change the label."
    )


def _is_whole(span: Span, text: str) -> bool:
    """Whether a quote has a word, and neither begins nor ends within one: "e" and "." are in any passage."""
    quoted = span.of(text)
    ends = ((text[max(0, span.start - 1) : span.start], quoted[:1]), (quoted[-1:], text[span.end : span.end + 1]))
    return any(map(str.isalnum, quoted)) and not any(one.isalnum() and other.isalnum() for one, other in ends)


def _weight(text: str) -> int:
    return sum(4 if CJK.match(char) else 1 for char in text if char.isalnum())


def count_unlocated(passages: Sequence[PassageLabel]) -> int:
    """How many quotes are not in their passages, as far as a search can tell."""
    return sum(bool(one.quote) and not one.spans and not one.pictured for one in passages)


def mark_quotes(data: Any, changed: Sequence[str]) -> None:
    """Say of every entry with a quote whether the quote is in one of these texts.

    Args:
        data: The reply; its own marks are replaced.
        changed: The texts that the judge was shown with changes, as it was shown them.
    """
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        mark_quotes(value, changed)
    if isinstance(data, dict) and isinstance(quote := data.get("quote"), str):
        data[AS_SHOWN] = any(locate_parts(quote, text) for text in changed)
