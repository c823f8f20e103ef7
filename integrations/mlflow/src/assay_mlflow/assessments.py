"""The assessments of traces, on a tracking server or in a local store; as the dicts of MLflow's REST API.

The REST API is called directly, with MLflow's own credentials and TLS settings: MLflow's client would try again for
minutes by itself, and reports each call to its telemetry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from assay.extension import Busy, KeyRefused, NotThere, Refused, install_package
from assay_mlflow.log_filter import quiet_mlflow

TIMEOUT = 15.0  # seconds that one request may take

_PATH = "/api/3.0/mlflow/traces"
_PASSING = (408, 425, 429)  # answers that another try may change
_GONE = ("RESOURCE_DOES_NOT_EXIST", "NOT_FOUND")
_WRONG = ("INVALID_PARAMETER_VALUE", "BAD_REQUEST", "PERMISSION_DENIED", "UNAUTHENTICATED", "NOT_IMPLEMENTED")
_HTTP = re.compile(r"https?://|databricks(-uc)?\b|uc\b", re.IGNORECASE)


class Assessments(Protocol):
    """What a sink needs of a store. Raises NotThere, Refused, Busy, or another error for trouble that may pass."""

    def of(self, trace_id: str) -> list[dict[str, Any]]:
        """The assessments of a trace."""

    def create(self, trace_id: str, feedback: Any) -> None:
        """Add one, an `mlflow.entities.Feedback`."""

    def update(self, trace_id: str, assessment_id: str, feedback: Any) -> None:
        """Give one another value, rationale and metadata. Metadata is merged, not replaced."""

    def delete(self, trace_id: str, assessment_id: str) -> None:
        """Remove one."""


def assessments_at(tracking_uri: str | None) -> Assessments:
    """Those of the store at this URI; None: the one that MLflow's own settings name."""
    quiet_mlflow()
    from mlflow.tracking import get_tracking_uri

    uri = tracking_uri or str(get_tracking_uri())
    return OnServer(uri) if is_server(uri) else InStore(uri)


def is_server(tracking_uri: str) -> bool:
    """Whether a tracking URI names a server, rather than a file or a database."""
    return _HTTP.match(tracking_uri) is not None


class OnServer:
    """Assessments of a tracking server."""

    def __init__(self, tracking_uri: str) -> None:
        self._uri = tracking_uri

    def of(self, trace_id: str) -> list[dict[str, Any]]:
        trace = self.call("GET", f"{_PATH}/{trace_id}")["trace"]
        found: list[dict[str, Any]] = trace["trace_info"].get("assessments", [])
        return found

    def create(self, trace_id: str, feedback: Any) -> None:
        self.call("POST", f"{_PATH}/{trace_id}/assessments", {"assessment": feedback.to_dictionary()})

    def update(self, trace_id: str, assessment_id: str, feedback: Any) -> None:
        whole = feedback.to_dictionary()
        fields = {name: whole[name] for name in ("feedback", "rationale", "metadata") if name in whole}
        body = {"assessment": {"assessment_id": assessment_id, **fields}, "update_mask": ",".join(fields)}
        self.call("PATCH", f"{_PATH}/{trace_id}/assessments/{assessment_id}", body)

    def delete(self, trace_id: str, assessment_id: str) -> None:
        self.call("DELETE", f"{_PATH}/{trace_id}/assessments/{assessment_id}")

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One request, not repeated."""
        from mlflow.utils.credentials import get_default_host_creds
        from mlflow.utils.rest_utils import http_request

        credentials = get_default_host_creds(self._uri)  # type: ignore[no-untyped-call, unused-ignore]
        response = http_request(  # type: ignore[no-untyped-call, unused-ignore]
            credentials,
            path,
            method,
            max_retries=0,
            retry_codes=frozenset(),
            respect_retry_after_header=False,
            timeout=TIMEOUT,
            **({} if body is None else {"json": body}),
        )
        if response.status_code != 200:
            raise _failure(response)
        data: dict[str, Any] = response.json()
        return data


class InStore:
    """Assessments of a store without a server, such as a SQLite file; MLflow must be installed whole."""

    def __init__(self, tracking_uri: str) -> None:
        from mlflow.tracing.client import TracingClient

        try:
            self._store = TracingClient(tracking_uri).store
        except ImportError as error:
            raise Refused(
                f"a store without a server needs more of MLflow: {install_package('mlflow')} ({error})"
            ) from error

    def of(self, trace_id: str) -> list[dict[str, Any]]:
        with _translated():
            return [one.to_dictionary() for one in self._store.get_trace_info(trace_id).assessments]

    def create(self, trace_id: str, feedback: Any) -> None:
        with _translated():
            self._store.create_assessment(feedback)

    def update(self, trace_id: str, assessment_id: str, feedback: Any) -> None:
        with _translated():
            self._store.update_assessment(
                trace_id,
                assessment_id,
                feedback=feedback.feedback,
                rationale=feedback.rationale,
                metadata=feedback.metadata,
            )

    def delete(self, trace_id: str, assessment_id: str) -> None:
        with _translated():
            self._store.delete_assessment(trace_id, assessment_id)


def _failure(response: Any) -> Exception:
    """What an answer means. It says the code alone: the server's message may repeat texts of samples."""
    status = response.status_code
    what = f"HTTP {status} {_code(response)}".strip()
    if status == 404:
        return NotThere(what)
    if status in (401, 403):
        return KeyRefused(what)
    if 400 <= status < 500 and status not in _PASSING:
        return Refused(what)
    wait = response.headers.get("retry-after", "")
    return Busy(what, after=float(wait) if wait.isdigit() else None)


def _code(response: Any) -> str:
    try:
        return str(response.json()["error_code"])[:100]
    except (ValueError, KeyError, TypeError):
        return ""


@contextmanager
def _translated() -> Iterator[None]:
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        code = str(error.error_code)
    else:
        return
    if code in _GONE:
        raise NotThere(code)
    if code in _WRONG:
        raise Refused(code)
    raise Busy(code)
