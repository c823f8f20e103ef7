"""The embedded judge: offline, on the CPU, free, with no key and no download.

It splits texts into sentences for claims; the small models of `assay_embedded` read claim and passage for support,
question and passage for usefulness, question and answer for directness, and encode sentences for similarity. It does
not write text, so prompts that need a language model are refused with the way out. What it measured against people
is in `EmbeddedJudge().card`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from assay._util.call_repr import call_repr
from assay._util.install_hints import install_extra
from assay._util.threads import BackgroundWorker
from assay.errors import Cause, InputError, JudgeFailure, MissingExtra
from assay.judges.base import BaseJudge
from assay.judges.claim_rules import refuses, sentence_claims, states_something
from assay.judges.embedded import further
from assay.judges.embedded.further import FurtherLanguages
from assay.judges.pairwise_support import distinct, support_judgements
from assay.judges.protocol import Answer
from assay.prompts import (
    Claims,
    Directness,
    Distance,
    JudgePrompt,
    Similarity,
    Support,
    SupportCells,
    Usefulness,
    UsefulSentences,
)
from assay.prompts.similarity import TextComparison
from assay.records import Verdict, fingerprint
from assay.text import split_sentences
from assay.text.languages import code_of

if TYPE_CHECKING:
    from assay_embedded import Models, SupportReading

    from assay.judges.instructions import InstructionsSpec

#: What it can answer.
PROMPTS: tuple[type[JudgePrompt[Any]], ...] = (
    Claims,
    Support,
    SupportCells,
    Usefulness,
    UsefulSentences,
    Directness,
    Similarity,
    Distance,
)

#: Raise it when this file or `sentence_claims` reads texts differently: stored judgements are then asked for anew.
RULES = 14

_WAY_OUT = "name an LLM judge, for example judge='openai:MODEL' (any OpenAI-compatible base_url), or leave it out"
_FEWEST = 4  # words of an answer that can be judged by itself,
_SENTENCE = 9  # or, where no full stop says that it is a sentence, so many,
_SHORTEST = 30  # or so many characters: not every language has spaces

#: One thread for all loops: the models use every core by themselves.
_WORKER = BackgroundWorker(1, "assay-embedded")


class EmbeddedJudge(BaseJudge):
    """Answer claims, support, usefulness, directness and similarity offline, on the CPU, for English.

    The models are those of `assay-embedded`.

    Claims and support work also in the languages of `assay-embedded-multilingual`, where that is installed. Verdicts
    are supported, contradicted or not_mentioned; the judge separates the first from the others better than it separates
    those two (see the card).

    Args:
        threads: CPU threads of the models; None: all cores.
        any_language: Judge also languages on which the models were not measured.

    Raises:
        MissingExtra: `assay-embedded` is not installed.
    """

    budgeted = free = True
    samples_at_once = 1  # it reads one text after the other on every core: more would only end later, all at once

    def __init__(self, *, threads: int | None = None, any_language: bool = False) -> None:
        try:
            import assay_embedded
        except ImportError as error:
            raise MissingExtra(
                f"the embedded judge is not installed: {install_extra('embedded')}, "
                "or name another judge, for example judge='openai:MODEL'"
            ) from error
        self._load: Callable[[], Models] = lambda: assay_embedded.load(threads)
        self._languages: tuple[str, ...] = tuple(assay_embedded.languages)
        self._further = FurtherLanguages(threads)
        self._any_language = any_language
        self._prepared = False

    def __repr__(self) -> str:
        return call_repr(self, any_language=self._any_language or None)

    def with_instructions(self, instructions: InstructionsSpec) -> Self:
        """Refuse instructions: these models read none.

        Args:
            instructions: Instructions and examples.

        Returns:
            Nothing; it always raises.

        Raises:
            InputError: Always.
        """
        raise InputError(
            "instructions: the embedded judge reads no instructions; name a judge that does, 'openai:MODEL'"
        )

    @property
    def models(self) -> Models:
        """The loaded models; loading happens once per process and checks every file's hash."""
        from assay_embedded import FileCorrupt

        try:
            return self._load()
        except FileCorrupt as error:
            message = f"the embedded judge's files are damaged ({error}); reinstall assay-embedded"
            raise MissingExtra(message) from error

    @property
    def card(self) -> Mapping[str, Any]:
        """Measured agreement with people, limits, languages."""
        return self.models.card

    @property
    def fingerprint(self) -> str:
        further = [self._further.fingerprint] if self._further.fingerprint else []
        return f"embedded/{fingerprint([self.models.fingerprint, RULES, *further])[:16]}"

    @property
    def detects_contradiction(self) -> bool:
        return True

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Explain why the judge does not answer a kind of question.

        Args:
            prompt: The kind of question.
            language: Code of the text's language.

        Returns:
            The failure, with the remedy: the kind needs a language model, or the judge was not measured on the
            language. None when the judge answers it.
        """
        if prompt not in PROMPTS:
            return JudgeFailure(Cause.JUDGE_CANNOT, f"the embedded judge cannot answer {prompt.name}; {_WAY_OUT}")
        code = code_of(language)
        if code in self._languages or self._any_language:
            return None
        if prompt in further.PROMPTS and code in self._further.languages:
            return None
        known = ", ".join(self._languages + (self._further.languages if prompt in further.PROMPTS else ()))
        message = (
            f"the embedded judge was measured on {known}, not on {language!r}; {self._more(prompt, code)}"
            "EmbeddedJudge(any_language=True) judges it all the same, or name an LLM judge"
        )
        return JudgeFailure(Cause.LANGUAGE, message)

    def _more(self, prompt: type[JudgePrompt[Any]], code: str) -> str:
        """How to have a language read that an extra would bring."""
        if self._further.languages or code not in further.OFFERED or prompt not in further.PROMPTS:
            return ""
        return f"{install_extra('embedded-multilingual')} brings it, "

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Answer a batch of questions, on a thread that all embedded judges share.

        Args:
            prompts: Questions of any kinds.

        Returns:
            One answer for each question, in order.
        """
        return await asyncio.get_running_loop().run_in_executor(_WORKER, self._answer_all, tuple(prompts))

    async def prepare(self) -> None:
        """See `BaseJudge.prepare`: loading takes seconds, for which the event loop would stand still."""
        if not self._prepared:
            await asyncio.get_running_loop().run_in_executor(_WORKER, lambda: self.models)
            self._prepared = True

    def _answer_all(self, prompts: Sequence[JudgePrompt[Any]]) -> list[Answer]:
        judgements: dict[int, Any] = {}
        for n, prompt in enumerate(prompts):
            if isinstance(prompt, Claims):
                judgements[n] = sentence_claims(prompt.text, prompt.language, prompt.question)
        supports = {n: i for n, i in enumerate(prompts) if isinstance(i, Support) and not self._mixed(i)}
        others = {n: i for n, i in supports.items() if self._further.reads(i)}
        english = {n: i for n, i in supports.items() if n not in others}
        judgements |= support_judgements(english, lambda pairs: self.models.support(pairs), _reason)
        judgements |= support_judgements(others, self._further.support, _reason)
        judgements |= self._usefulness(
            {n: i for n, i in enumerate(prompts) if isinstance(i, (Usefulness, UsefulSentences))}
        )
        judgements |= self._directness({n: i for n, i in enumerate(prompts) if isinstance(i, Directness)})
        judgements |= self._similarity({n: i for n, i in enumerate(prompts) if isinstance(i, TextComparison)})
        refused = {n: self._refusal(i) for n, i in enumerate(prompts) if n not in judgements}
        return [
            Answer(judgement=judgements[n]) if n in judgements else Answer(failure=refused[n])
            for n in range(len(prompts))
        ]

    def _usefulness(self, prompts: Mapping[int, Usefulness | UsefulSentences]) -> dict[int, tuple[Verdict, ...]]:
        found: dict[int, tuple[Verdict, ...]] = {}
        for answered in (False, True):
            pairs_of = {n: self._pairs(i) for n, i in prompts.items() if _has_answer(i) is answered}
            pairs = distinct(pair for texts in pairs_of.values() for some in texts for pair in some)
            read = map(float, self.models.relevance(pairs, twice=not answered)) if pairs else ()
            useful = dict(zip(pairs, read, strict=True))
            for n, texts in pairs_of.items():
                found[n] = tuple(_useful(k, max(useful[pair] for pair in some)) for k, some in enumerate(texts))
        return found

    def _pairs(self, prompt: Usefulness | UsefulSentences) -> list[list[tuple[str, str]]]:
        """For each text that gets a verdict what is asked of it: the question, and after the earlier one as well.

        The better reading counts: some last turns say nothing alone ("I mean the old one"), others begin something new.
        """
        asked = [prompt.question, *([f"{prompt.earlier} {prompt.question}"] if prompt.earlier else ())]
        if isinstance(prompt, UsefulSentences):
            return [[(question, sentence.text) for question in asked] for sentence in prompt.sentences]
        if not prompt.given:
            return [[(question, passage) for question in asked] for passage in prompt.passages]
        queries = [self.models.queries(question, prompt.given, prompt.passages) for question in asked]
        return [[(query[n], passage) for query in queries] for n, passage in enumerate(prompt.passages)]

    def _directness(self, prompts: Mapping[int, Directness]) -> dict[int, Verdict]:
        """The verdict on each answer, but for those too short to tell."""
        silent = {n for n, i in prompts.items() if _states_nothing(i)}
        read = {n: (i.question, i.answer) for n, i in prompts.items() if n not in silent and not too_short(i.answer)}
        pairs = distinct(read.values())
        direct = dict(zip(pairs, map(float, self.models.directness(pairs)), strict=True)) if pairs else {}
        nothing = Verdict(label="indirect", probability=0.0, reason="it states nothing")
        return dict.fromkeys(silent, nothing) | {n: _direct(direct[pair]) for n, pair in read.items()}

    def _mixed(self, prompt: Support) -> JudgeFailure | None:
        return None if self._any_language or not self._further.languages else self._further.mixed(prompt)

    def _refusal(self, prompt: JudgePrompt[Any]) -> JudgeFailure | None:
        if isinstance(prompt, Support):
            return self._mixed(prompt)
        if not isinstance(prompt, Directness):
            return self.cannot(type(prompt))
        message = f"the embedded judge cannot tell whether so short an answer meets the question; {_WAY_OUT}"
        return JudgeFailure(Cause.JUDGE_CANNOT, message)

    def _similarity(self, prompts: Mapping[int, TextComparison]) -> dict[int, tuple[float, ...]]:
        texts = distinct(text for i in prompts.values() for text in (i.text, *i.others))
        vectors = dict(zip(texts, self.models.embed(texts), strict=True)) if texts else {}
        return {n: tuple(i.compare(vectors[i.text], vectors[other]) for other in i.others) for n, i in prompts.items()}


