"""OpenAI's batches: a file of requests is uploaded, a batch is made of it, and its results are files again.

Azure speaks the same protocol, and so do servers and gateways that call themselves OpenAI-compatible and have
`/files` and `/batches`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.batch.protocol import BatchStatus, listed, refusal
from assay.judges.batch.state import Batch
from assay.judges.batch.transport import BatchClient, part
from assay.judges.http.retries import Trouble

#: Statuses of a batch that has ended. Whatever else a server says, it is still under way.
_ENDED = frozenset({"completed", "expired", "cancelled", "canceled", "failed"})
#: Azure takes its time to look at a file.
_NOT_READY = frozenset({"pending", "running"})
_SLACK = 86_400.0  # seconds that the provider's clock may differ from ours
_PAGES = 200
_AGAIN = ("expired", "cancel", "server", "rate", "timeout", "overload", "unavailable")


class FilesAndBatches:
    """OpenAI's protocol. Limits: 50,000 requests, 200 MB."""

    path = "/batches"
    head, between, tail = b"", b"\n", b"\n"

    def __init__(self, *, azure: bool = False, most_requests: int = 50_000, most_bytes: int = 200_000_000) -> None:
        self._azure = azure
        self.most_requests = most_requests
        self.most_bytes = most_bytes

    def line(self, name: str, path: str, body: Mapping[str, Any]) -> bytes:
        """See `BatchProtocol`."""
        request = {"custom_id": name, "method": "POST", "url": self._url(path), "body": body}
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    async def upload(self, wire: BatchClient, batch: Batch, file: Path) -> str:
        """See `BatchProtocol`."""
        found = await wire.put_file("/files", f"assay-{batch.tag}.jsonl", file, {"purpose": "batch"})
        name = _id(found, wire, "file")
        while found.get("status") in _NOT_READY:
            await asyncio.sleep(wire.settings.retry_base * 4)
            found = await wire.get(f"/files/{part(name)}")
        if found.get("status") == "error":
            said = found.get("status_details") or "it does not say why"
            raise JudgeFailure(Cause.BAD_REQUEST, f"{wire.name} does not take the file of a batch: {said}")
        return name

    async def create(self, wire: BatchClient, batch: Batch, file: Path) -> BatchStatus:
        """See `BatchProtocol`."""
        body = {
            "input_file_id": batch.file,
            "endpoint": self._url(batch.path),
            "completion_window": "24h",
            "metadata": {"assay": batch.tag},
        }
        return _status_of(await wire.post_without_retry(self.path, body), wire)

    async def find(self, wire: BatchClient, batch: Batch, known: set[str]) -> BatchStatus | Literal["later"] | None:
        """See `BatchProtocol`: by the tag in its metadata, or by the file that it is made of."""
        async for entries in listed(wire, self.path, "after", _PAGES):
            for entry in entries:
                if _is_it(entry, batch):
                    return _status_of(entry, wire)
            if _old(entries[-1], batch):
                return None
        return None

    async def look(self, wire: BatchClient, name: str) -> BatchStatus:
        """See `BatchProtocol`."""
        return _status_of(await wire.get(f"{self.path}/{part(name)}"), wire)

    def result_paths(self, seen: BatchStatus) -> Sequence[str]:
        """See `BatchProtocol`."""
        return [f"/files/{part(file)}/content" for file in seen.results]

    def outcome(self, wire: BatchClient, model: str, line: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """See `BatchProtocol`."""
        response, error = line.get("response"), line.get("error")
        if isinstance(response, dict):
            status, body = response.get("status_code", 200), response.get("body")
            if status == 200 and isinstance(body, dict) and not body.get("error"):
                return {"body": body} if body.get("choices") or body.get("data") else None
            said = body if body else error
            return refusal(wire, model, status if isinstance(status, int) and status >= 400 else 502, json.dumps(said))
        if isinstance(error, dict):
            code = str(error.get("code") or "")
            passing = not code or any(word in code for word in _AGAIN)
            return None if passing else refusal(wire, model, 400, json.dumps({"error": error}))
        return None

    def _url(self, path: str) -> str:
        return path if self._azure else "/v1" + path


def _is_it(entry: Mapping[str, Any], batch: Batch) -> bool:
    metadata = entry.get("metadata")
    tagged = isinstance(metadata, dict) and metadata.get("assay") == batch.tag
    return tagged or (batch.file is not None and entry.get("input_file_id") == batch.file)


def _old(entry: Mapping[str, Any], batch: Batch) -> bool:
    made = entry.get("created_at")
    return isinstance(made, (int, float)) and made < batch.at - _SLACK


def _status_of(found: Mapping[str, Any], wire: BatchClient) -> BatchStatus:
    name, status = _id(found, wire, "batch"), str(found.get("status"))
    files = tuple(str(found[key]) for key in ("output_file_id", "error_file_id") if found.get(key))
    counts = found.get("request_counts")
    said = status
    if isinstance(counts, dict) and counts.get("total"):
        said = f"{status}, {counts.get('completed', 0)} of {counts['total']} done, {counts.get('failed', 0)} failed"
    if status != "failed":
        late = isinstance(counts, dict) and counts.get("completed") and not found.get("output_file_id")
        ended = status in _ENDED and not late
        return BatchStatus(name, said, ended, results=files, cancelled=status.startswith("cancel"))
    errors = found.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    entries = [entry for entry in listed or [] if isinstance(entry, dict)]
    said = wire.scrub("; ".join(_error(entry) for entry in entries[:3])) or "it does not say why"
    full = any("token_limit" in str(entry.get("code")) for entry in entries)
    return BatchStatus(name, f"failed: {said}", True, said, full)


def _error(entry: Mapping[str, Any]) -> str:
    line = f"line {entry['line']}: " if entry.get("line") else ""
    return f"{line}{entry.get('message') or entry.get('code')}"


def _id(found: Mapping[str, Any], wire: BatchClient, what: str) -> str:
    name = found.get("id")
    if isinstance(name, str) and name:
        return name
    raise Trouble(JudgeFailure(Cause.CONNECTION, f"{wire.name} sent a {what} without an id"))
