"""Judges over decision endpoints: they answer verdicts with probabilities, many in one request, and write nothing.

    SystemOneJudge("jev-latest", base_url="https://api.typesafe.ai/v1", api_key=...)    # or llama.cpp, Ollama, vLLM
    DecisionsJudge("gpt-6-luna")                                                        # OpenAI's own shape

All questions of one prompt (each claim against each passage) go in one request. What needs text written
(back-questions, key questions, entities) is for a `generator`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Unpack
from urllib.parse import urlsplit

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges import prompt_rendering as fences
from assay.judges.base import BaseJudge
from assay.judges.claim_rules import RULES as CLAIM_RULES
from assay.judges.claim_rules import languages as further
from assay.judges.claim_rules import sentence_claims
from assay.judges.classifier.protocol import VERSION, ClassifierProtocol, Decisions, SystemOne
from assay.judges.classifier.requests import Decider, decides, words
from assay.judges.guarded_call import ask_judge, gather_all
from assay.judges.http.client import Address
from assay.judges.http.endpoint import Endpoint
from assay.judges.http.options import EndpointOptions, Settings
from assay.judges.protocol import Answer
from assay.prompts import Claims, JudgePrompt
from assay.records import fingerprint
from assay.text.languages import ENGLISH, code_of

#: The languages whose refusals and small talk are known, so that they make no claims.
LANGUAGES = (ENGLISH, *further.LANGUAGES)


class DecisionOptions(EndpointOptions, total=False):
    """Options of both kinds of decision judge, besides model and address: see `DecisionJudge`."""

    api_key: str | None
    generator: BaseJudge | None
    claims: Literal["sentences", "generator"] | None
    any_language: bool
    max_questions: int
    mask: fences.Mask | None


class DecisionJudge(BaseJudge):
    """Base class of judges over classifier endpoints. Use `SystemOneJudge` or `DecisionsJudge`.

    Its verdicts have probabilities and no quotes. Its votes are all equal, because a probability does not vary. Nothing
    is sent before the first question.

    Args:
        model: The model, as the endpoint calls it.
        base_url: Address up to the version ("http://127.0.0.1:8080/v1"), or the whole address of the endpoint.
        api_key: The key, where the endpoint wants one.
        generator: A judge that writes text, or embeds: it answers what the classifier cannot. None: back-questions and
            the like are refused, with the remedy.
        claims: How the claims of a text are found: "sentences" (by rule: a sentence is a claim; few languages) or
            "generator". None: the generator where there is one, else sentences.
        any_language: Take sentences as claims in other languages too, where refusals are not recognised.
        max_questions: Questions in one request, at least 1.
        mask: Function applied to all judged text before it leaves the process.
        **options: Timeouts, attempts, limits, window, headers: see `EndpointOptions`.

    Raises:
        InputError: The arguments cannot work.
    """

    scheme: ClassVar[str]
    wire: ClassVar[ClassifierProtocol]
    path: ClassVar[str]
    budgeted = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        generator: BaseJudge | None = None,
        claims: Literal["sentences", "generator"] | None = None,
        any_language: bool = False,
        max_questions: int = 64,
        mask: fences.Mask | None = None,
        **options: Unpack[EndpointOptions],
    ) -> None:
        if not model:
            raise InputError("model: name the model, as the endpoint calls it")
        if max_questions < 1:
            raise InputError(f"max_questions must be at least 1, not {max_questions!r}")
        settings = Settings.of(options)
        if claims not in (None, "sentences", "generator"):
            raise InputError(f"claims: expected 'sentences' or 'generator', got {claims!r}")
        if claims == "generator" and generator is None:
            raise InputError("claims='generator' needs generator=..., a judge that writes text")
        self.model = model
        self.generator = generator
        self.mask = mask
        self.budgeted = generator is None or generator.budgeted
        self.durable = generator is None or generator.durable
        self._by_sentence = claims == "sentences" or generator is None
        self._any_language = any_language
        url, path = _address(base_url, self.path)
        # the client insists on a key; servers without keys ignore it
        self.endpoint = Endpoint(Address.of(url, api_key or "none", settings.headers), settings)
        self._decider = Decider(model, self.wire, self.endpoint, path, max_questions, mask)
        self._mask_name = fences.name_of_mask(mask)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self.endpoint.name!r})"

    @property
    def fingerprint(self) -> str:
        parts = [
            *(VERSION, fences.VERSION, self.endpoint.settings.window_tokens, self._decider.max_questions),
            CLAIM_RULES if self._by_sentence else None,
            None if self.generator is None else self.generator.address,
            self._mask_name,
            self.endpoint.identity,
        ]
        return f"{self.scheme}/{self.model}@{self.endpoint.title}{self._decider.path}#{fingerprint(parts)[:16]}"

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        if decides(prompt):
            return None
        if issubclass(prompt, Claims) and self._by_sentence:
            if code_of(language) in LANGUAGES or self._any_language:
                return None
            message = (
                f"claims by sentence are made for {', '.join(LANGUAGES)}, not for {language!r}; pass generator=... "
                "(a judge that writes text) or any_language=True, or name an LLM judge"
            )
            return JudgeFailure(Cause.LANGUAGE, message)
        if self.generator is not None:
            return self.generator.cannot(prompt, language)
        message = (
            f"{self.model} decides and does not write, so it cannot answer {prompt.name}; pass generator=... (a judge "
            "that does, for example OpenAIJudge), or name an LLM judge"
        )
        return JudgeFailure(Cause.JUDGE_CANNOT, message)

    async def release(self) -> None:
        await self.endpoint.release()
        if self.generator is not None:
            await self.generator.release()

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Each alone, but for what is asked in the same words; what the generator answers goes as it wants it."""
        alike: dict[str, list[JudgePrompt[Any]]] = {}
        others: list[JudgePrompt[Any]] = []
        for prompt in prompts:
            if decides(type(prompt)):
                alike.setdefault(words(prompt), []).append(prompt)
            else:
                others.append(prompt)
        apart = [[prompt] for prompt in others] if self.generator is None else self.generator.groups(others)
        return [*alike.values(), *(group for group in apart if group)]

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """See `BaseJudge.answer`. Requests run concurrently; cancelling this cancels them."""
        decided = [n for n, prompt in enumerate(prompts) if decides(type(prompt))]
        others = [n for n, prompt in enumerate(prompts) if not decides(type(prompt))]
        of_decided, of_others = await gather_all(
            [self._decider.decide([prompts[n] for n in decided]), self._others([prompts[n] for n in others])]
        )
        answers = dict(zip([*decided, *others], [*of_decided, *of_others], strict=True))
        return [answers[n] for n in range(len(prompts))]

    async def _others(self, prompts: Sequence[JudgePrompt[Any]]) -> list[Answer]:
        answers: list[Answer | None] = [self._here(prompt) for prompt in prompts]
        if self.generator is not None:
            left = [n for n, answer in enumerate(answers) if answer is None]
            for n, answer in zip(left, await ask_judge(self.generator, [prompts[n] for n in left]), strict=True):
                answers[n] = answer
        return [
            Answer(failure=self.cannot(type(prompt))) if answer is None else answer
            for prompt, answer in zip(prompts, answers, strict=True)
        ]

    def _here(self, prompt: JudgePrompt[Any]) -> Answer | None:
        if not isinstance(prompt, Claims) or not self._by_sentence:
            return None
        refusal = self.cannot(Claims, prompt.language)
        if refusal is not None:
            return Answer(failure=refusal)
        return Answer(judgement=sentence_claims(prompt.text, prompt.language, prompt.question))

    async def probe(self) -> dict[str, Any]:
        """What works: see `judges.probe`. Never raises for what does not."""
        from assay.judges.http.probe import probe_decisions

        return await probe_decisions(self)


