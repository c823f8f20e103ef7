"""`assay live watch` and the alerts of `assay live worker`, as processes with real stores and a real receiver."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from assay.records import Context, Sample, Score, ScoredSample
from assay.store.alerts import AlertStore
from assay.store.store import Store
from tests._support.servers.alert_receiver import AlertReceiver, until

pytestmark = pytest.mark.long

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}


def scored(n: int, value: float | None, **metadata: Any) -> ScoredSample:
    sample = Sample(question="q", answer="a", contexts=(Context(text="c"),), id=f"id-{n}", metadata=metadata)
    score = Score(metric="faithfulness", value=value) if value is not None else None
    return ScoredSample(sample=sample, scores={"faithfulness": score} if score else {})


def project(folder: Path, values: list[float], rules: str) -> Path:
    with Store(folder / ".assay") as store:
        store.create_run("shop", {"judge": "", "metrics": ["faithfulness"]})
        rows = [(n, scored(n, value, version="1.4" if n % 2 else "1.5")) for n, value in enumerate(values, 1)]
        store.put_rows("shop", rows)
    (folder / "assay.toml").write_text(rules, encoding="utf-8")
    return folder


def rule(name: str = "low", run: str = "shop", **given: Any) -> str:
    said = {"name": name, "run": run, "metric": "faithfulness", "below": 0.8} | given
    return "[[alerts]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


def assay(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**ENVIRONMENT, "COLUMNS": "200", "XDG_CONFIG_HOME": str(folder / "home"), **environment}, check=False,
    )  # fmt: skip


def test_once_says_what_is_open_and_exits_with_5(tmp_path: Path) -> None:
    project(tmp_path, [0.1] * 60, rule(slices=["version"]))
    done = assay(tmp_path, "live", "watch", "--once")
    assert done.returncode == 5, done.stderr
    assert "opened  low (version=1.4): faithfulness 0.100 (95% CI" in done.stdout
    assert "opened  low (version=1.5)" in done.stdout
    assert "alert opened: low (version=1.4), run shop" in done.stderr  # the log
    again = assay(tmp_path, "live", "watch", "--once", "--json")
    assert again.returncode == 5
    found = json.loads(again.stdout)
    assert [(one["open"], one["event"], one["slice"]["value"]) for one in found["rules"]] == [
        (True, None, "1.4"), (True, None, "1.5")]  # fmt: skip


def test_once_exits_with_0_where_all_is_well_and_with_1_where_a_rule_cannot_be_checked(tmp_path: Path) -> None:
    project(tmp_path, [0.9] * 60, rule())
    done = assay(tmp_path, "live", "watch", "--once")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "ok      low"), done.stderr
    (tmp_path / "assay.toml").write_text(rule() + rule("other", run="shopp") + rule("third", metric="faithfulnes"))
    done = assay(tmp_path, "live", "watch", "--once")
    assert done.returncode == 1
    assert "ok      low" in done.stdout
    assert "assay.toml: [[alerts]] run line 8: 'shopp' is not in the store" in done.stderr
    assert "assay.toml: [[alerts]] metric line 14: run 'shop' has no metric 'faithfulnes'; it has faithfulness" in (
        done.stderr
    )


def test_without_rules_or_a_store_nothing_is_made(tmp_path: Path) -> None:
    done = assay(tmp_path, "live", "watch", "--once")
    assert (done.returncode, "no alert rules" in done.stderr) == (2, True)
    (tmp_path / "assay.toml").write_text(rule())
    done = assay(tmp_path, "live", "watch", "--once")
    assert (done.returncode, "store: there is none" in done.stderr) == (2, True)
    assert not (tmp_path / ".assay").exists()


def test_a_file_that_was_found_sends_nothing_before_it_is_trusted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with AlertReceiver() as receiver:
        project(tmp_path, [0.1] * 60, rule(to=[f"webhook:{receiver.url}"]))
        for command in (["live", "watch", "--once"], ["live", "worker", "queue", "--until-empty"]):
            _queue(tmp_path / "queue", 1)
            done = assay(tmp_path, *command)
            assert done.returncode == 2
            assert f"alerts are not sent to http://127.0.0.1:{receiver.port}: you did not name this" in done.stderr
        assert receiver.messages == []
        assert assay(tmp_path, "judge", "trust", "--yes").returncode == 0
        assert assay(tmp_path, "live", "watch", "--once").returncode == 5
        (message,) = receiver.messages
    assert message.json()["worst"][0]["command"] == "assay show shop row:60"
    shown = assay(tmp_path, "show", "shop", "row:60")
    assert shown.returncode == 0
    assert "id-60" in shown.stdout


def test_a_worker_scores_keeps_a_live_run_and_alerts(tmp_path: Path) -> None:
    _queue(tmp_path / "queue", 40)
    with AlertReceiver() as receiver:
        text = rule(metric="faithfulness", above=0.5, to=[f"webhook:{receiver.url}"]).replace("below = 0.8\n", "")
        (tmp_path / "assay.toml").write_text(text)
        options = ("--config", "assay.toml", "--metrics", "faithfulness", "--until-empty")
        done = assay(tmp_path, "live", "worker", "queue", *options, ASSAY_APPLICATION="shop")
        assert done.returncode == 0, done.stderr
        (message,) = receiver.messages
    data = message.json()
    assert (data["event"], data["run"], data["scored"]) == ("opened", "live/shop", 40)
    assert assay(tmp_path, *data["worst"][0]["command"].split()[1:]).returncode == 0


def _queue(path: Path, count: int) -> None:
    from assay.live import SampleQueue

    queue = SampleQueue(path)
    for n in range(count):
        queue.submit(
            Sample(
                question="q",
                answer="Paris lies on the Seine.",
                contexts=(Context(text="Paris lies on the Seine."),),
                id=f"{n}",
            )
        )
    assert queue.flush(20)
    queue.close()


class Watcher:
    """A watcher that runs until the end of the block, where it gets SIGTERM."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "assay", "live", "watch", "--config", "assay.toml", "--interval", "1s", *options],
            cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

        self.lines: list[str] = []

    def __enter__(self) -> Watcher:
        assert self.process.stderr is not None
        for line in iter(self.process.stderr.readline, ""):
            self.lines.append(line)
            if "checked every" in line:
                return self
        raise AssertionError("".join(self.lines))

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(30) in (0, -signal.SIGKILL)
        finally:
            self.process.kill()
            self.process.communicate()


