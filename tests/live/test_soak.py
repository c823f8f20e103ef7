"""A short soak: requests, two workers and alerts, and each part is killed. At length: `tests.benchmarks.soak_live`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from assay import Sample
from assay.live.sampling import Sampling
from assay.store.alerts import StoredAlert

if sys.platform != "linux":
    pytest.skip("limits of other processes", allow_module_level=True)

from tests.benchmarks import soak_live

TAKEN = [str(n) for n in range(200) if Sampling(soak_live.RATE_KEPT).decide(Sample(id=str(n))).taken]
LEFT_OUT = [str(n) for n in range(200) if str(n) not in TAKEN]


@pytest.mark.long
def test_each_request_is_a_row_once_or_counted_whatever_is_killed(tmp_path: Path) -> None:
    soak = soak_live.Soak(tmp_path / "soak", rate=60, embedded=False, window=1.0, mount=False)
    soak.run(seconds=13.0, every=2.0)
    assert soak.problems == []
    assert soak.done.keys() == set(soak_live.EVENTS)
    assert soak.figures["requests"] == sum(soak.figures[what] for what in ("rows", "lost")) + sum(
        soak.figures["counted"].values()
    )


def problems(rows: list[str], counted: dict[str, int], kills: tuple[float, ...] = ()) -> list[str]:
    """Of 200 requests, ten a second from 0 s on."""
    submitted = {str(n): n / 10 for n in range(200)}
    return soak_live.requests_problems(submitted, Counter(rows), counted, kills)


def test_a_soak_finds_lost_doubled_and_uncounted_requests() -> None:
    counted = {"sampled_out": len(LEFT_OUT)}
    assert problems(TAKEN, counted) == []
    assert problems(TAKEN[:-1], counted | {"dropped": 1}) == []
    assert problems([*TAKEN, TAKEN[0]], counted) == [f"request {TAKEN[0]} is 2 rows"]
    assert problems(TAKEN, counted | {"dropped": 1}) == [
        "0 requests are missing, 0 of them not before a kill; 1 are counted"
    ]
    assert problems(TAKEN[1:], counted) == ["1 requests are missing, 1 of them not before a kill; 0 are counted"]
    assert problems(TAKEN, {}) == [
        f"{len(LEFT_OUT)} requests are left out by sampling, {len(LEFT_OUT)} of them not before a kill; 0 are counted"
    ]
    assert problems([*TAKEN, "999"], counted) == ["row 999 is no request"]
    # the first was submitted at int(TAKEN[0]) / 10 s: killed 50 ms later it may be lost, 150 ms later it may not
    at = int(TAKEN[0]) / 10
    assert problems(TAKEN[1:], counted, (at + 0.05,)) == []
    assert len(problems(TAKEN[1:], counted, (at + 0.15,))) == 1


def alert(name: str, opened: float, closed: float | None) -> StoredAlert:
    return StoredAlert(name, "live/soak", "low", None, opened, closed, {}, None)


def test_a_soak_finds_doubled_alerts_and_messages_that_did_not_come() -> None:
    two = [alert("a", 1.0, 2.0), alert("b", 3.0, None)]
    came = Counter({"a:opened": 2, "a:closed": 1, "b:opened": 1})  # repeated with its key where no answer came
    assert soak_live.alert_problems(two, came) == []
    assert soak_live.alert_problems([*two, alert("c", 1.5, 2.5)], came | Counter({"c:opened": 1, "c:closed": 1})) == [
        "alert c opened before a closed"
    ]
    assert soak_live.alert_problems(two, came - Counter({"b:opened": 1})) == ["message b:opened did not come"]
    assert soak_live.alert_problems(two[:1], came) == ["message b:opened is of no alert in the store"]
