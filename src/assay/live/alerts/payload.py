"""What a message says of an alert: JSON for webhooks, one text for chats and the log."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay._util.timestamps import iso
from assay.errors import AssayError, printable
from assay.live.alerts.rules import AlertRule, link_to
from assay.sinks.masking import hider
from assay.store.alerts import Event, StoredAlert

if TYPE_CHECKING:
    from assay.sinks.base import Mask
    from assay.store.store import Store

LONGEST_TEXT = 2000  # characters of a question or an answer
_SHOWN = ("reason", "mean", "rows", "scored", "effective_n", "reference", "difference", "evidence", "attribution")
_MARKUP = re.compile(r"[&<>@]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"}


@dataclass(frozen=True, slots=True)
class MessageWriter:
    """Writes messages.

    Attributes:
        store: The store of the rows.
        mask: Applied to every text of a row. None: texts go as they are stored, which live runs mask before.
        store_option: What follows `assay show RUN ROW`, as " --store PATH"; "" for the default store.
    """

    store: Store
    mask: Mask | None = None
    store_option: str = ""

    def payload(self, rule: AlertRule, alert: StoredAlert, event: Event) -> dict[str, Any]:
        """Write a message as JSON values.

        Args:
            rule: The rule.
            alert: The alert.
            event: "opened" or "closed".

        Returns:
            The values. Ids and texts of rows are read now: rows that were deleted meanwhile have none.

        Raises:
            InputError: The mask failed.
            StoreError: The store cannot be read.
        """
        evidence = alert.evidence if event == "opened" or alert.closing is None else alert.closing
        return {
            "id": alert.id,
            "event": event,
            "rule": alert.rule,
            "run": alert.run,
            "metric": rule.metric,
            "slice": None if alert.slice is None else dict(zip(("column", "value"), alert.slice, strict=True)),
            "condition": {"kind": rule.kind, "limit": evidence["limit"], "window_seconds": rule.window},
            "opened": iso(alert.opened),
            "closed": None if event == "opened" or alert.closed is None else iso(alert.closed),
            **{name: evidence.get(name) for name in _SHOWN},
            "interval": None if evidence.get("low") is None else [evidence["low"], evidence["high"]],
            "dropped_at": None if evidence.get("dropped_at") is None else iso(evidence["dropped_at"]),
            "since": iso(evidence["since"]),
            "worst": [self._row(rule, alert.run, int(number), value) for number, value in evidence["worst"]],
        }

    def _row(self, rule: AlertRule, run: str, number: int, value: float) -> dict[str, Any]:
        found = self.store.query("SELECT id FROM rows WHERE run = ? AND number = ?", run, number)
        row: dict[str, Any] = {
            "run": run,
            "row": number,
            "id": found[0][0] if found else None,
            "value": value,
            "command": f"assay show {shlex.quote(run)} row:{number}{self.store_option}",
        }
        if rule.link is not None:
            row["link"] = link_to(rule.link, run, number)
        if rule.include_text:
            row.update(self._texts(run, number))
        return row

    def _texts(self, run: str, number: int) -> Mapping[str, str]:
        try:
            row = self.store.get_row(run, f"row:{number}")
        except AssayError:  # deleted, or damaged: the alert is told all the same
            return {}
        hide = hider(self.mask, True)
        texts = (
            {"question": row.scored.sample.question, "answer": row.scored.sample.answer} if row.number == number else {}
        )
        # masked whole, then shortened: a mask may need the end of a text to know what it is
        return {name: (hide(text) if hide else text)[:LONGEST_TEXT] for name, text in texts.items() if text}


def in_words(payload: Mapping[str, Any]) -> str:
    """The message as text, with nothing that a terminal would obey.

    Args:
        payload: The message.

    Returns:
        Lines: what happened, why, and the worst rows.
    """
    part = payload["slice"]
    where = "" if part is None else f" ({part['column']}={part['value']})"
    head = f"alert {payload['event']}: {payload['rule']}{where}, run {payload['run']}".replace("\n", " ")
    rows = [_row_in_words(payload["metric"], row) for row in payload["worst"]] if payload["event"] == "opened" else []
    return printable("\n".join([head, str(payload["reason"]), *rows]))


def slack_payload(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The message for Slack and those that take its format: one text, whose markup has no effect.

    Args:
        payload: The message.

    Returns:
        JSON values.
    """
    return {"text": _MARKUP.sub(lambda found: _ENTITIES[found[0]], in_words(payload)), "mrkdwn": False}


def _row_in_words(metric: str, row: Mapping[str, Any]) -> str:
    name = "" if row["id"] is None else f" (id {str(row['id'])[:100]})".replace("\n", " ")
    shown = f"  row {row['row']}{name}: {metric} {row['value']:.3f}; {row.get('link') or row['command']}"
    return "\n".join([shown, *_texts_in_words(row)])


def _texts_in_words(row: Mapping[str, Any]) -> Sequence[str]:
    return [f"    {name}: {' '.join(row[name].split())}" for name in ("question", "answer") if row.get(name)]