def test_watchers_that_are_killed_and_started_again_tell_each_event_once(tmp_path: Path) -> None:
    with AlertReceiver() as receiver:
        project(tmp_path, [0.1] * 60, rule(to=[f"webhook:{receiver.url}"], window="1h"))
        with Watcher(tmp_path), Watcher(tmp_path):
            receiver.wait_for(1)
        with Store(tmp_path / ".assay") as store:
            store.put_rows("shop", [(n, scored(n, 1.0)) for n in range(61, 400)])
        with Watcher(tmp_path) as one, Watcher(tmp_path):
            receiver.wait_for(2)
            one.process.kill()
        with Watcher(tmp_path):
            time.sleep(3)  # what must not happen has no event
        opened, closed = receiver.messages
    assert [message.json()["event"] for message in (opened, closed)] == ["opened", "closed"]
    with Store(tmp_path / ".assay") as store:
        (alert,) = AlertStore(store).alerts()
        assert alert.closed is not None


def test_the_prometheus_endpoint_shows_the_state(tmp_path: Path) -> None:
    project(tmp_path, [0.1] * 60, rule(to=["prometheus"]))
    with Watcher(tmp_path, "--prometheus", "0") as watcher:
        found = re.search(r"metrics at (http://127\.0\.0\.1:\d+/metrics)", "".join(watcher.lines))
        assert found is not None
        address = found[1]

        def text() -> str:
            return str(urllib.request.urlopen(address, timeout=10).read().decode())

        series = 'assay_alert_open{rule="low",run="shop",metric="faithfulness",column="",value=""} 1.0'
        until(lambda: series in text())


@pytest.mark.parametrize("given", ["x", "70000", "-1", "localhost:"])
def test_a_port_that_is_none_is_an_error(tmp_path: Path, given: str) -> None:
    project(tmp_path, [0.1], rule(to=["prometheus"]))
    done = assay(tmp_path, "live", "watch", f"--prometheus={given}")
    assert (done.returncode, "--prometheus: expected [HOST:]PORT" in done.stderr) == (2, True)


def test_a_hundred_slices_are_checked_and_the_rest_is_said(tmp_path: Path) -> None:
    with Store(tmp_path / ".assay") as store:
        store.create_run("shop", {"judge": "", "metrics": ["faithfulness"]})
        store.put_rows("shop", [(n, scored(n, 0.1, user=f"user {n % 200}\x1b")) for n in range(1, 6001)])
    (tmp_path / "assay.toml").write_text(rule(slices=["user"]))
    done = assay(tmp_path, "live", "watch", "--once")
    assert done.returncode == 5
    assert "column 'user' has 200 values; the 100 largest are checked" in done.stderr
    assert len(done.stdout.splitlines()) == 100
    assert "\x1b" not in done.stdout + done.stderr
