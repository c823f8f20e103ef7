"""Agreement of a verdict with itself: its label, the labels of single passages, and the quotes must fit together.

A quote is evidence if a string search finds it in its passage. The rules, for all prompts that ask for quotes:

- An invented quote (one that is not in its passage) is no evidence. It adds nothing and changes no label.
- A label that comes with quotes needs one that counts and has the same label. Otherwise the reply contradicts itself:
  the judge is asked again, and in the end the score has no value (`ambiguous`).
- "not_mentioned" becomes the label of a located quote: a passage that supports a claim is enough for all together. A
  quote of a few letters is in any passage: it changes no label, and the reply contradicts itself.
- A label without quotes stands: passages may support a claim together where none does alone.

Three things count although no search finds them in the passage: a label without a quote, a quote from a picture, and
a quote from a text that the judge was shown with changes, behind a mask for one. They keep a label, and change none.
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
_TELLING = 8  # letters and digits, of which one in a script without spaces counts as four


@dataclass(frozen=True, slots=True)
class PassageLabel:
    """What a reply says of one passage: a label, and the words that decide.

    Attributes:
        spans: Where the quote is in the passage; () where it is not there, or where there is none.
        pictured: Whether the passage has a picture, on which the quote may be.
        as_shown: Whether the quote is in a text that the judge was shown with changes.
        telling: Whether one located part of the quote has letters and digits enough to say something.
    """

    passage: int
    label: str
    quote: str | None = None
    probability: float | None = None
    spans: tuple[Span, ...] = ()
    pictured: bool = False
    as_shown: bool = False
    telling: bool = False

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
        return cls(passage, label, quote, probability, spans, pictured, entry.get(AS_SHOWN) is True, telling)

    @property
    def counts(self) -> bool:
        """Whether the label of this passage counts: it does unless its quote is invented."""
        return bool(self.spans) or not self.quote or self.pictured or self.as_shown

    def evidence(self, text: str) -> tuple[Evidence, ...]:
        """The located quote, in the passage with this text."""
        return tuple(Evidence(passage=self.passage, span=span, text=span.of(text)) for span in self.spans)


def consistent(label: str, about: str, passages: Sequence[PassageLabel], neutral: str | None = None) -> str:
    """The label of a verdict that agrees with what the reply says of single passages.

    Args:
        label: The label of the verdict as the reply has it.
        about: What the verdict is on, for the message to the judge.
        passages: What the reply says of single passages, in its order.
        neutral: The label that says nothing either way, "not_mentioned".

    Returns:
        The label; in place of the neutral one that of a located quote, "supported" before others.

    Raises:
        InconsistentReply: Passages are named, and none that counts has the label.
    """
    if label == neutral:
        short = next((one for one in passages if one.spans and not one.telling and one.label != neutral), None)
        lifted = {one.label for one in passages if one.telling} - {neutral}
        if short is not None and not lifted:
            raise InconsistentReply(
                f"{about} has the label {label!r}, and the quote {shortened(short.quote or '', 80)!r} the label "
                f"{short.label!r}. The labels of verdict and quotes must agree; quote all the words that decide."
            )
        return "supported" if "supported" in lifted else min(lifted, default=label)
    stated = [one for one in passages if one.label != neutral or not one.counts]
    if not stated or any(one.counts and one.label == label for one in stated):
        return label
    invented = next((one.quote for one in stated if not one.counts and one.quote), None)
    if invented is not None:
        raise InconsistentReply(
            f"{about} has the label {label!r}, and the quote {shortened(invented, 80)!r} is not in its passage. Copy "
            "the words that decide exactly from the passage, or change the label."
        )
    raise InconsistentReply(
        f"{about} has the label {label!r}, and no quote has that label. The labels of verdict and quotes must agree."
    )


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
