"""`kill -9` of a watcher at each step: one alert, and one repetition at most, with the same key."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.store.alerts import AlertStore
from assay.store.store import Store
from tests._support.servers.alert_receiver import AlertReceiver
from tests.live.alerts.fakes import filled
from tests.live.alerts.watch_app import STEPS

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")]

ROOT = Path(__file__).parents[3]
#: Between the answer and the note of it: the only steps after which a message comes twice.
REPEATED = {"post:after", "note_delivered:before"}


def watch(store: str, receiver: AlertReceiver, value: float, ahead: float, step: str = "") -> int:
    given = [sys.executable, "-m", "tests.live.alerts.watch_app", store, receiver.url, str(value), str(ahead)]
    done = subprocess.run([*given, *([step] if step else [])], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_a_step_leaves_one_alert_and_no_other_repetition(address: str, step: str) -> None:
    filled(address, [0.0] * 40).close()
    with AlertReceiver() as receiver:
        for ahead, value in ((0, 0.0), (1000, 1.0)):  # the opening, then the closing
            assert watch(address, receiver, value, ahead, step) == -signal.SIGKILL
            for later in (200, 400):
                assert watch(address, receiver, value, ahead + later) == 0
        keys = [message.key for message in receiver.messages]
    with Store(address) as store:
        (alert,) = AlertStore(store).alerts()
        assert alert.closed is not None
        assert AlertStore(store).deliveries() == []
    times = 2 if step in REPEATED else 1
    assert keys == [f"{alert.id}:opened"] * times + [f"{alert.id}:closed"] * times
