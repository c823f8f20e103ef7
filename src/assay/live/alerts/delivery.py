"""Delivery of alerts: at least once, repeated only while no answer said that the receiver has it.

The store knows what each target has. A delivery is taken under a lease, sent, and noted. `kill -9` between the answer
and the note means one repetition with the same idempotency key; nothing else does. Each target has a thread of its own
while something is sent to it, so that one that hangs holds up nobody else.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from assay._util.error_counter import Errors
from assay._util.steady_clock import steady
from assay._util.threads import BackgroundWorker
from assay.errors import InputError
from assay.live.alerts.payload import MessageWriter, in_words, slack_payload
from assay.live.alerts.rules import AlertRule, ResolvedTarget
from assay.sinks.http_post import post
from assay.sinks.remote import Busy, safe_words
from assay.sinks.webhook import IDEMPOTENCY
from assay.store.alerts import AlertDelivery, AlertStore

log = logging.getLogger("assay.alerts")

SIGNATURE = "X-Assay-Signature"
TIMEOUT = 10.0  # seconds that one attempt may take, whatever the receiver does
LEASE = 120.0  # seconds for which nobody else takes a delivery; the rest allows for clocks that differ
BACKOFF = 2.0  # seconds before the second attempt
LONGEST_WAIT = 3600.0  # seconds between two attempts
MOST_THREADS = 32


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Sign a message: HMAC-SHA256 over `TIMESTAMP.BODY`.

    Args:
        secret: The secret.
        timestamp: Seconds since 1970.
        body: The body.

    Returns:
        Value of the header: "t=TIMESTAMP,v1=HEX".
    """
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


class AlertDeliverer:
    """Sends what is due.

    Args:
        alerts: The alerts of the store.
        rules: The rules.
        targets: The targets by name.
        writer: Writes the messages.
        owner: Name of this process.
        clock: Time in seconds since 1970.
        timeout: Seconds that one attempt may take.
        backoff: Seconds before the second attempt; they double with each.

    Raises:
        InputError: The environment variable with a secret is not set.

    Attributes:
        errors: Errors that are not those of a receiver, by type.
    """

    def __init__(
        self,
        alerts: AlertStore,
        rules: Sequence[AlertRule],
        targets: Mapping[str, ResolvedTarget],
        writer: MessageWriter,
        owner: str,
        *,
        clock: Callable[[], float] = time.time,
        timeout: float = TIMEOUT,
        backoff: float = BACKOFF,
    ) -> None:
        self._alerts = alerts
        self._rules = {rule.name: rule for rule in rules}
        self._secrets = {rule.name: secret_of(rule) for rule in rules}
        self._targets = dict(targets)
        self._writer = writer
        self._owner = owner
        self._clock = clock
        self._timeout = timeout
        self._backoff = backoff
        self._busy: set[str] = set()
        self._unnoted: dict[tuple[str, str, str], AlertDelivery] = {}  # delivered, which the store does not know yet
        self._lock = threading.Lock()
        self._threads = BackgroundWorker(max(1, min(MOST_THREADS, len(targets))), "assay-alerts")
        self.errors = Errors()

    def start(self) -> None:
        """Begin to send what is due, to each target that is not busy. Never waits for a receiver.

        Raises:
            StoreError: The store cannot be read or written.
        """
        for known in list(self._unnoted.values()):
            self._note(known)
        with self._lock:
            idle = self._targets.keys() - self._busy
        begun = steady()
        for delivery in self._alerts.claim(idle, self._clock(), LEASE, LONGEST_WAIT, self._owner):
            with self._lock:
                self._busy.add(delivery.target)
            self._threads.post(partial(self._deliver, delivery, begun + self._timeout))

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is being sent.

        Args:
            timeout: The longest wait, in seconds.

        Returns:
            False where something still is.
        """
        return self._threads.flush(timeout)

    def pending(self) -> int:
        """Count the deliveries to targets of these rules that did not succeed yet.

        Returns:
            Their number.
        """
        return sum(one.target in self._targets for one in self._alerts.deliveries())

    def close(self, timeout: float) -> None:
        """Wait for what is being sent, and send no more.

        Args:
            timeout: The longest wait, in seconds.
        """
        self._threads.close(timeout)

    # ---- on a target's thread

    def _deliver(self, delivery: AlertDelivery, until: float) -> None:
        try:
            self._attempt(delivery, until)
        except Exception as error:  # the store: the delivery is due again when the lease ends
            self.errors.add(error, "alerts")
        finally:
            with self._lock:
                self._busy.discard(delivery.target)

    def _attempt(self, delivery: AlertDelivery, until: float) -> None:
        if _key(delivery) in self._unnoted:
            self._note(delivery)
            return
        try:
            self._send(delivery, until)
        except Exception as error:
            after = getattr(error, "after", None) if isinstance(error, Busy) else None
            wait = max(after or 0.0, self._pause(delivery.attempts))
            log.warning("assay: alert %s not delivered to %s: %s", delivery.alert, delivery.target, safe_words(error))
            self._alerts.note_failed(delivery, self._clock() + wait, safe_words(error), self._owner)
            return
        self._unnoted[_key(delivery)] = delivery
        self._note(delivery)

    def _note(self, delivery: AlertDelivery) -> None:
        """Note that the receiver has it. Where that fails it is noted later, and not sent again meanwhile."""
        self._alerts.note_delivered(delivery, self._clock(), "delivered")
        self._unnoted.pop(_key(delivery), None)

    def _pause(self, attempts: int) -> float:
        return min(LONGEST_WAIT, self._backoff * 2.0 ** min(attempts, 16)) * random.uniform(0.5, 1.0)

    def _send(self, delivery: AlertDelivery, until: float) -> None:
        alert = self._alerts.alert(delivery.alert)
        if alert is None:
            return  # it was deleted: there is nothing to tell
        rule = self._rules.get(alert.rule)
        if rule is None or alert.run not in (rule.run, f"live/{rule.run}"):
            raise InputError("its rule is not in this configuration")
        target = self._targets[delivery.target]
        payload = self._writer.payload(rule, alert, delivery.event)
        if target.channel == "log":
            log.warning("assay: %s", in_words(payload))
        elif target.channel == "slack":
            self._post(target, delivery, slack_payload(payload), None, until)
        else:
            self._post(target, delivery, payload, self._secrets[rule.name], until)

    def _post(
        self, target: ResolvedTarget, delivery: AlertDelivery, data: Mapping[str, Any], secret: str | None, until: float
    ) -> None:
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", IDEMPOTENCY: f"{delivery.alert}:{delivery.event}"}
        if secret is not None:
            headers[SIGNATURE] = signature(secret, int(time.time()), body)
        post(target.url, body, headers, self._timeout, until=until)


def secret_of(rule: AlertRule) -> str | None:
    """The secret that signs the webhooks of a rule.

    Args:
        rule: The rule.

    Returns:
        The secret; None where they are not signed.

    Raises:
        InputError: The environment variable is not set.
    """
    if rule.secret_env is None:
        return None
    secret = os.environ.get(rule.secret_env)
    if not secret:
        raise rule.error("secret_env", f"the environment variable {rule.secret_env!r} is not set")
    return secret


def _key(delivery: AlertDelivery) -> tuple[str, str, str]:
    return delivery.alert, delivery.event, delivery.target
