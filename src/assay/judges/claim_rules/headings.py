"""Headings and lead-ins: which line the items of a list hang on, and what of it goes into their claims. English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.judges.claim_rules.plain import has_figures, has_verb, plain, words
from assay.judges.claim_rules.small_talk import is_talk
from assay.judges.claim_rules.sources import without_sources
from assay.records import Span

_ITEM = re.compile(
    r"\s*(?:(?P<bullet>[-*+•‣⁃◦▪●○■□·–—])\s+|\(?(?:(?P<number>\d{1,3})|[a-z]|[ivxlc]{1,6})[.)]\s+|\(?[A-Z]\)\s+)"
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*\n]*\*\*:?\s*\Z)")
_HASHES = re.compile(r"\s*#{1,6}\s+")
_OPEN_END = re.compile(
    r"(?:what|how|here)\b|.*\b(?:is|are|was|were|has|have|do|does|get|gets|receive|receives|offers?|includes?|shows?|"
    r"carries|contains?|provides?|can|must|may|needs?|including|such as|as follows|(?:the|these) following)\Z"
)
#: "Here are the side effects of Solvane:" is small talk, and what its items hang on all the same.
_HERE = re.compile(
    r"(?:(?:sure|certainly|absolutely|of course|ok(?:ay)?)\W{1,3})?(?:here(?:'s|’s| is| are)|(?:these|those|below) are"
    r"|the following (?:is|are)) "
    r"(?P<what>(?:(?:the|some|a|an|few|my|brief|short|general|main|key|possible|common) ){0,4}"
    r"(?P<of>[^:]{0,200}))",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:of|for|to|about|on|in|how|that|which|between|from)\b")
_MARKS = " \t\n*#_"
_LABEL = 3  # words of a heading or lead-in that states nothing,
_LONGEST = 200  # and characters of one that goes into the claims below it
_DEEPEST = 40  # columns by which an item may be indented


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """Where a sentence begins: the column, and what sort of list mark it has; "" for none."""

    column: int
    mark: str

    def hangs_on(self, lead: HeadingLine) -> bool:
        """Whether an item with this beginning is below `lead`, and no sibling of it."""
        return self.column > lead.column or (self.column == lead.column and self.mark != lead.mark)


def line_of(text: str, span: Span) -> HeadingLine | None:
    """How the line begins that a sentence opens; None where it stands further on in a line."""
    before = text[max(0, span.start - _DEEPEST) : span.start]
    line = before[before.rfind("\n") + 1 :]
    if line.strip() or (line == before and span.start > len(before)):
        return None
    item = _ITEM.match(span.of(text))
    mark = "" if item is None else item["bullet"] or ("1" if item["number"] else "a")
    return HeadingLine(len(line.expandtabs(4)), mark)


@dataclass(slots=True)
class Leads:
    """The leads that a sentence may hang on, from the outermost to the nearest."""

    above: list[tuple[HeadingLine, str]] = field(default_factory=list)
    fresh: bool = False  # the nearest is the sentence before

    def of(self, line: HeadingLine | None, *, close: bool) -> str | None:
        """What the next sentence hangs on. `close`: it is a fragment right below the one before, though no item."""
        fresh, self.fresh = self.fresh, False
        if line is not None and line.mark:
            while self.above and not (line.hangs_on(self.above[-1][0]) or (fresh and not self.above[-1][0].mark)):
                self.above.pop()
                fresh = False
            return self.nearest
        if line is None:
            return self.nearest if fresh else None  # an item may have several sentences
        nearest = self.nearest if fresh or close else None
        if nearest is None or not close:
            self.above.clear()
        return nearest

    @property
    def nearest(self) -> str | None:
        return self.above[-1][1] if self.above else None

    def add(self, line: HeadingLine | None, lead: str | None) -> None:
        """The sentence itself is a lead; `None` for one that says nothing to its items."""
        if line is None or not line.mark:
            self.above.clear()
        if lead:
            self.above.append((line or HeadingLine(0, ""), lead))
            self.fresh = True


def opens_items(text: str, sentences: Sequence[Span], n: int) -> bool:
    """Whether sentence `n` is a heading, or a line before a list."""
    sentence = sentences[n].of(text)
    if n + 1 == len(sentences) or len(sentence) > _LONGEST:
        return False
    between = text[sentences[n].end : sentences[n + 1].start]
    if _HEADING.match(sentence):
        return True
    return sentence.rstrip(_MARKS).endswith(":") and ("\n" in between or is_label(sentence))


def as_lead(said: str) -> str | None:
    """What items carry of a lead, which comes without talk of the sources; None where it says nothing to them."""
    here = _HERE.match(said)
    if here is not None:
        return here["what"].strip(_MARKS) if _OF.search(here["of"]) else None
    return None if is_talk(plain(said)) else said.strip(_MARKS).rstrip(":").rstrip(_MARKS) or None


def is_label(said: str) -> bool:
    """A heading or lead-in that names what follows and states nothing: "Side effects:"."""
    text = plain(said)
    return len(words(text)) <= _LABEL and not has_figures(text) and not has_verb(text)


def is_open(said: str, *, carried: bool) -> bool:
    """Whether a lead-in is no clause without what follows it: "Members get:", "What we know:".

    A long one is only where its items carry it, so that what it states is judged with them.
    """
    text = plain(said).rstrip(": ")
    return (carried or (len(words(text)) <= _LABEL and not has_figures(text))) and (
        _OPEN_END.match(text) is not None or (carried and (_HERE.match(said) is not None or not has_verb(text)))
    )


def is_fragment(said: str) -> bool:
    """No sentence, as items of lists mostly are: without a verb, or without a full stop and short."""
    text = plain(said)
    return not has_verb(text) and not (text.endswith((".", "!", "?")) and len(words(text)) > _LABEL)


def without_list_mark(sentence: str) -> str:
    """The sentence without "- ", "2. " or "## " before it."""
    item = _ITEM.match(sentence) or _HASHES.match(sentence)
    return sentence[item.end() :] if item else sentence


def bare(sentence: str) -> str:
    """What a sentence says, without list mark and sources; empty where it speaks of the sources alone."""
    return without_sources(without_list_mark(sentence))
