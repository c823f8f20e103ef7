"""Parts: a prompt that is too large for one request is asked in several, whichever kind of judge is asked.

One function, for judges that write and judges that decide; they differ in what a request holds (`Room`) and in how a
request is sent (`Question`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assay.errors import Cause, JudgeFailure
from assay.judges.guarded_call import bug, gather_all
from assay.judges.prompt_rendering import tokens_in
from assay.judges.protocol import Answer
from assay.prompts.base import Division, JudgePrompt, PromptSection
from assay.records import Usage

#: Times that one prompt is divided, at most; a prompt whose parts do not get smaller would never end.
DEEPEST = 12

#: Judged text in one request, at least: less is too little to judge by.
LEAST_CHARS = 200

#: Two lines with a code, per section.
FENCE_TOKENS = 30

#: What a picture takes, about, where a model reads it finely.
PICTURE_TOKENS = 1500

#: Smaller questions may avoid these.
_SHORTER = frozenset({Cause.TRUNCATED, Cause.TOO_LONG})

#: Sends one prompt. `True`: its reply was cut and it cannot get smaller; allow about twice the length.
Ask = Callable[[JudgePrompt[Any], bool], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Need:
    """What one request for a prompt takes.

    Attributes:
        over: Tokens by which it is too large for the window; 0 or less where it fits.
        chars: Characters of judged text, of its kind, that the window holds; read only where it does not fit.
        split: It asks for more answers, or a longer reply, than one request should.
    """

    over: int
    chars: int
    split: bool = False


class RequestWindow(Protocol):
    """What one request to a judge holds."""

    @property
    def window(self) -> int:
        """Tokens of one request, its reply included."""

    def need(self, prompt: JudgePrompt[Any]) -> Need:
        """What this prompt takes in one request. May raise JudgeFailure where no request can hold it."""


async def ask_in_parts(prompt: JudgePrompt[Any], room: RequestWindow, ask: Ask, depth: int = 0) -> Answer:
    """The answer to a prompt, whole or in parts. What goes wrong is an answer; only cancellation is raised."""
    try:
        division = _division(prompt, room, depth)
        if division is not None:
            return joined(division, await _parts(division, room, ask, depth))
        answer = await ask(prompt, False)
        if answer.failure is None or answer.failure.cause not in _SHORTER:
            return answer
        division = prompt.halve() if depth < DEEPEST else None
        if division is not None:
            return _with_cost(joined(division, await _parts(division, room, ask, depth)), answer.usage)
        if answer.failure.cause is Cause.TRUNCATED:
            return _with_cost(await ask(prompt, True), answer.usage)
        return answer
    except JudgeFailure as failure:
        return Answer(failure=failure)
    except Exception as error:  # a prompt of a user's own may be wrong
        return Answer(failure=bug(error))


def joined(division: Division[Any], answers: Sequence[Answer]) -> Answer:
    """The answer on the whole from those on its parts: the first failure, or the judgements joined; the cost of all."""
    usage = sum((answer.usage for answer in answers), Usage())
    for answer in answers:
        if answer.failure is not None:
            return Answer(failure=answer.failure, usage=usage)
    try:
        return Answer(judgement=division.join([answer.judgement for answer in answers]), usage=usage)
    except Exception as error:  # a prompt of a user's own may be wrong; that is one failure
        return Answer(failure=bug(error), usage=usage)


def chars_for(tokens: int, sections: Sequence[PromptSection]) -> int:
    """Characters of text, of the kind in these sections, that so many tokens hold."""
    # the densest section decides: parts may be made of it alone
    density = max((tokens_in(s.text) / len(s.text) for s in sections if s.text), default=1.0)
    return max(0, int(tokens / max(density, 0.01)))


def reading(sections: Sequence[PromptSection]) -> int:
    """Tokens of texts with their fences, and of pictures."""
    return sum(tokens_in(section.text) + FENCE_TOKENS for section in sections) + picture_tokens(sections)


def picture_tokens(sections: Sequence[PromptSection]) -> int:
    """A cautious estimate of what their pictures take."""
    return PICTURE_TOKENS * sum(section.image is not None for section in sections)


async def _parts(division: Division[Any], room: RequestWindow, ask: Ask, depth: int) -> list[Answer]:
    return await gather_all([ask_in_parts(part, room, ask, depth + 1) for part in division.parts])


def _with_cost(answer: Answer, usage: Usage) -> Answer:
    return Answer(answer.judgement, answer.failure, usage + answer.usage, answer.keep)


def _division(prompt: JudgePrompt[Any], room: RequestWindow, depth: int) -> Division[Any] | None:
    """The parts to ask for; None: all at once. Raises JudgeFailure where it is too long and must not be cut."""
    need = room.need(prompt)
    if need.split and depth < DEEPEST and (halves := prompt.halve()) is not None:
        return halves
    if need.over <= 0:
        return None
    division = None
    if depth < DEEPEST:  # hardly any room: it is the items or the reply that must get shorter
        division = prompt.fit(need.chars) if need.chars >= LEAST_CHARS else prompt.halve()
    if division is None:
        length = sum(len(section.text) for section in prompt.full_content.material) if prompt.full_content else 0
        message = f"{prompt.name}: {length} characters do not fit a window of {room.window} tokens"
        raise JudgeFailure(Cause.TOO_LONG, f"{message} and must not be cut; raise window_tokens if the model has more")
    # where its own count says that it fits, ours is the more cautious one
    return division if len(division.parts) > 1 else None
