"""Scores as Langfuse scores of traces and observations."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from assay import InputError, Sample
from assay.extension import (
    Annotation,
    Busy,
    KeyRefused,
    PerProcess,
    Refused,
    RemoteOptions,
    RemoteSink,
    SinkUnreachable,
    call_repr,
    host_of,
)

if TYPE_CHECKING:
    from langfuse import Langfuse
    from langfuse.api import LangfuseAPI
    from langfuse.api.scores import CreateScoreRequest

CLOUD = "https://cloud.langfuse.com"

_TIMEOUT = 20  # seconds
_TRY_AGAIN = frozenset({408, 425, 429})
_AFTER = 3600.0  # seconds: a Retry-After beyond this counts as none

#: The sink tries again by itself, and knows how long it may.
_ONCE: Any = {"max_retries": 0}


def open_sink(address: str) -> LangfuseSink:
    """The sink that `langfuse:ADDRESS` names; keys are those of the Langfuse client's own environment."""
    return LangfuseSink(base_url=address or None)


class LangfuseSink(RemoteSink):
    """Writes one Langfuse score per score, on the sample's trace, and on its observation where that is known.

    The trace is `ids["langfuse_trace_id"]`, the observation `ids["langfuse_observation_id"]`; samples without a trace
    are skipped, and counted as such. Langfuse takes scores of traces that it does not have.

    A score has the metric as name, type NUMERIC, the explanation as comment, and judge, version, range and evidence as
    metadata. Where there is no measurement it is CATEGORICAL with the value "skipped: CAUSE" or "failed: CAUSE":
    Langfuse never averages the two types together. Its time is the end of the exchange, because Langfuse
    replaces a score only if id, name and the date of its time agree: writing the same score again, on
    any day, leaves one.

    Scores go to the API at once, not through the client's queue, which reports nothing of what it fails to send.

    Args:
        client: A `langfuse.Langfuse` in place of the next three; its API client is used.
        public_key, secret_key: Else LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY.
        base_url: Else LANGFUSE_BASE_URL, LANGFUSE_HOST, or Langfuse's cloud.
        environment: Of the scores; else LANGFUSE_TRACING_ENVIRONMENT, or the server's default.
        options: Those of every remote sink: verify, attempts, patience, dry_run, mask, texts.
    """

    one_by_one = True
    loggers = ("langfuse", "httpx", "httpcore")

    def __init__(
        self,
        client: Langfuse | None = None,
        *,
        public_key: str | None = None,
        secret_key: str | None = None,
        base_url: str | None = None,
        environment: str | None = None,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(**options)
        if client is not None and (public_key, secret_key, base_url) != (None, None, None):
            raise InputError("client: give either a client, or public_key, secret_key and base_url")
        if client is None:
            public_key = public_key or os.environ.get("LANGFUSE_PUBLIC_KEY")
            secret_key = secret_key or os.environ.get("LANGFUSE_SECRET_KEY")
            if not public_key or not secret_key:
                missing = "public_key" if not public_key else "secret_key"
                raise InputError(f"{missing}: expected a key, here or in LANGFUSE_{missing.upper()}")
            base_url = base_url or os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or CLOUD
            if not base_url.startswith(("http://", "https://")):
                raise InputError("base_url: expected an http or https address")
        self._given = client
        self._host = None if base_url is None else host_of(base_url)
        self._environment = environment or os.environ.get("LANGFUSE_TRACING_ENVIRONMENT")
        self._made = PerProcess(lambda: _api(public_key or "", secret_key or "", base_url or CLOUD))

    def __repr__(self) -> str:
        return call_repr(self, base_url=self._host)

    def greet(self) -> None:
        """Ask which projects the keys belong to."""
        with _answers():
            self._api.projects.get(request_options=_ONCE)

    def target_of(self, sample: Sample) -> str | None:
        trace, observation = sample.ids.get("langfuse_trace_id"), sample.ids.get("langfuse_observation_id")
        return f"{trace}/{observation}" if trace and observation else trace

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        scores = [self._request(target, annotation) for annotation in annotations]
        with _answers():
            answer = self._api.scores.create(request=scores, request_options=_ONCE)
        rejected = getattr(answer, "rejected", 0)
        if rejected:
            raise Refused(f"Langfuse rejects {rejected} of {len(scores)} scores")

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        trace, _, _ = target.partition("/")
        stored: dict[str, Any] = {}
        for start in range(0, len(annotations), 50):  # the ids go into the address
            ids = ",".join(one.id for one in annotations[start : start + 50])
            with _answers():
                page = self._api.scores.get_many(id=ids, trace_id=trace, limit=100, request_options=_ONCE)
            stored |= {score.id: score.value for score in page.data}
        return {one.id for one in annotations if one.id in stored and _same(one, stored[one.id])}

    def close(self) -> None:
        """Close the connections of a client of our own."""
        api = self._made.take()
        if api is not None:
            api._client_wrapper.httpx_client.httpx_client.close()

    def _request(self, target: str, annotation: Annotation) -> CreateScoreRequest:
        from langfuse.api.commons import ScoreDataType
        from langfuse.api.scores import CreateScoreRequest

        trace, _, observation = target.partition("/")
        kind: Any = ScoreDataType.NUMERIC if annotation.cause is None else ScoreDataType.CATEGORICAL
        optional: dict[str, Any] = {
            "observation_id": observation,
            "comment": annotation.explanation,
            "environment": self._environment,
        }
        return CreateScoreRequest(
            id=annotation.id,
            trace_id=trace,
            name=annotation.name,
            value=_value(annotation),
            data_type=kind,
            metadata=dict(annotation.metadata),
            timestamp=datetime.datetime.fromtimestamp(annotation.at, datetime.UTC),
            **{name: value for name, value in optional.items() if value},
        )

    @property
    def _api(self) -> LangfuseAPI:
        return self._given.api if self._given is not None else self._made.get()


def _api(public_key: str, secret_key: str, base_url: str) -> LangfuseAPI:
    """The API alone: `Langfuse(...)` would set up tracing and threads of its own."""
    from langfuse import __version__
    from langfuse.api import LangfuseAPI

    return LangfuseAPI(
        base_url=base_url,
        username=public_key,
        password=secret_key,
        x_langfuse_sdk_name="python",
        x_langfuse_sdk_version=__version__,
        x_langfuse_public_key=public_key,
        timeout=_TIMEOUT,
    )


@contextmanager
def _answers() -> Iterator[None]:
    """The client's errors as what they mean for another try."""
    import httpx
    from langfuse.api.core import ApiError

    try:
        yield
    except ApiError as error:
        status = error.status_code or 500
        if status in _TRY_AGAIN or status >= 500:
            raise Busy(f"Langfuse answers HTTP {status}", after=_after(error.headers)) from None
        if status in (401, 403):
            raise KeyRefused(f"Langfuse refuses the keys: HTTP {status}") from None
        raise Refused(f"Langfuse refuses it: HTTP {status}") from None
    except httpx.HTTPError as error:
        raise SinkUnreachable(f"Langfuse cannot be reached: {type(error).__name__}") from None


def _after(headers: dict[str, str] | None) -> float | None:
    try:
        seconds = float((headers or {}).get("retry-after", ""))
    except ValueError:  # none, or a date
        return None
    return seconds if 0 <= seconds <= _AFTER else None


def _value(annotation: Annotation) -> float | str:
    return annotation.value if annotation.value is not None else f"{annotation.label}: {annotation.cause}"


def _same(annotation: Annotation, stored: Any) -> bool:
    if annotation.value is None:
        return bool(stored == _value(annotation))
    number = isinstance(stored, (int, float)) and not isinstance(stored, bool)
    return number and math.isclose(annotation.value, stored, rel_tol=1e-9, abs_tol=1e-12)
