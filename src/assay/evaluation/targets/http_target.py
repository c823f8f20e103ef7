"""HTTP endpoints as targets: a request made of a template, the answer and the contexts by JSON paths, also streamed."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from assay.data.cell_paths import at_path
from assay.data.rows import sample_from_row
from assay.errors import InputError
from assay.evaluation.targets.base import Answer, TargetFailure, Variables, amount_in, count_in
from assay.evaluation.targets.outputs import answer_of, checked
from assay.judges.http.client import http_library
from assay.judges.http.reply_bytes import BrokenReply, ReplyTooLarge, check_values, count_replies, limited_replies
from assay.judges.http.retries import PASSING, retry_after
from assay.records import Sample

_NAME = re.compile(r"\{(\w{1,100})\}")
_INDEX = re.compile(r"\[(\d{1,9}|\*|)\]")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH"})


@dataclass(frozen=True)
class HttpTarget:
    """An application behind HTTP.

    `{question}`, `{history}`, `{id}`, columns of the data and the names of `vary` stand for their values, in the URL
    and in texts of the template. A text of the template that is one name alone becomes the value itself.

    A reply is JSON, plain text, JSON lines, or server-sent events (`text/event-stream`): the answer is then joined from
    all events. Redirects are not followed.

    Attributes:
        url: Its address, http or https.
        method: GET, POST, PUT or PATCH; the template of GET is its query.
        template: The request's body as JSON values.
        answer: Path to the answer, `choices[0].message.content`. None: by the accepted names of the field.
        contexts: Path to the passages, `documents[*].text`. None: by the accepted names of the field.
        headers: Further headers, such as Authorization. They appear in no message and no store.
        input_tokens, output_tokens, cost: Paths to these numbers.
        version: Version of the application. None: not known, and answers are not reused.
    """

    url: str
    _: KW_ONLY
    method: str = "POST"
    template: Mapping[str, Any] = field(default_factory=lambda: {"question": "{question}"})
    answer: str | None = None
    contexts: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    input_tokens: str | None = None
    output_tokens: str | None = None
    cost: str | None = None
    version: str | None = None

    attempts = 3

    def __post_init__(self) -> None:
        parts = urlsplit(_NAME.sub("x", self.url))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"url: expected an address like http://localhost:8000/ask, got {self.url!r}")
        if self.method not in _METHODS:
            raise InputError(f"method: expected {', '.join(sorted(_METHODS))}, got {self.method!r}")
        if not isinstance(self.template, Mapping):
            raise InputError(f"template: expected a JSON object, got {type(self.template).__name__}")
        if "question" not in self._names():
            raise InputError("template: {question} is in neither the template nor the URL")

    @property
    def name(self) -> str:
        """The address without user, password and query."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def _names(self) -> set[str]:
        return set(_NAME.findall(self.url)) | set(_NAME.findall(json.dumps(dict(self.template), default=str)))

    def check(self, variables: Variables) -> None:
        """See `Target`."""
        unknown = [name for name in variables if name not in self._names()]
        if unknown:
            raise InputError(f"vary: {{{unknown[0]}}} is in neither the template nor the URL")

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """See `Target`."""
        client = http_library().AsyncClient(follow_redirects=False, timeout=None, headers=dict(self.headers))
        count_replies(client)
        object.__setattr__(self, "_client", client)
        async with client:
            yield

    async def ask(self, sample: Sample, variables: Variables, seconds: float) -> Answer:
        """See `Target`."""
        import asyncio

        values = {**sample.metadata, "id": sample.id, "question": sample.question, **variables}
        values["history"] = [part for turn in sample.history for part in (
            {"role": "user", "content": turn.question}, {"role": "assistant", "content": turn.answer})]  # fmt: skip
        http = http_library()
        failure: TargetFailure
        try:
            async with asyncio.timeout(seconds):
                with limited_replies():
                    return await self._ask(values)
        except TimeoutError:
            failure = TargetFailure(f"no answer within {seconds:g} s")
        except (ReplyTooLarge, BrokenReply) as error:
            failure = TargetFailure(f"{self.name}: {error}", passing=False)
        except (http.HTTPError, http.InvalidURL, OSError) as error:
            failure = TargetFailure(f"{self.name} cannot be reached: {str(error) or type(error).__name__}")
        except UnicodeError as error:
            failure = TargetFailure(f"{self.name}: the request cannot be written: {error}", passing=False)
        # raised out here, so that the client's exception, which holds the request and its headers, is no context
        raise failure

    async def _ask(self, values: Mapping[str, Any]) -> Answer:
        url = _NAME.sub(lambda found: quote(_text(values[found[1]]), safe="") if found[1] in values else found[0],
                        self.url)  # fmt: skip
        body = filled(dict(self.template), values)
        sent: dict[str, Any] = {"json": body}
        if self.method == "GET":
            sent = {"params": {key: _text(value) for key, value in body.items()}} if body else {}
        async with self._client.stream(self.method, url, **sent) as came:  # type: ignore[attr-defined]
            if not 200 <= came.status_code < 300:
                self._refuse(came.status_code, await came.aread(), came.headers)
            kind = came.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == "text/event-stream":
                return self._of_events(await _events(came))
            content = await came.aread()
        text = content.decode(came.charset_encoding or "utf-8", "replace")
        return self._of_text(text, content, kind)

    def _refuse(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        told = " ".join(content[:500].decode("utf-8", "replace").split())
        for secret in self.headers.values():
            told = told.replace(secret, "***") if len(secret) >= 6 else told
        what = "redirects, and redirects are not followed" if 300 <= status < 400 else f"answered {status}"
        raise TargetFailure(
            f"{self.name} {what}" + (f": {told}" if told else ""),
            passing=status in PASSING,
            retry_after=retry_after(headers),
            limited=status == 429,
        )

    def _of_text(self, text: str, content: bytes, kind: str) -> Answer:
        check_values(content)
        try:
            return self._of_json(json.loads(text))
        except (ValueError, RecursionError):
            pass
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and "json" in kind:
            return self._of_events(lines)
        if self.answer is None and "json" not in kind:
            return answer_of(text)
        raise TargetFailure(f"{self.name}: its reply is no JSON: {text[:200]!r}", passing=False)

    def _of_json(self, reply: Any) -> Answer:
        if self.answer is None:
            found = answer_of(reply)
        else:
            text = follow(reply, self.answer)
            if not isinstance(text, str):
                raise TargetFailure(f"{self.name}: its reply has no text at {self.answer!r}", passing=False)
            found = Answer(text=text)
        contexts = found.contexts if self.contexts is None else self._contexts(reply)
        return self._with_numbers(found.text, contexts, found, reply)

    def _contexts(self, reply: Any) -> Any:
        value = follow(reply, self.contexts or "")
        if value is None:
            return None
        try:
            return sample_from_row({"contexts": value}, {"contexts": "contexts"}, 1).contexts
        except InputError as error:
            raise TargetFailure(f"{self.name}: {self.contexts!r} holds no passages: {error}", passing=False) from None

    def _with_numbers(self, text: str, contexts: Any, found: Answer | None, reply: Any) -> Answer:
        def number(name: str, read: Any) -> Any:
            path = getattr(self, name)
            return getattr(found, name, None) if path is None else read(follow(reply, path))

        return checked(
            Answer(
                text=text,
                contexts=contexts,
                messages=() if found is None else found.messages,
                input_tokens=number("input_tokens", count_in),
                output_tokens=number("output_tokens", count_in),
                cost=number("cost", amount_in),
            )
        )

    def _of_events(self, events: list[str]) -> Answer:
        """Pieces of the answer joined; passages and numbers of the last event that has them."""
        pieces: list[str] = []
        whole: dict[str, Any] = {}
        contexts: Any = None
        for event in events:
            try:
                value = json.loads(event)
            except (ValueError, RecursionError):
                value = event
            if not isinstance(value, Mapping):
                pieces.append(value if isinstance(value, str) else event)
                continue
            whole.update(value)
            piece = follow(value, self.answer) if self.answer is not None else _piece(value)
            pieces += [piece] if isinstance(piece, str) else []
            held = self._contexts(value) if self.contexts is not None else _passages(value)
            contexts = held if held is not None else contexts
        if not pieces:
            raise TargetFailure(f"{self.name}: its events have no text of an answer", passing=False)
        return self._with_numbers("".join(pieces), contexts, None, whole)


def _piece(event: Mapping[str, Any]) -> str | None:
    """The text of one event by the accepted names of the field, and by the names that streams have besides."""
    from assay.records.field_names import find_columns

    name = find_columns(event).get("answer") or next((key for key in ("token", "text", "delta") if key in event), None)
    value = None if name is None else event[name]
    return value if isinstance(value, str) else None


def _passages(event: Mapping[str, Any]) -> Any:
    from assay.records.field_names import find_columns

    name = find_columns(event).get("contexts")
    try:
        return None if name is None else sample_from_row({name: event[name]}, {"contexts": name}, 1).contexts
    except InputError:
        return None


async def _events(came: Any) -> list[str]:
    """The data of server-sent events up to `[DONE]`: lines of one event are joined."""
    events: list[str] = []
    data: list[str] = []
    async for line in came.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip() and data:
            events.append("\n".join(data))
            data = []
            if events[-1] == "[DONE]":
                return events[:-1]
        if data == ["[DONE]"]:  # some servers keep the connection open after it
            return events
    return [*events, "\n".join(data)] if data else events


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with values for its names; a text that is one name becomes the value itself."""
    if isinstance(template, Mapping):
        return {str(key): filled(value, values) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    alone = _NAME.fullmatch(template)
    if alone is not None and alone[1] in values:
        return values[alone[1]]
    return _NAME.sub(lambda found: _text(values[found[1]]) if found[1] in values else found[0], template)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def follow(reply: Any, path: str) -> Any:
    """The value at a path such as `$.choices[0].message.content` or `documents[*].text`; None where there is none."""
    steps = _INDEX.sub(lambda found: f".{found[1]}" if found[1].isdecimal() else "", path.removeprefix("$"))
    return at_path({"reply": reply}, "reply." + steps.strip(".")) if steps.strip(".") else reply
