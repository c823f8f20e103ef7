"""TruLens' language match: are question and answer in the same language?

    1 where both are in one language, 0 where they are in two

Range 0 to 1, higher is better. TruLens' Hugging Face provider (2.16.0) compares the probabilities p and q that a
classifier gives 20 languages for the two texts: 1 - sum of |p - q| / 2. With one certain language each, that is 1 or 0,
which is what is given here; where the language of a text is in doubt, as in most short ones, there is no number. It
asks no judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.records import Sample, Score
from assay.text.languages import language_of


@dataclass(frozen=True)
class LanguageMatch(SystemMetric):
    """Whether question and answer are in one language."""

    name: ClassVar[str] = "trulens:language_match"
    needs: ClassVar = ("question", "answer")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = {name: language_of(getattr(sample, name)) for name in self.needs}
        doubtful = [name for name, language in found.items() if language is None]
        if doubtful:
            return self.skip(Cause.NOT_APPLICABLE, f"the language of the {' and the '.join(doubtful)} is in doubt")
        languages = tuple(str(language) for language in found.values())
        return self.make_score(float(len(set(languages)) == 1), texts={"languages": languages})


ENTRIES = (
    Entry(
        make=LanguageMatch,
        source="trulens.providers.huggingface.Huggingface.language_match",
        compared="published formula: 1 - sum of |p - q| / 2, here of languages that leave no doubt",
        family="criteria",
        steps=Steps("the whole answer", "the question", "same language", "yes or no"),
    ),
)
