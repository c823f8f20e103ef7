"""A judge around a model that others made: HHEM, MiniCheck, LettuceDetect, an NLI model, on the user's own disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from assay._util.threads import BackgroundWorker
from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.claim_rules import sentence_claims
from assay.judges.local.labels import Labels
from assay.judges.local.model import DiskModel, DiskReading
from assay.judges.pairwise_support import support_judgements
from assay.judges.protocol import Answer
from assay.prompts import Claims, JudgePrompt, Support, SupportCells
from assay.records import Verdict, fingerprint
from assay.text.languages import code_of

if TYPE_CHECKING:
    from assay.judges.instructions import InstructionsSpec

PROMPTS: tuple[type[JudgePrompt[Any]], ...] = (Claims, Support, SupportCells)

#: Raise it when this folder reads texts differently: stored judgements are then asked for anew.
RULES = 3

_WAY_OUT = "name an LLM judge, for example judge='openai:MODEL', or leave it out"
_WORKER = BackgroundWorker(1, "assay-local")


class LocalJudge(BaseJudge):
    """Offline judge around a cross-encoder, NLI model or token classifier in ONNX.

    It judges whether passages support claims, no more.

    A model that labels tokens (LettuceDetect) supports a claim as well as its least supported token; the reason names
    the words that it marks. Claims are sentences, as with the embedded judge. Needs onnxruntime and tokenizers. Its
    agreement with people is not measured here: see docs/judge.md for the command that measures it.

    Args:
        path: A folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json, or the .onnx file.
        labels: Meaning of the outputs: a list in their order, or a mapping from their names or numbers to supported,
            contradicted or not_mentioned. None: the names in config.json, where they are usual ones (entailment,
            neutral, contradiction, consistent, hallucinated, ...); one output is the log-odds of supported.
        template: Text that a model of one sequence reads, with {passage}, {claim} and, if it wants it, {question}.
            None: passage and claim go in as a pair.
        claim_first: Whether the pair is (claim, passage).
        window: Tokens of one reading. None: the model's own limit, at most 512. A longer text is read in parts of whole
            sentences; the part that supports the claim best counts.
        languages: Codes of the languages that it reads. None: every language.
        threads: CPU threads. None: onnxruntime's default.

    Raises:
        InputError: The path, a file or the labels do not fit.
    """

    budgeted = free = True
    samples_at_once = 1

    def __init__(
        self, path: str | os.PathLike[str], *, labels: Labels | None = None, template: str | None = None,
        claim_first: bool = False, window: int | None = None, languages: Sequence[str] | None = ("en",),
        threads: int | None = None,
    ) -> None:  # fmt: skip
        self.model = DiskModel(
            Path(path), labels=labels, template=template, claim_first=claim_first, window=window, threads=threads
        )
        self._languages = None if languages is None else tuple(map(code_of, languages))

    def with_instructions(self, instructions: InstructionsSpec) -> Self:
        """Refuse instructions, because models on disk cannot read them.

        Args:
            instructions: The instructions. They are not read.

        Returns:
            Nothing. The method always raises an exception.

        Raises:
            InputError: Always.
        """
        raise InputError("instructions: a model on disk reads no instructions; name a judge that does, 'openai:MODEL'")

    @property
    def fingerprint(self) -> str:
        return f"local/{fingerprint([self.model.fingerprint, RULES])[:16]}"

    @property
    def detects_contradiction(self) -> bool:
        names = self.model.config.get("id2label")
        given = self.model.labels
        said = list(given.values()) if isinstance(given, Mapping) else given
        if said is not None:
            return "contradicted" in said
        return any("contradict" in str(name).lower() for name in dict(names or {}).values())

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        if prompt not in PROMPTS:
            return JudgeFailure(Cause.JUDGE_CANNOT, f"a judge on disk cannot answer {prompt.name}; {_WAY_OUT}")
        if self._languages is not None and code_of(language) not in self._languages:
            known = ", ".join(self._languages)
            message = f"this judge is said to read {known}, not {language!r}; LocalJudge(..., languages=None) reads all"
            return JudgeFailure(Cause.LANGUAGE, message)
        return None

    async def prepare(self) -> None:
        await asyncio.get_running_loop().run_in_executor(_WORKER, self.model.open)

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return await asyncio.get_running_loop().run_in_executor(_WORKER, self._answer_all, tuple(prompts))

    def _answer_all(self, prompts: Sequence[JudgePrompt[Any]]) -> list[Answer]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: JudgePrompt[Any]) -> Answer:
        if isinstance(prompt, Claims):
            return Answer(judgement=sentence_claims(prompt.text, prompt.language, prompt.question))
        if not isinstance(prompt, Support):
            return Answer(failure=self.cannot(type(prompt)))
        try:
            return Answer(judgement=self._support(prompt))
        except JudgeFailure as failure:
            return Answer(failure=failure)

    def _support(self, prompt: Support) -> tuple[Verdict, ...]:
        def read(pairs: Sequence[tuple[str, str]]) -> list[DiskReading]:
            return [self.model.read(text, claim, prompt.question) for text, claim in pairs]

        return support_judgements({0: prompt}, read, _reason)[0]


def _reason(reading: DiskReading, unsupported: str) -> str | None:
    return f"not supported: {unsupported}" if unsupported else None
