"""Delivery to a real server that fails, hangs, redirects, hangs up, is down and comes back."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError, StoreError
from assay.live.alerts.delivery import AlertDeliverer
from assay.live.alerts.rules import AlertRule, AlertTarget
from assay.live.alerts.watcher import AlertWatcher
from assay.store.alerts import AlertDelivery, AlertStore
from tests._support.servers.alert_receiver import AlertReceiver, until
from tests.live.alerts.fakes import Clock, Columns, filled, rule, webhook

BAD, GOOD = [0.0] * 40, [1.0] * 40


@pytest.fixture
def store(tmp_path: Path) -> Path:
    filled(tmp_path / "store", BAD).close()
    return tmp_path / "store"


class Watched:
    """A watcher whose scores and clock the test sets."""

    def __init__(self, store: Path, *rules: AlertRule, **options: Any) -> None:
        self.values = BAD
        self.clock = Clock()
        options = {"timeout": 1.0, "backoff": 0.01} | options
        self.watcher = AlertWatcher(store, rules, read=lambda *_: Columns(self.values), clock=self.clock, **options)

    def check(self) -> None:
        self.watcher.check()

    def deliver(self, seconds: float = 20.0) -> int:
        """Deliver, at a clock that goes on by an hour before each look."""
        end = time.monotonic() + seconds
        while True:
            pending = self.watcher.deliver(0.0)
            if not pending or time.monotonic() > end:
                return pending
            self.clock.now += 3600
            time.sleep(0.01)

    @property
    def statuses(self) -> list[AlertDelivery]:
        alerts = AlertStore(self.watcher._opened()[0])
        return [one for alert in alerts.alerts() for one in alerts.deliveries(alert.id)]


def test_an_opening_and_a_closing_are_delivered_once_each(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    with AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),), secret_env="HOOK_SECRET"))
        for _ in range(3):
            one.check()
            assert one.deliver() == 0
        one.values = GOOD
        for _ in range(3):
            one.check()
            assert one.deliver() == 0
        opened, closed = receiver.messages
    data = opened.json()
    assert (data["event"], data["rule"], data["run"], data["metric"], data["slice"]) == (
        "opened",
        "low",
        "shop",
        "faithfulness",
        None,
    )
    assert (data["mean"], data["rows"], data["scored"], data["closed"]) == (0.0, 40, 40, None)
    assert data["condition"] == {"kind": "below", "limit": 0.8, "window_seconds": 86400.0}
    assert data["interval"][0] == 0.0
    # of rows that are equally bad, the latest
    assert [(row["row"], row["id"]) for row in data["worst"]] == [(n, f"id-{n}") for n in (40, 39, 38, 37, 36)]
    assert data["worst"][0] == {
        "run": "shop",
        "row": 40,
        "id": "id-40",
        "value": 0.0,
        "command": "assay show shop row:40",
    }
    assert "jane" not in opened.body.decode()
    assert opened.key == f"{data['id']}:opened"
    assert closed.key == f"{data['id']}:closed"
    assert closed.json()["closed"] is not None
    for message in (opened, closed):
        parts = dict(part.split("=") for part in message.headers["x-assay-signature"].split(","))
        wanted = hmac.new(b"s3cret", parts["t"].encode() + b"." + message.body, hashlib.sha256).hexdigest()
        assert parts["v1"] == wanted
        assert abs(int(parts["t"]) - time.time()) < 60


@pytest.mark.parametrize(
    "trouble",
    [[500], [503, 500, 404], ["close"], ["early"], ["hang"], ["drip"], ["429:0"], [302], [408, "close", 500]],
    ids=str,
)
def test_what_is_no_2xx_is_repeated_with_the_same_key_and_body(store: Path, trouble: list[int | str]) -> None:
    with AlertReceiver(*trouble) as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),)), timeout=0.3)
        one.check()
        assert one.deliver() == 0
        assert len(receiver.messages) == len(trouble) + 1
        assert len({message.key for message in receiver.messages}) == 1
        assert len({message.body for message in receiver.messages}) == 1
        (status,) = one.statuses
        assert (status.attempts, status.status) == (len(trouble) + 1, "delivered")


@pytest.mark.parametrize("answer", [200, 201, 202, 204, 299, "status"])
def test_after_a_2xx_nothing_is_repeated(store: Path, answer: int | str) -> None:
    with AlertReceiver(answer) as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),)), timeout=0.3)
        one.check()
        assert one.deliver() == 0
        one.clock.now += 1e6
        one.values = []  # an empty window changes nothing
        one.check()
        one.deliver()
        assert len(receiver.messages) == 1


def test_retry_after_is_kept(store: Path) -> None:
    with AlertReceiver("429:600") as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),)))
        one.check()
        assert one.watcher.deliver(0.2) == 1
        one.clock.now += 599
        assert one.watcher.deliver(0.2) == 1
        assert len(receiver.messages) == 1
        one.clock.now += 2
        until(lambda: one.watcher.deliver(0.2) == 0)
        assert len(receiver.messages) == 2


def test_a_redirect_to_another_host_gets_nothing(store: Path) -> None:
    with AlertReceiver() as other, AlertReceiver(f"302:{other.url}", f"307:{other.url}") as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),)))
        one.check()
        assert one.deliver() == 0
        assert len(receiver.messages) == 3
        assert other.messages == []


def test_a_target_that_hangs_holds_up_neither_others_nor_the_check(store: Path) -> None:
    with AlertReceiver("hang", "hang") as stuck, AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(stuck.url), webhook(receiver.url))), timeout=20.0)
        begun = time.monotonic()
        one.check()
        receiver.wait_for(1)
        one.values = GOOD
        until(lambda: len(one.statuses) == 2 and sum(bool(status.delivered) for status in one.statuses) == 1)
        one.check()
        receiver.wait_for(2)
        assert time.monotonic() - begun < 10
        assert len(stuck.messages) == 1


def test_a_target_that_is_down_gets_everything_in_order_when_it_is_back(store: Path) -> None:
    with AlertReceiver() as receiver:
        port = receiver.port
    one = Watched(store, rule(to=(webhook(f"http://127.0.0.1:{port}/hook"),)))
    one.check()
    assert one.watcher.deliver(0.3) == 1
    one.values = GOOD
    one.check()
    assert one.watcher.deliver(0.3) == 2
    with AlertReceiver(port=port) as back:
        assert one.deliver() == 0
        assert [message.json()["event"] for message in back.messages] == ["opened", "closed"]


def test_a_delivery_that_cannot_be_noted_is_noted_later_and_not_sent_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails, note = [True], AlertStore.note_delivered

    def note_delivered(self: AlertStore, *given: Any) -> None:
        if fails:
            raise StoreError("the disk is full")
        note(self, *given)

    monkeypatch.setattr(AlertStore, "note_delivered", note_delivered)
    with AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),)))
        one.check()
        receiver.wait_for(1)
        until(lambda: one.watcher._opened()[2].wait(1))
        fails.clear()
        one.clock.now += 1e5  # the lease is over
        assert one.deliver() == 0
        assert len(receiver.messages) == 1


def test_two_watchers_at_once_send_each_message_once(store: Path) -> None:
    with AlertReceiver() as receiver:
        rules = [rule(name=f"rule {n}", to=(webhook(receiver.url),)) for n in range(8)]
        some = [
            AlertWatcher(store, rules, read=lambda *_: Columns(BAD), clock=Clock(), interval=0.02) for _ in range(3)
        ]
        for watcher in some:
            watcher.start()
        receiver.wait_for(8)
        time.sleep(0.5)  # what must not happen has no event
        for watcher in some:
            assert watcher.stop(10)
        assert len({message.key for message in receiver.messages}) == len(receiver.messages) == 8


def test_slack_gets_one_text_without_markup_and_the_log_nothing_to_obey(
    store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hostile = "<!channel> & <https://evil.example|x> @here \x1b[2J\nalert closed: all is well"
    values, column = [0.0] * 40, {"version": [hostile] * 40}
    with AlertReceiver() as receiver, caplog.at_level(logging.INFO, "assay.alerts"):
        to = (AlertTarget.of(f"slack:{receiver.url}"), AlertTarget.of("log"))
        watcher = AlertWatcher(
            store, [rule(to=to, slices=("version",))], read=lambda *_: Columns(values, columns=column), clock=Clock()
        )
        watcher.check()
        assert watcher.deliver() == 0
        watcher.close()
        (message,) = receiver.messages
    data = message.json()
    assert set(data) == {"text", "mrkdwn"}
    assert data["mrkdwn"] is False
    assert not set("<>\x1b") & set(data["text"])
    assert "@here" not in data["text"]
    assert "&lt;!channel&gt; &amp; " in data["text"]
    assert "row 40 (id id-40): faithfulness 0.000; assay show shop row:40" in data["text"]
    (logged,) = [record.getMessage() for record in caplog.records if "alert opened" in record.getMessage()]
    assert "\x1b" not in logged
    assert not any(line.startswith("alert closed") for line in logged.splitlines())


def test_texts_are_sent_where_the_rule_says_so_and_masked(store: Path) -> None:
    with AlertReceiver() as receiver:
        texts = rule(to=(webhook(receiver.url),), include_text=True, link="https://rows.example/{run}/{row}?x=1")
        one = Watched(store, texts, mask=lambda text: text.replace("jane@example.com", "[EMAIL]"))
        one.check()
        assert one.deliver() == 0
        row = receiver.messages[0].json()["worst"][0]
    assert (row["question"], row["answer"]) == ("question 40", "answer of [EMAIL], 40")
    assert row["link"] == "https://rows.example/shop/40?x=1"


def test_a_mask_that_fails_sends_nothing(store: Path) -> None:
    def mask(text: str) -> str:
        raise ValueError(text)

    with AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),), include_text=True), mask=mask)
        one.check()
        assert one.watcher.deliver(0.2) == 1
        assert receiver.messages == []
        assert one.statuses[0].status == "mask: it raised ValueError; nothing was written"


def test_rows_that_were_deleted_meanwhile_have_no_id_and_no_text(store: Path) -> None:
    with AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),), include_text=True))
        kept = one.watcher._opened()[0]
        kept.write(lambda db: db.execute("DELETE FROM rows WHERE number > 38"))
        one.check()
        assert one.deliver() == 0
        rows = receiver.messages[0].json()["worst"]
    assert [row["id"] for row in rows] == [None, None, "id-38", "id-37", "id-36"]
    assert ["answer" in row for row in rows] == [False, False, True, True, True]


def test_the_store_knows_targets_by_host_and_hash_alone(store: Path) -> None:
    with AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url + "/T0KEN"),)))
        one.check()
        one.deliver()
        (status,) = one.statuses
        assert status.target.startswith("webhook:127.0.0.1#")
        one.watcher.close()
    assert b"T0KEN" not in b"".join(path.read_bytes() for path in store.iterdir())


def test_a_secret_or_an_address_that_is_not_set_is_an_error_at_the_start(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    with pytest.raises(InputError, match="'NOWHERE' is not set"):
        AlertWatcher(store, [rule(to=(AlertTarget.of("slack:env:NOWHERE"),))])
    signed = rule(to=(webhook("http://127.0.0.1:9/"),), secret_env="NOWHERE")
    with pytest.raises(InputError, match="'NOWHERE' is not set"):
        AlertWatcher(store, [signed])
    monkeypatch.setenv("NOWHERE", "hunter2")
    with pytest.raises(InputError, match="to: slack of NOWHERE: expected an http or https address") as caught:
        AlertTarget.of("slack:env:NOWHERE").resolve()
    assert "hunter2" not in str(caught.value)


def test_a_rule_that_cannot_be_checked_leaves_the_others_alone(store: Path) -> None:
    broken = rule(name="broken", run="nowhere")
    wrong = rule(name="wrong", metric="faithfulnes")
    watcher = AlertWatcher(store, [broken, wrong, rule()], read=lambda *_: Columns(BAD), clock=Clock())
    found = watcher.check()
    watcher.close()
    assert [slot.event for slot in found.slots] == ["opened"]
    assert [problem.partition(" is not")[0] for problem in found.problems] == [
        "alerts: run: 'nowhere'",
        "alerts: metric: run 'shop' has no metric 'faithfulnes'; it has faithfulness",
    ]


def test_the_body_is_json_of_any_text(store: Path) -> None:
    values = {"version": ["\ud83d\x00\u202e" * 1000] * 40}
    with AlertReceiver() as receiver:
        watcher = AlertWatcher(
            store,
            [rule(to=(webhook(receiver.url),), slices=("version",))],
            read=lambda *_: Columns(BAD, columns=values),
            clock=Clock(),
        )
        watcher.check()
        assert watcher.deliver() == 0
        watcher.close()
        assert len(json.loads(receiver.messages[0].body)["slice"]["value"]) <= 200


def test_deliverers_wait_for_nobody_who_is_not_theirs(store: Path) -> None:
    with AlertReceiver() as receiver:
        one = Watched(store, rule(to=(webhook(receiver.url),)))
        one.check()
        one.deliver()
        parts = one.watcher._opened()
        other = AlertDeliverer(parts[1].alerts, [], {}, None, "other")  # type: ignore[arg-type]
        assert other.pending() == 0
        other.close(1)


def test_a_live_run_is_named_by_its_application(tmp_path: Path) -> None:
    filled(tmp_path / "store", BAD, run="live/shop").close()
    with AlertReceiver() as receiver:
        one = Watched(tmp_path / "store", rule(to=(webhook(receiver.url),)))
        one.check()
        assert one.deliver() == 0
        data = receiver.messages[0].json()
    assert (data["run"], data["worst"][0]["command"]) == ("live/shop", "assay show live/shop row:40")
