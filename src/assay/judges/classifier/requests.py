"""Sends the questions of prompts to a decision endpoint, and makes judgements of the probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import Cause, InconsistentReply, JudgeFailure
from assay.judges import prompt_rendering as fences
from assay.judges.classifier.protocol import PREFACE, ClassifierProtocol, Outcome, unfit
from assay.judges.guarded_call import bug, gather_all
from assay.judges.http.deadlines import within
from assay.judges.http.endpoint import Body, Endpoint
from assay.judges.http.replies import usage_of
from assay.judges.prompt_rendering import tokens_in
from assay.judges.protocol import Answer
from assay.judges.splitting import Need, ask_in_parts, chars_for, reading
from assay.prompts.base import JudgePrompt, LabelQuestion, PromptSection
from assay.records import Usage

#: Tokens that are set aside for one answer; endpoints count few or none.
ANSWER_TOKENS = 32

_QUESTION_TOKENS = 30  # names and punctuation, per question


def decides(prompt: type[JudgePrompt[Any]]) -> bool:
    """Whether decisions can answer prompts of this type."""
    return prompt.questions is not JudgePrompt.questions


@dataclass(frozen=True, slots=True)
class ClassifierWindow:
    """What one request holds, in tokens: the texts and at least one question. Questions may go in several requests."""

    window: int

    def need(self, prompt: JudgePrompt[Any]) -> Need:
        """See `planning.Room`."""
        questions, material = prompt.decisions, _material(prompt)
        wrong = next(filter(None, map(unfit, questions)), None)
        if wrong is not None:
            raise JudgeFailure(Cause.JUDGE_CANNOT, f"{prompt.name}: {wrong}; name a judge that writes text")
        fixed = tokens_in(PREFACE) + max(map(_asking, questions), default=0)
        room = self.window - fixed - reading([replace(section, text="") for section in material])
        return Need(over=fixed + reading(material) - self.window, chars=chars_for(room, material))

    def requests(self, prompt: JudgePrompt[Any], most: int) -> list[list[LabelQuestion]]:
        """The questions of a prompt, by request."""
        room = self.window - tokens_in(PREFACE) - reading(_material(prompt))
        requests: list[list[LabelQuestion]] = []
        left = 0
        for question in prompt.decisions:
            tokens = _asking(question)
            if not requests or len(requests[-1]) >= most or tokens > left:
                requests.append([])
                left = room
            requests[-1].append(question)
            left -= tokens
        return requests


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides prompts of one model at one endpoint, at `path`. For the rest see `DecisionJudge`."""

    model: str
    wire: ClassifierProtocol
    endpoint: Endpoint
    path: str
    max_questions: int
    mask: fences.Mask | None = None

    async def decide(self, prompts: Sequence[JudgePrompt[Any]]) -> list[Answer]:
        """One answer per prompt, in order. Requests run concurrently; cancelling this cancels them.

        What is asked twice in the same words (votes: a probability does not vary) is sent once.
        """
        room = ClassifierWindow(self.endpoint.settings.window_tokens)
        first: dict[str, int] = {}
        same = [first.setdefault(words(prompt), n) for n, prompt in enumerate(prompts)]
        asked = await gather_all([ask_in_parts(prompts[n], room, self._ask) for n in first.values()])
        answers = dict(zip(first.values(), asked, strict=True))
        return [answers[n] if n == k else replace(answers[n], usage=Usage()) for k, n in enumerate(same)]

    async def _ask(self, prompt: JudgePrompt[Any], more_room: bool) -> Answer:
        """The answer of all requests for one prompt, or the first failure among its questions.

        Where the answers contradict each other, all are asked once more.
        """
        spent, contradiction = Usage(), ""
        for _ in range(2):
            found, usage = await self._decisions(prompt)
            spent += usage
            failure = next((outcome for outcome in found.values() if isinstance(outcome, JudgeFailure)), None)
            if failure is not None:
                return Answer(failure=failure, usage=spent)
            try:
                return Answer(judgement=prompt.from_decisions(found), usage=spent)  # type: ignore[arg-type]  # no failure is left
            except InconsistentReply as error:
                contradiction = str(error)
            except Exception as error:  # a prompt of a user's own may be wrong
                return Answer(failure=bug(error), usage=spent)
        return Answer(failure=JudgeFailure(Cause.AMBIGUOUS, contradiction), usage=spent)

    async def _decisions(self, prompt: JudgePrompt[Any]) -> tuple[dict[str, Outcome], Usage]:
        """The outcomes of all questions of a prompt."""
        requests = ClassifierWindow(self.endpoint.settings.window_tokens).requests(prompt, self.max_questions)
        found: dict[str, Outcome] = {}
        spent = Usage()
        for outcomes, usage in await gather_all([self._outcomes(_material(prompt), some) for some in requests]):
            found |= outcomes
            spent += usage
        return found, spent

    async def _outcomes(
        self, material: Sequence[PromptSection], asked: Sequence[LabelQuestion]
    ) -> tuple[dict[str, Outcome], Usage]:
        """The outcomes of one request, and of a second one for answers that could not be used."""
        found: dict[str, Outcome] = {}
        spent = Usage()
        for _ in range(2):
            try:
                body = await self._send(material, asked)
            except JudgeFailure as failure:
                return {**found, **{question.name: failure for question in asked}}, spent
            spent += usage_of(body.get("usage"))
            found |= self.wire.read(body, asked)
            asked = [question for question in asked if _unusable(found[question.name])]
            if not asked:
                break
        return found, spent

    async def _send(self, material: Sequence[PromptSection], asked: Sequence[LabelQuestion]) -> Body:
        body = self.body(material, asked)
        tokens = tokens_in(PREFACE) + reading(material) + sum(map(_asking, asked))
        reply = ANSWER_TOKENS * len(asked)

        async def send(deadline: Any) -> Body:
            return await self.endpoint.call(
                self.model,
                self.path,
                lambda: body,
                tokens=tokens,
                reply=reply,
                deadline=deadline,
                expected="answers",
                most=lambda body: reply,
            )

        return await within(self.endpoint.settings.deadline, "decisions", send)

    def body(self, material: Sequence[PromptSection], asked: Sequence[LabelQuestion]) -> Body:
        """The body of the request for these questions on these texts."""
        texts = "\n\n".join(fences.enclose(material, self.mask))
        extra = self.endpoint.settings.extra_body
        return {**self.wire.body(self.model, texts, [self._masked(question) for question in asked]), **extra}

    def _masked(self, question: LabelQuestion) -> LabelQuestion:
        # ours hold no judged text; those of a prompt of a user's own may
        instructions = fences.clean(self.mask(question.instructions) if self.mask else question.instructions)
        return replace(question, instructions=instructions)


def words(prompt: JudgePrompt[Any]) -> str:
    """The same for prompts that are asked in the same words of the same texts."""
    return repr((_material(prompt), prompt.decisions))


def _material(prompt: JudgePrompt[Any]) -> tuple[PromptSection, ...]:
    return prompt.full_content.material if prompt.full_content is not None else ()


def _asking(question: LabelQuestion) -> int:
    labels = sum(tokens_in(label) + tokens_in(text) for label, text in question.labels.items())
    return tokens_in(question.instructions) + labels + _QUESTION_TOKENS


def _unusable(outcome: Outcome | Mapping[str, float]) -> bool:
    return isinstance(outcome, JudgeFailure) and outcome.cause in (Cause.PARSE, Cause.AMBIGUOUS)