class SystemOneJudge(DecisionJudge):
    """Classifier judge over `POST /v1/systemone`: TypeSafe, llama.cpp's server and others on this machine, gateways.

    Args:
        model: The model, as the endpoint calls it.
        base_url: Address of the endpoint; there is no default. For an endpoint elsewhere give its whole address, for
            example "https://openrouter.ai/api/alpha/decisions".
        **options: Arguments of `DecisionJudge`.

    Raises:
        InputError: `base_url` is missing, or other arguments cannot work.
    """

    scheme = "systemone"
    wire = SystemOne()
    path = "/systemone"

    def __init__(self, model: str, *, base_url: str | None = None, **options: Unpack[DecisionOptions]) -> None:
        if base_url is None:
            raise InputError(
                "base_url: systemone needs the address of its endpoint, for example http://127.0.0.1:8080/v1 or "
                "https://api.typesafe.ai/v1"
            )
        super().__init__(model, base_url=base_url, **options)


class DecisionsJudge(DecisionJudge):
    """Classifier judge over OpenAI's `POST /v1/decisions`.

    Args:
        model: The model, as the endpoint calls it.
        base_url: Address of the endpoint. None: OpenAI itself.
        **options: Arguments of `DecisionJudge`. Without an `api_key`, OPENAI_API_KEY is used for OpenAI itself, and
            nowhere else. `max_questions` is 400 by default and at most.

    Raises:
        InputError: The key for OpenAI itself is missing, or other arguments cannot work.
    """

    scheme = "decisions"
    wire = Decisions()
    path = "/decisions"

    def __init__(self, model: str, *, base_url: str | None = None, **options: Unpack[DecisionOptions]) -> None:
        if base_url is None and options.get("api_key") is None:
            options["api_key"] = os.environ.get("OPENAI_API_KEY")
            if not options["api_key"]:
                raise InputError(
                    "no key: pass api_key=... or set OPENAI_API_KEY; for another endpoint pass base_url=..."
                )
        if options.setdefault("max_questions", 400) > 400:
            raise InputError(f"max_questions: the endpoint takes 400 at most, not {options['max_questions']!r}")
        super().__init__(model, base_url=base_url, **options)


def _address(base_url: str | None, path: str) -> tuple[str | None, str]:
    """The address up to the version, and the path after it."""
    if base_url is None:
        return None, path
    parts = urlsplit(base_url)
    base, _, last = parts.path.rstrip("/").rpartition("/")
    if last in ("systemone", "decisions"):
        return parts._replace(path=base).geturl(), f"/{last}"
    return (base_url, path) if parts.path.strip("/") else (parts._replace(path="/v1").geturl(), path)
