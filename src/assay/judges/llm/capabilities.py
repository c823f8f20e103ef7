"""What an endpoint's model accepts, learned from what it refuses, and remembered for as long as the process lives.

Servers that call themselves OpenAI-compatible differ in which parameters of a chat call they take. The fewest that help
are sent; one that is refused is dropped or renamed, and the call repeated. What was learned is kept when the endpoint
names the parameter as the culprit, or else once a call has succeeded without it: an error that only mentions a
parameter teaches nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.http.refusals import REFUSING, refuses_system

log = logging.getLogger("assay.judges")

Lesson = Literal["certain", "guessed"]
Structured = Literal["json_schema", "json_object", "plain"]

#: Calls in which one request may learn.
LESSONS = 8

#: What structured output is called in errors.
_FORMAT = re.compile(r"response_format|json_schema|json_object|json mode|structured|schema|guided", re.IGNORECASE)
#: What is not there, in the words of errors with the status 404.
_NO_ADDRESS = re.compile(r"models?\b|deployment|path|route|url\b|page|resource", re.IGNORECASE)
_AT_MOST = re.compile(r"(?:at most|maximum (?:value )?(?:is|of)|less than or equal to|<=)\D{0,20}(\d+)", re.IGNORECASE)
_WEAKER: dict[Structured, Structured] = {"json_schema": "json_object", "json_object": "plain"}
_BUDGETS = ("max_tokens", "max_completion_tokens")


@dataclass(slots=True)
class Dialect:
    """What to send to one model at one endpoint.

    Attributes:
        structured: How the schema is enforced; `confirmed` once a call succeeded with it.
        show_schema: Also state the schema in the prompt: where nothing enforces it, or what enforced it did not.
        system: Whether the system message goes as one; else it stands at the start of the user's.
        budget: The name of the output limit; None when neither name is taken.
        cap: Output tokens that the endpoint allows at most, where it said so.
        generosity: Factor on output limits; more for models that think before they write.
        logprobs: Whether token log-probabilities come back; None: not known yet.
        dropped: Parameters that are not taken.
    """

    structured: Structured = "json_schema"
    fixed: bool = False  # the user said how; nothing is learned about it then
    confirmed: bool = False
    show_schema: bool = False
    system: bool = True
    budget: str | None = "max_tokens"
    cap: int | None = None
    generosity: int = 1
    logprobs: bool | None = None
    dropped: frozenset[str] = field(default_factory=frozenset)
    version: int = 0

    def copy(self) -> Dialect:
        """One to try things with."""
        return Dialect(*_FIELDS(self))

    def learn(self, detail: Mapping[str, Any], sent: Mapping[str, Any]) -> Lesson | None:
        """Change what a refused call points at; None when it points at nothing that can change.

        "certain" when the endpoint names one parameter as the culprit, "guessed" when its words only mention it.
        """
        said = str(detail.get("said", ""))
        named = str(detail.get("param") or "").split(".")[0]
        if named not in sent:
            named = ""
        lesson: Lesson = "certain" if named else "guessed"
        text = named or said.lower()
        if self.system and refuses_system(said):
            self.system = False
            return lesson
        if self._learn_budget(said, text, sent):
            return lesson
        for name in ("top_logprobs", "logprobs", "seed", "temperature"):
            if name in sent and name in text:
                self.dropped |= {"logprobs", "top_logprobs"} if "logprobs" in name else {name}
                return lesson
        # any other refusal while a format is sent may be about it: not all servers say so
        if "response_format" in sent and not self.fixed and (not named or _FORMAT.search(text)):
            self.structured = _WEAKER[self.structured]
            self.show_schema = True
            return lesson
        return None

    def _learn_budget(self, said: str, text: str, sent: Mapping[str, Any]) -> bool:
        name = self.budget
        if name is None or name not in sent or not any(budget in text for budget in _BUDGETS):
            return False
        most = _AT_MOST.search(said)
        if most is not None and 0 < int(most[1]) < sent[name]:
            self.cap = int(most[1])
        elif "too large" in said.lower() or "budgets" in self.dropped:
            self.budget = None
        else:
            self.budget = _BUDGETS[1 - _BUDGETS.index(name)]
            self.dropped |= {"budgets"}  # both names were tried when the next one is refused, too
        return True

    def adopt(self, tried: Dialect, began: Dialect, name: str) -> None:
        """Keep what a call that succeeded had learned since it `began`.

        A format that has worked before stays: then only one schema was refused, not the format.
        """
        if tried == began:
            return
        keep = {"structured", "show_schema"} if self.confirmed else set()
        learned = {
            entry.name: getattr(tried, entry.name)
            for entry in fields(self)
            if entry.name not in keep and getattr(tried, entry.name) != getattr(began, entry.name)
        }
        for key, value in learned.items():
            setattr(self, key, value)
        if learned.keys() - {"confirmed"}:
            self.version += 1
            log.debug("%s: learned %s", name, learned)


_FIELDS = attrgetter(*(entry.name for entry in fields(Dialect)))


def may_be_refused(failure: JudgeFailure) -> bool:
    """Whether a call failed because of what was sent with it, so that less may succeed.

    A 404 that names neither the model nor an address may be that of a gateway that has nobody for all of it.
    """
    status = failure.detail.get("status")
    if failure.cause is Cause.NO_MODEL:
        return status == 404 and not _NO_ADDRESS.search(str(failure.detail.get("said")))
    return failure.cause is Cause.BAD_REQUEST and status in REFUSING


class Trial:
    """One request on its way to an answer: what it began with, and what it tries instead."""

    def __init__(self, known: Dialect, name: str) -> None:
        self._known = known
        self._name = name
        self._began = self.dialect = known
        self._fresh = True

    def now(self) -> Dialect:
        """What to send now: where another request has learned something meanwhile, that."""
        if self._fresh or self._began.version != self._known.version:
            self._began, self.dialect = self._known.copy(), self._known.copy()
        return self.dialect

    def learn(self, detail: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
        """Whether another attempt makes sense after this refusal."""
        self._fresh = False
        if self._began.version != self._known.version:
            return True
        lesson = self.dialect.learn(detail, sent)
        if lesson == "certain":
            self.adopt()
        return lesson is not None

    def adopt(self) -> None:
        """Keep what was learned: the endpoint took it."""
        self._known.adopt(self.dialect, self._began, self._name)


_DIALECTS: dict[tuple[str, ...], Dialect] = {}


def shared_dialect(key: tuple[str, ...], first: Dialect) -> Dialect:
    """The dialect known for this endpoint and model; `first` where nothing is known."""
    return _DIALECTS.setdefault(key, first)


def forget_dialects() -> None:
    """Forget what was learned of all endpoints, for tests and for `probe`."""
    _DIALECTS.clear()
