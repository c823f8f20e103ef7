"""A text into its claims: one for each sentence or list item that states something. English; less is known of others.

A claim's span is the sentence itself, as it stands. Its text is what has to be judged: the same words without list
marks, citations and talk of the sources ("1. According to passage 2, it is red [2]." claims "It is red."). Two kinds
cannot be understood alone: an item that is no sentence carries the nearest line it hangs on ("Members get: 30 days"),
or where there is none the question that it answers, and "Yes." is written out as the answer to its question ("Yes, the
library is open on Mondays."). A number or citation alone ("1.", "[3]", "(Passage 3)") belongs to its neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.judges.claim_rules import languages as further
from assay.judges.claim_rules.headings import (
    HeadingLine,
    Leads,
    as_lead,
    bare,
    is_fragment,
    is_label,
    is_open,
    line_of,
    opens_items,
)
from assay.judges.claim_rules.plain import only_names, plain
from assay.judges.claim_rules.small_talk import is_aside
from assay.judges.claim_rules.sources import heads_sources, without_sources
from assay.judges.claim_rules.statements import asks, is_question, leads_in, states_something
from assay.judges.claim_rules.yes_no import as_answer, is_polar, is_short_answer
from assay.records import Claim, Span
from assay.text import split_sentences
from assay.text.citations import behind_sentence, marks

#: Raise it when texts are read differently: decision judges then ask anew. The embedded judge has `RULES` of its own.
RULES = 9

_TABLE_HEAD = re.compile(r"\|[^\n]{1,200}\|[ \t]*\n[ \t]*\|[ \t:|-]{2,200}\|")
_BLANK = re.compile(r"\s+")
_FOOTNOTE = re.compile(r"\[\^?\w{1,10}\]:")
_SOURCES = "sources"  # what the titles below such a heading hang on
_LONGEST_TITLE = 12  # words
_LONGEST_MARKS = 120  # characters
_LONGEST_QUESTION = 300  # characters of one that a fragment is read with


def sentence_claims(text: str, language: str = "en", question: str | None = None) -> tuple[Claim, ...]:
    """The claims of `text`, in order. Empty for a refusal, small talk or an empty text. Linear.

    `question` is the one that the text answers: by it "Yes." is understood, and a list without a lead-in.
    """
    sentences = _with_marks(text, split_sentences(text, language))
    reader = _ClaimReader(text, sentences, question, language if further.is_further(language) else None)
    return tuple(claim for n in range(len(sentences)) if (claim := reader.claim(n)) is not None)


@dataclass(slots=True)
class _ClaimReader:
    """Reads sentence by sentence, and remembers on which line the items below hang."""

    text: str
    sentences: Sequence[Span]
    question: str | None
    further: str | None = None  # a language besides English of which something is known
    leads: Leads = field(default_factory=Leads)

    def claim(self, n: int) -> Claim | None:
        """The claim that sentence `n` makes, or None. Expects to be asked in order."""
        span = self.sentences[n]
        sentence = span.of(self.text)
        said = bare(sentence)
        line = line_of(self.text, span)
        fragment = self._is_fragment(said)
        lead = self.leads.of(line, close=fragment and self._right_below(n))
        if opens_items(self.text, self.sentences, n):
            heading = heads_sources(sentence)
            found = _SOURCES if heading else as_lead(said)
            self.leads.add(line, found)
            if heading or is_label(said) or is_open(said, carried=found is not None and self._carried(n, line)):
                return None
        if fragment and (lead == _SOURCES or _FOOTNOTE.match(sentence)) and only_names(plain(said), _LONGEST_TITLE):
            return None
        if self.further is not None and further.is_short_answer(said, self.further):
            asked = self._asked(n)
            return Claim(text=f"{asked} {said}", span=span) if asked else None
        asked = self._asked(n)
        yes = is_short_answer(said, politely=not (asked and is_polar(asked)))
        if asked and yes is not None and (is_polar(asked) or len(self.sentences) == 1):
            return Claim(text=as_answer(said, asked, yes=yes), span=span)
        if yes is not None and len(self.sentences) > 1:
            return None  # a "Yes" to nothing, before or after what it is about
        if not self._states(n, said) or (len(self.sentences) > 1 and is_aside(plain(said))):
            return None
        if fragment and lead:
            return Claim(text=f"{lead}: {said}", span=span)
        if fragment and line is not None and line.mark and (answered := self._answered(said)):
            return Claim(text=f"{answered} {said}", span=span)
        return Claim(text=said, span=span)

    def _right_below(self, n: int) -> bool:
        return n > 0 and self.text[self.sentences[n - 1].end : self.sentences[n].start].count("\n") == 1

    def _states(self, n: int, said: str) -> bool:
        """Whether sentence `n`, which says this, is more than talk, a refusal, a lead-in or the head of a table."""
        sentence = self.sentences[n].of(self.text)
        if self.further is not None and said and not further.states_something(said, self.further):
            return False
        if not said or not states_something(sentence) or not states_something(said) or leads_in(said, self.question):
            return False
        return not (is_label(sentence) and _TABLE_HEAD.match(self.text, self.sentences[n].start))

    def _carried(self, n: int, line: HeadingLine | None) -> bool:
        """Whether what comes next is a fragment below sentence `n`, and so is judged with it."""
        said, below = bare(self.sentences[n + 1].of(self.text)), line_of(self.text, self.sentences[n + 1])
        if below is not None and below.mark and line is not None and line.mark and not below.hangs_on(line):
            return False
        if opens_items(self.text, self.sentences, n + 1) or is_short_answer(said) is not None:
            return False
        return self._is_fragment(said) and self._states(n + 1, said)

    def _is_fragment(self, said: str) -> bool:
        return is_fragment(said) if self.further is None else further.is_fragment(said)

    def _answered(self, said: str) -> str | None:
        """The question that an item answers which is no sentence and hangs on no line.

        An answer that is no more than a few words stays as it is: a reference often has just the same.
        """
        question = (self.question or "").strip()
        if not question or len(question) > _LONGEST_QUESTION or said.rstrip(" *_").endswith(":"):
            return None
        return question if asks(question) else None

    def _asked(self, n: int) -> str | None:
        """The question that a short answer answers: one right before it, else that of the text."""
        if n and is_question(before := self.sentences[n - 1].of(self.text)):
            return before
        if self.question and (is_polar(self.question) or (n == 0 and is_question(self.question))):
            return self.question
        return None


def _with_marks(text: str, spans: Sequence[Span]) -> list[Span]:
    """The sentences that say something; what has no letter joins the one before it on its line, else the one after.

    So do citations alone, also from the line below ("(Passage 3)"), and those that begin the next sentence ("It is red.
    [1] It is long.").
    """
    joined: list[Span] = []
    held: Span | None = None
    for span in _parted(text, spans):
        words = span.of(text)
        between = text[joined[-1].end : span.start] if joined and held is None else None
        cites = _only_cites(words)
        if any(map(str.isalpha, words)) and not cites:
            start = span.start if held is None else held.start
            joined.append(Span(start, span.end))
            held = None
        elif held is not None:
            held = Span(held.start, span.end)
        elif between is not None and not between.strip(" \n" if cites else " ") and between.count("\n") < 2:
            joined[-1] = Span(joined[-1].start, span.end)
        elif any(map(str.isalnum, words)):
            held = span
    return joined if held is None else [*joined, held]


def _parted(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The sentences, with the citations behind one of them apart: "It is red.¹ It is long." and "[1] It is long." """
    for span in spans:
        start = span.start
        for mark in marks(span.of(text)):
            behind = mark.span.shift(span.start)
            if behind.end < span.end and behind_sentence(text, behind):
                yield Span(start, behind.end)
                blank = _BLANK.match(text, behind.end, span.end)
                start = blank.end() if blank else behind.end
        yield Span(start, span.end)


def _only_cites(sentence: str) -> bool:
    return len(sentence) <= _LONGEST_MARKS and sentence[0] in "([【" and not without_sources(sentence)
