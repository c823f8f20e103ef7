"""ragas' measures of the response against the reference that ask no judge; ragas 0.4.3. All 0 to 1, higher is better.

bleu_score                 sacrebleu's corpus BLEU of the two texts. The original cuts both at ". " and hands the parts
                           over so that only the first sentence of the response is read, against every sentence of the
                           reference: that is the number of `profile="original"`
rouge_score                ROUGE-1 or ROUGE-L (Lin 2004), stemmed: F-measure, precision or recall
chrf_score                 sacrebleu's chrF (Popović 2015)
exact_match                1 where the texts are equal, character for character, else 0
string_presence            1 where the reference stands in the response, else 0
non_llm_string_similarity  1 - the normalised edit distance
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.systems import lexical
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import TAKES_BLANK_TEXTS
from assay.records import Sample, Score

Distance = Literal["levenshtein", "hamming", "jaro", "jaro_winkler"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
RougeType = Literal["rouge1", "rougeL"]
ROUGE_TYPES: tuple[RougeType, ...] = get_args(RougeType)


@dataclass(frozen=True)
class TextPair(SystemMetric):
    """A measure of answer and reference. An empty text leaves nothing to compare; the original compares it anyway."""

    needs: ClassVar = ("answer", "reference")
    input_rules: ClassVar = TAKES_BLANK_TEXTS

    @abstractmethod
    def value(self, answer: str, reference: str) -> float:
        """The measure of two texts."""

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = self.make_score(self.value(sample.answer or "", sample.reference or ""))
        blank = Metric.missing(self, sample)
        return found if blank is None else replace(found, convention=blank.message)


@dataclass(frozen=True)
class BleuScore(TextPair):
    """BLEU of the answer against the reference."""

    name: ClassVar[str] = "ragas:bleu_score"

    def value(self, answer: str, reference: str) -> float:
        if self.original:
            return lexical.corpus_bleu(answer.split(". "), [[one] for one in reference.split(". ")])
        return lexical.bleu(answer, reference)


@dataclass(frozen=True)
class RougeScore(TextPair):
    """ROUGE of the answer against the reference."""

    name: ClassVar[str] = "ragas:rouge_score"

    rouge_type: RougeType = "rougeL"
    mode: lexical.RougeMode = "fmeasure"

    @property
    def label(self) -> str:
        shown = f"(rouge_type={self.rouge_type},mode={self.mode})"
        return super().label + (shown if (self.rouge_type, self.mode) != ("rougeL", "fmeasure") else "")

    def value(self, answer: str, reference: str) -> float:
        return lexical.rouge(answer, reference, self.rouge_type, self.mode)


@dataclass(frozen=True)
class ChrfScore(TextPair):
    """chrF of the answer against the reference."""

    name: ClassVar[str] = "ragas:chrf_score"

    def value(self, answer: str, reference: str) -> float:
        return lexical.chrf(answer, reference) if answer.strip() and reference.strip() else 0.0


@dataclass(frozen=True)
class ExactMatch(TextPair):
    """Whether the answer is the reference."""

    name: ClassVar[str] = "ragas:exact_match"

    def value(self, answer: str, reference: str) -> float:
        return float(answer == reference)


@dataclass(frozen=True)
class StringPresence(TextPair):
    """Whether the reference stands in the answer."""

    name: ClassVar[str] = "ragas:string_presence"

    def value(self, answer: str, reference: str) -> float:
        return float(reference in answer)


@dataclass(frozen=True)
class NonLLMStringSimilarity(TextPair):
    """1 - the normalised distance of answer and reference."""

    name: ClassVar[str] = "ragas:non_llm_string_similarity"

    distance_measure: Distance = "levenshtein"

    @property
    def label(self) -> str:
        shown = f"(distance_measure={self.distance_measure})"
        return super().label + (shown if self.distance_measure != "levenshtein" else "")

    def value(self, answer: str, reference: str) -> float:
        return 1 - lexical.normalized_distance(reference, answer, self.distance_measure)


def _entry(make: type[TextPair], counts: str, empty: str, *also: str) -> Entry:
    return Entry(
        make=make,
        source=f"ragas.metrics.{make.__name__}",
        compared="ragas 0.4.3",
        family="similarity",
        steps=Steps("the whole answer", "the reference", counts, "one number"),
        empty=empty,
        also=also,
    )


ENTRIES = (
    _entry(BleuScore, "shared word 1- to 4-grams", "what sacrebleu gives for empty texts"),
    _entry(RougeScore, "the longest common subsequence of words", "0"),
    _entry(ChrfScore, "shared character 1- to 6-grams", "0", "CHRFScore"),
    _entry(ExactMatch, "equal characters", "1 where both are empty"),
    _entry(StringPresence, "the reference as a part", "1 for an empty reference", "string_present"),
    _entry(NonLLMStringSimilarity, "1 - the normalised edit distance", "1 where both are empty"),
)