def _has_answer(prompt: Usefulness | UsefulSentences) -> bool:
    """Whether an answer is known that the passages should lead to."""
    return isinstance(prompt, Usefulness) and bool(prompt.given)


def _reason(reading: SupportReading, unsupported: str) -> str:
    if not reading.overlap:
        return "none of its words are in the passages"
    there = f"{round(100 * reading.overlap)}% of its words are in the passages"
    same = "".join(f"; {own} = {other}" for own, other in reading.equal)
    return f"{there}, not {unsupported}{same}" if unsupported else f"{there}{same}"


def _useful(index: int, probability: float) -> Verdict:
    return Verdict(label="useful" if probability >= 0.5 else "not_useful", probability=probability, passage=index)


def too_short(answer: str) -> bool:
    """Whether an answer is too few words to tell by themselves what they answer: "1889", "the Boston Tea Party"."""
    text = answer.strip()
    words = sum(any(map(str.isalnum, word)) for word in text.split())
    if words < _FEWEST:
        return len(text) < _SHORTEST
    return words < _SENTENCE and not text.rstrip("\"'”’)").endswith((".", "!", "。"))


def _states_nothing(prompt: Directness) -> bool:
    answer = prompt.answer
    if too_short(answer):  # "Yes." or "Certainly!" may be just what was asked for
        return refuses(answer) or not answer.strip()
    return not any(states_something(span.of(answer)) for span in split_sentences(answer, prompt.language))


def _direct(probability: float) -> Verdict:
    return Verdict(label="direct" if probability >= 0.5 else "indirect", probability=probability)
