"""A text into its claims: one for each sentence or list item that states something. English.

A claim's span is the sentence itself, and its text the same words, but for two kinds that cannot be understood alone:
an item that is no sentence carries the line it hangs on ("Members get: 30 days"), and "Yes." is written out as the
answer to its question ("Yes, the library is open on Mondays."). A number or mark alone ("1.", "[3]") belongs to its
neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.judges.sentence_claims.plain import has_figures, has_verb, plain, words
from assay.judges.sentence_claims.statements import is_question, is_talk, states_something
from assay.judges.sentence_claims.yes_no import as_answer, is_polar, is_short_answer
from assay.records import Claim, Span
from assay.text import split_sentences

#: Raise it when texts are read differently: decision judges then ask anew. The embedded judge has `RULES` of its own.
RULES = 3

_ITEM = re.compile(r"\s*(?:[-*+•‣⁃◦▪●○■□·–—]\s+|\(?(?:\d{1,3}|[a-zA-Z]|[ivxlc]{1,6})[.)]\s+)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*\n]*\*\*:?\s*\Z)")
_TABLE_HEAD = re.compile(r"\|[^\n]{1,200}\|[ \t]*\n[ \t]*\|[ \t:|-]{2,200}\|")
_OPEN_END = re.compile(
    r"(?:what|how|here)\b|.*\b(?:is|are|was|were|has|have|do|does|get|gets|receive|receives|offers?|includes?|shows?|"
    r"carries|contains?|provides?|can|must|may|needs?)\Z"
)
_LETTER = re.compile(r"[^\W\d_]")
_MARKS = " \t\n*#_"
_LABEL = 3  # words of a heading or lead-in that states nothing,
_LONGEST_LEAD = 200  # and characters of one that goes into the claims below it


def sentence_claims(text: str, language: str = "en", question: str | None = None) -> tuple[Claim, ...]:
    """The claims of `text`, in order. Empty for a refusal, small talk or an empty text. Linear.

    `question` is the one that the text answers: by it "Yes." is understood.
    """
    sentences = _with_marks(text, split_sentences(text, language))
    reader = _Reader(text, sentences, question)
    return tuple(claim for n in range(len(sentences)) if (claim := reader.claim(n)) is not None)


@dataclass(slots=True)
class _Reader:
    """Reads sentence by sentence, and remembers on which line the items below hang."""

    text: str
    sentences: Sequence[Span]
    question: str | None
    lead: str | None = None

    def claim(self, n: int) -> Claim | None:
        """The claim that sentence `n` makes, or None. Expects to be asked in order."""
        span = self.sentences[n]
        sentence = span.of(self.text)
        lead, self.lead = self.lead, None
        if self._opens_items(n, sentence):
            self.lead = None if is_talk(plain(sentence)) else sentence.strip(_MARKS).rstrip(":").rstrip(_MARKS)
            if _is_label(sentence) or _leads_in(sentence):
                return None
        elif lead and _ITEM.match(sentence):
            self.lead = lead
        asked = self._asked(n)
        yes = is_short_answer(sentence, politely=not (asked and is_polar(asked)))
        if asked and yes is not None:
            return Claim(text=as_answer(sentence, asked, yes=yes), span=span)
        if yes is not None and len(self.sentences) > 1:
            return None  # a "Yes" to nothing, before or after what it is about
        if not states_something(sentence) or (_TABLE_HEAD.match(self.text, span.start) and _is_label(sentence)):
            return None
        if lead and _is_fragment(sentence):
            return Claim(text=f"{lead}: {_without_bullet(sentence)}", span=span)
        return Claim(text=sentence, span=span)

    def _opens_items(self, n: int, sentence: str) -> bool:
        if n + 1 == len(self.sentences) or len(sentence) > _LONGEST_LEAD:
            return False
        between = self.text[self.sentences[n].end : self.sentences[n + 1].start]
        if _HEADING.match(sentence):
            return True
        return sentence.rstrip(_MARKS).endswith(":") and ("\n" in between or _is_label(sentence))

    def _asked(self, n: int) -> str | None:
        """The question that a short answer answers: one right before it, else that of the text."""
        if n and is_question(before := self.sentences[n - 1].of(self.text)):
            return before
        if self.question and (is_polar(self.question) or (n == 0 and is_question(self.question))):
            return self.question
        return None


def _is_label(sentence: str) -> bool:
    """A heading or lead-in that names what follows and states nothing: "Side effects:"."""
    text = plain(sentence)
    return len(words(text)) <= _LABEL and not has_figures(text) and not has_verb(text)


def _leads_in(sentence: str) -> bool:
    """A short lead-in that is no clause without what follows it: "Members get:", "What we know:"."""
    text = plain(sentence).rstrip(": ")
    return len(words(text)) <= _LABEL and not has_figures(text) and _OPEN_END.match(text) is not None


def _is_fragment(sentence: str) -> bool:
    """No sentence, as items of lists mostly are: without a verb, or without a full stop and short."""
    text = plain(_without_bullet(sentence))
    return not has_verb(text) and not (text.endswith((".", "!", "?")) and len(words(text)) > _LABEL)


def _without_bullet(sentence: str) -> str:
    item = _ITEM.match(sentence)
    return sentence[item.end() :] if item else sentence


def _with_marks(text: str, spans: Sequence[Span]) -> list[Span]:
    """The sentences that have a word; what has no letter joins the one before it on its line, else the one after."""
    joined: list[Span] = []
    held: Span | None = None
    for span in spans:
        words = span.of(text)
        if _LETTER.search(words):
            joined.append(span if held is None else Span(held.start, span.end))
            held = None
        elif held is not None:
            held = Span(held.start, span.end)
        elif joined and not text[joined[-1].end : span.start].strip(" "):
            joined[-1] = Span(joined[-1].start, span.end)
        elif any(map(str.isalnum, words)):
            held = span
    return joined if held is None else [*joined, held]
