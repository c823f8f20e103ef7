"""The loop that checks rules and delivers alerts: in a thread beside the queue worker, or in `assay live watch`."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay._util.steady_clock import steady
from assay._util.threads import BackgroundWorker
from assay.errors import InputError, printable
from assay.live.alerts.check import AlertCheck, AlertChecker, ReadColumns, targets_of
from assay.live.alerts.delivery import BACKOFF, TIMEOUT, AlertDeliverer, secret_of
from assay.live.alerts.gauges import AlertGauges
from assay.live.alerts.payload import MessageWriter
from assay.live.alerts.rules import AlertRule
from assay.live.queue.rows import process_name

if TYPE_CHECKING:
    from assay.sinks.base import Mask
    from assay.store.store import Store

log = logging.getLogger("assay.alerts")

T = TypeVar("T")

INTERVAL = 60.0  # seconds between two checks
POLL = 0.5  # seconds between two looks for deliveries that are due
SHARE = 20.0  # a check that takes long is followed by a pause of as many times its duration
GRACE = 5.0  # seconds that the end of the loop waits for the check under way
ONCE = 30.0  # seconds that a single check waits for its deliveries


class AlertWatcher:
    """Checks alert rules again and again, and delivers.

    Args:
        store: Folder, file or database of the store.
        rules: The rules.
        interval: Seconds between two checks, above 0.
        mask: Applied to the texts of rows in messages.
        store_option: What follows `assay show RUN ROW` in messages.
        read: Reads scores. None: `assay.store.columns.RunColumns`.
        on_check: Called with the outcome of each check.
        clock: Time in seconds since 1970.
        timeout: Seconds that one delivery may take.
        backoff: Seconds before the second attempt of a delivery.

    Raises:
        InputError: The interval is not positive, or an environment variable with an address or a secret is not set.
        MissingExtra: A rule wants OpenTelemetry, which is not installed.

    Attributes:
        gauges: The state of the rules, as gauges.
    """

    def __init__(
        self,
        store: str | Path,
        rules: Sequence[AlertRule],
        *,
        interval: float = INTERVAL,
        mask: Mask | None = None,
        store_option: str = "",
        read: ReadColumns | None = None,
        on_check: Callable[[AlertCheck], None] | None = None,
        clock: Callable[[], float] = time.time,
        timeout: float = TIMEOUT,
        backoff: float = BACKOFF,
    ) -> None:
        if not interval > 0:
            raise InputError(f"interval: expected a positive number of seconds, got {interval}")
        for rule in rules:
            targets_of(rule)
            secret_of(rule)
        self._address = store
        self._rules = tuple(rules)
        self._interval = interval
        self._mask, self._store_option = mask, store_option
        self._read, self._on_check, self._clock = read, on_check, clock
        self._delivery_options = {"timeout": timeout, "backoff": backoff}
        self._stopped = threading.Event()
        self._thread = BackgroundWorker(1, "assay-alerts-check")
        self._parts: tuple[Store, AlertChecker, AlertDeliverer] | None = None
        self._told: set[str] = set()
        self.gauges = AlertGauges()
        self.gauges.register(self._rules)

    # ---- one check

    def check(self) -> AlertCheck:
        """Check all rules now, and begin to deliver.

        Returns:
            The outcome.

        Raises:
            InputError: An environment variable is not set.
            StoreError: The store cannot be read or written.
        """
        _, checker, deliverer = self._opened()
        found = checker.check(self._clock())
        self.gauges.update(found)
        self._tell(found)
        deliverer.start()
        if self._on_check is not None:
            self._on_check(found)
        return found

    def deliver(self, timeout: float = ONCE) -> int:
        """Deliver what is due, and wait for it.

        Args:
            timeout: The longest wait, in seconds.

        Returns:
            Number of deliveries that did not succeed yet; they are repeated by whoever checks next.

        Raises:
            StoreError: The store cannot be read or written.
        """
        _, _, deliverer = self._opened()
        until = steady() + timeout
        while True:
            deliverer.start()
            sent = deliverer.wait(max(0.0, until - steady()))
            pending = deliverer.pending()
            if not sent or not pending or steady() + POLL >= until or self._stopped.wait(POLL):
                return pending

    def close(self) -> None:
        """Let go of the store and the threads."""
        parts, self._parts = self._parts, None
        if parts is not None:
            parts[2].close(0.0)
            parts[0].close()

    # ---- the loop

    def run(self) -> None:
        """Check and deliver until `stop`. Errors of the store are logged, and the loop goes on."""
        try:
            while not self._stopped.is_set():
                began = steady()
                self._safely(self.check)
                pause = max(self._interval, SHARE * (steady() - began))
                self._deliver_until(began + pause)
        finally:
            self.close()

    def start(self) -> None:
        """Run the loop in a thread of its own."""
        self._thread.post(self.run)

    def stop(self, timeout: float = 0.0) -> bool:
        """End the loop.

        Args:
            timeout: Seconds to wait for it.

        Returns:
            False where it is still at work.
        """
        self._stopped.set()
        return self._thread.close(timeout)

    def finish(self, *, once_more: bool) -> None:
        """End the loop. Never raises: errors are logged.

        Args:
            once_more: Check a last time, and wait for the deliveries, for at most 30 s.
        """
        if not self.stop(GRACE):  # a store that hangs: its thread is left to it
            return
        if once_more:
            self._stopped.clear()
            self._safely(self.check)
            self._safely(self.deliver)
            self._stopped.set()
        self._safely(self.close)

    def _deliver_until(self, until: float) -> None:
        while not self._stopped.is_set() and steady() < until:
            pending = self._safely(self._pending)
            self._stopped.wait(min(POLL if pending else self._interval, max(0.0, until - steady())))

    def _pending(self) -> int:
        _, _, deliverer = self._opened()
        deliverer.start()
        return deliverer.pending()

    def _safely(self, action: Callable[[], T]) -> T | None:
        """What the action returns; None where it failed, which is logged once for each kind of error."""
        try:
            return action()
        except Exception as error:
            self._tell_once(f"alerts cannot be checked: {error}")
            return None

    def _opened(self) -> tuple[Store, AlertChecker, AlertDeliverer]:
        if self._parts is None:
            from assay.store.store import Store

            store = Store(self._address)
            checker = AlertChecker(store, self._rules, self._read)
            writer = MessageWriter(store, self._mask, self._store_option)
            name = process_name("alerts")
            deliverer = AlertDeliverer(
                checker.alerts, self._rules, checker.targets, writer, name, clock=self._clock, **self._delivery_options
            )
            self._parts = store, checker, deliverer
        return self._parts

    def _tell(self, check: AlertCheck) -> None:
        for problem in check.problems:
            self._tell_once(problem)
        self._told &= {*check.problems}  # what comes back later is news again

    def _tell_once(self, said: str) -> None:
        if said not in self._told:
            self._told.add(said)
            log.warning("assay: %s", printable(said))
