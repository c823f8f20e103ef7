"""Scores as feedback on LangSmith runs."""

from __future__ import annotations

import datetime
import math
import uuid
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import urlsplit

from assay import InputError, Sample
from assay.extension import (
    Annotation,
    Busy,
    KeyRefused,
    NotThere,
    PerProcess,
    Refused,
    RemoteOptions,
    RemoteSink,
    SinkUnreachable,
    call_repr,
    host_of,
)

if TYPE_CHECKING:
    from langsmith import Client

_TIMEOUT = (10_000, 20_000)  # milliseconds to connect, and to read


def open_sink(address: str) -> LangSmithSink:
    """The sink that `langsmith:ADDRESS` names; the client's own environment says the rest (LANGSMITH_API_KEY …)."""
    return LangSmithSink(api_url=address or None)


class LangSmithSink(RemoteSink):
    """Writes one feedback per score.

    The run is `ids["langsmith_run_id"]`, or `ids["langchain_run_id"]`: the tracer keeps LangChain's own ids. Samples of
    neither are skipped, and counted as such. A run that LangSmith does not have yet is waited for.

    A feedback has the metric as key, the score, the explanation as comment, and judge, version, range and evidence as
    metadata of its source. Where there is no measurement it has no score, but the value "skipped: CAUSE" or
    "failed: CAUSE".
    Writing the same score again replaces the feedback; another judge's stands beside it.

    Args:
        client: A `langsmith.Client` in place of the next two.
        api_url, api_key: The server; else as the LangSmith client finds it: LANGSMITH_ENDPOINT, LANGSMITH_API_KEY.
        project_id: Id of the project (session) that has the runs; else each run is asked for its own, in one request
            per sample, unless `ids["langsmith_session_id"]` tells it.
        extend_trace_retention: True makes LangSmith keep every scored trace for the long, paid time; it does so by
            default for all feedback, and this sink asks it not to.
        options: Those of every remote sink: verify, attempts, patience, dry_run, mask, texts.
    """

    one_by_one = True
    loggers = ("langsmith", "urllib3")

    def __init__(
        self,
        client: Client | None = None,
        *,
        api_url: str | None = None,
        api_key: str | None = None,
        project_id: str | uuid.UUID | None = None,
        extend_trace_retention: bool = False,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(**options)
        if client is not None and (api_url is not None or api_key is not None):
            raise InputError("client: give either a client, or api_url and api_key")
        self._project_id = None if project_id is None else _uuid(project_id, "project_id")
        self._extend = extend_trace_retention
        self._given = client
        self._host = None if api_url is None else host_of(api_url)
        self._made = PerProcess(lambda: _client(api_url, api_key))
        self._located: tuple[str, dict[str, Any]] | None = None

    def __repr__(self) -> str:
        return call_repr(self, api_url=self._host)

    def greet(self) -> None:
        """List one project, which needs the key."""
        with _answers():
            self._client.request_with_retries("GET", "/sessions", params={"limit": 1}, stop_after_attempt=1)

    def target_of(self, sample: Sample) -> str | None:
        return sample.ids.get("langsmith_run_id") or sample.ids.get("langchain_run_id")

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        from langsmith.utils import LangSmithConflictError

        run = _uuid(target, "run id")
        where = self._place(target, sample)
        for annotation in annotations:
            with _answers():
                try:
                    self._create(run, annotation, where)
                except LangSmithConflictError:
                    if annotation.id in self._equal(run, [annotation]):
                        continue
                    self._client.delete_feedback(annotation.id)
                    self._create(run, annotation, where)

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        with _answers():
            return self._equal(_uuid(target, "run id"), annotations)

    def close(self) -> None:
        """Close the connections of a client of our own."""
        client = self._made.take()
        if client is not None:
            client.session.close()

    @property
    def _client(self) -> Client:
        return self._given if self._given is not None else self._made.get()

    def _create(self, run: uuid.UUID, annotation: Annotation, where: dict[str, Any]) -> None:
        self._client.create_feedback(
            run,  # not trace_id: with it, the client queues the feedback, and nobody hears what became of it
            annotation.name,
            score=annotation.value,
            value=_value(annotation),
            comment=annotation.explanation or None,
            source_info=dict(annotation.metadata),
            feedback_source_type="model",
            feedback_id=annotation.id,
            stop_after_attempt=1,
            extend_trace_retention=self._extend,
            **where,
        )

    def _place(self, target: str, sample: Sample) -> dict[str, Any]:
        """Project and start of the run, which LangSmith finds it by. Raises NotThere while the run is not ingested."""
        project = self._project_id or sample.ids.get("langsmith_session_id")
        if project is not None:
            return {"session_id": project}
        if self._located is None or self._located[0] != target:
            with _answers():
                run = self._client.request_with_retries("GET", f"/runs/{target}").json()
            found = {"session_id": run.get("session_id"), "start_time": _time(run.get("start_time"))}
            self._located = (target, {name: value for name, value in found.items() if value is not None})
        return self._located[1]

    def _equal(self, run: uuid.UUID, annotations: Sequence[Annotation]) -> set[str]:
        names = sorted({annotation.name for annotation in annotations})
        stored = {str(one.id): one for one in self._client.list_feedback(run_ids=[run], feedback_key=names)}
        return {one.id for one in annotations if one.id in stored and _same(one, stored[one.id])}


def _client(api_url: str | None, api_key: str | None) -> Client:
    """A client of our own. Raises InputError where the service of LangChain is meant and there is no key."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a missing key, which we say ourselves
        client = _new_client(api_url, api_key)
    if not client.api_key and (urlsplit(client.api_url).hostname or "").endswith("langchain.com"):
        client.session.close()
        raise InputError("LangSmithSink: no key: set LANGSMITH_API_KEY, or pass api_key=")
    return client


def _new_client(api_url: str | None, api_key: str | None) -> Client:
    from langsmith import Client
    from urllib3.util.retry import Retry

    # no thread for traces; all feedback, whatever share of traces the application samples; and no retries besides ours
    return Client(
        api_url,
        api_key=api_key,
        auto_batch_tracing=False,
        tracing_sampling_rate=1.0,
        timeout_ms=_TIMEOUT,
        retry_config=Retry(total=0),
    )


@contextmanager
def _answers() -> Iterator[None]:
    """The client's errors as what they mean for another try."""
    import requests
    from langsmith import utils

    try:
        yield
    except utils.LangSmithNotFoundError:
        raise NotThere("LangSmith does not have this run") from None
    except utils.LangSmithRateLimitError:
        raise Busy("LangSmith limits the rate (HTTP 429)") from None
    except (utils.LangSmithConnectionError, requests.RequestException) as error:
        raise SinkUnreachable(f"LangSmith cannot be reached: {type(error).__name__}") from None
    except (utils.LangSmithAPIError, utils.LangSmithRequestTimeout) as error:
        raise Busy(f"LangSmith fails: {type(error).__name__}") from None
    except (utils.LangSmithError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        status = _status(error)
        if status is not None and status >= 500:
            raise Busy(f"LangSmith fails: HTTP {status}") from None
        if status in (401, 403):
            raise KeyRefused(f"LangSmith refuses the key (LANGSMITH_API_KEY, api_key=): HTTP {status}") from None
        words = f"HTTP {status}" if status is not None else type(error).__name__
        raise Refused(f"LangSmith refuses it: {words}") from None


def _status(error: BaseException) -> int | None:
    """The HTTP status that the client's error stands for; it keeps it in the error it handled."""
    seen: BaseException | None = error
    while seen is not None:
        response = getattr(seen, "response", None)
        if response is not None and isinstance(response.status_code, int):
            return int(response.status_code)
        seen = seen.__cause__ or seen.__context__
    return None


def _value(annotation: Annotation) -> str | None:
    return None if annotation.cause is None else f"{annotation.label}: {annotation.cause}"


def _same(annotation: Annotation, stored: Any) -> bool:
    if annotation.value is None:
        return stored.score is None and stored.value == _value(annotation)
    # the client rounds to four decimals
    return isinstance(stored.score, (int, float)) and math.isclose(annotation.value, stored.score, abs_tol=1e-4)


def _uuid(value: str | uuid.UUID, name: str) -> uuid.UUID:
    try:
        return value if isinstance(value, uuid.UUID) else uuid.UUID(value)
    except ValueError:
        raise InputError(f"{name}: expected a UUID, got {value!r}") from None


def _time(value: Any) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
