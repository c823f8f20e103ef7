"""LangChain's matches: is the answer the reference, or does it match a pattern? 1 or 0, higher is better.

    exact_match  the texts are equal, character for character, after what is ignored is taken out of both
    regex_match  the reference is a regular expression that matches from the answer's first character on (re.match)

`exact_match` takes out ASCII punctuation and digits where asked, and compares in lower case. A pattern that would take
more than some seconds is given up, and the row skipped. Source: langchain-classic 1.0.8.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import TAKES_BLANK_TEXTS
from assay.metrics.systems.patterns import matches
from assay.records import Sample, Score


def stripped(said: str, *, case: bool, punctuation: bool, numbers: bool) -> str:
    """A text without what is ignored."""
    dropped = (string.punctuation if punctuation else "") + (string.digits if numbers else "")
    return (said.lower() if case else said).translate(str.maketrans("", "", dropped))


@dataclass(frozen=True)
class ExactMatch(SystemMetric):
    """1 where answer and reference are equal."""

    name: ClassVar[str] = "langchain:exact_match"
    needs: ClassVar = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS

    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        ours, theirs = (
            stripped(said, case=self.ignore_case, punctuation=self.ignore_punctuation, numbers=self.ignore_numbers)
            for said in (sample.answer or "", sample.reference or "")
        )
        return self.make_score(float(ours == theirs))


@dataclass(frozen=True)
class RegexMatch(SystemMetric):
    """1 where the pattern in the reference matches the beginning of the answer; `flags` are those of `re`."""

    name: ClassVar[str] = "langchain:regex_match"
    needs: ClassVar = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS

    flags: int = 0

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        try:
            fits = await matches(sample.reference or "", sample.answer or "", flags=self.flags, what="the reference")
        except InputError as error:
            return self.skip(Cause.MISSING_INPUT, str(error))
        return self.make_score(float(fits))


ENTRIES = (
    Entry(
        make=ExactMatch,
        source="langchain_classic.evaluation.exact_match.ExactMatchStringEvaluator",
        compared="langchain-classic 1.0.8",
        family="exact match",
        steps=Steps("the whole answer", "the reference", "equal", "yes 1, no 0"),
        empty="1 where both are empty, else 0",
    ),
    Entry(
        make=RegexMatch,
        source="langchain_classic.evaluation.regex_match.RegexMatchStringEvaluator",
        compared="langchain-classic 1.0.8",
        family="pattern",
        steps=Steps("the whole answer", "the reference as a pattern", "matches", "yes 1, no 0"),
        empty="1: the empty pattern matches anything",
    ),
)
