"""What goes wrong at a provider of batches: each request is submitted once, each result used, what failed is named."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from assay import JudgeFailure, evaluate
from assay.errors import Cause
from assay.evaluation.result import Result
from assay.judges.batch.check_code import FIELD
from assay.judges.batch.state import BatchState
from tests._support.servers.batch_server import BatchServer
from tests._support.servers.openai_server import Say, _error
from tests.evaluation.test_llm_evaluation import row
from tests.judges.batch.test_batches import FIRST, SECOND, WRITTEN, judge_at

pytestmark = pytest.mark.long

KINDS = pytest.mark.parametrize("kind", ["openai", "anthropic"])


def scored(server: BatchServer, folder: Path, kind: str = "openai", rows: int = 2, **how: Any) -> Result:
    """A run over some rows with the three metrics; a list that lags is waited for."""
    options = {"list_lag": server.lag + 0.3, **how}
    return evaluate([row(n) for n in range(rows)], WRITTEN, judge_at(server, kind, **options), store=folder)


def whole(result: Result, rows: int = 2) -> bool:
    return {summary.scored for summary in result.metrics.values()} == {rows}


class Trouble:
    """Answers the first so many of one moment with an error."""

    def __init__(self, moment: str, *says: Say) -> None:
        self.moment, self.says = moment, list(says)

    def __call__(self, moment: str, about: str) -> Say | None:
        return self.says.pop(0) if moment == self.moment and self.says else None


@pytest.mark.parametrize("moment", ["upload asked", "upload done", "create made", "look asked", "results asked"])
@pytest.mark.parametrize(
    "say",
    [_error(500, "oops"), _error(503, "busy"), Say(drop=True), Say(body="<html>")],
    ids=["500", "503", "dropped", "html"],
)
def test_trouble_that_passes_costs_no_request_twice(moment, say, tmp_path):
    with BatchServer(lag=0.1, moment=Trouble(moment, say, say)) as server:
        result = scored(server, tmp_path)
        assert set(server.submitted.values()) == {1}
        assert len(server.submitted) == 2 * (FIRST + SECOND)
    assert whole(result)


@KINDS
def test_a_refusal_for_rate_makes_no_batch_and_is_tried_again(kind, tmp_path):
    limited = _error(429, "slow down")
    limited.headers["retry-after"] = "0.02"
    with BatchServer(moment=Trouble("create asked", limited, limited, limited)) as server:
        result = scored(server, tmp_path, kind)
        assert "list asked" not in server.asked  # it was turned away: nothing to look for
        assert set(server.submitted.values()) == {1}
    assert whole(result)


@KINDS
def test_a_batch_whose_making_got_no_reply_is_found_in_a_list_that_lags(kind, tmp_path):
    with BatchServer(lag=0.3, takes=0.1, moment=Trouble("create made", Say(drop=True))) as server:
        result = scored(server, tmp_path, kind)
        assert set(server.submitted.values()) == {1}
        assert server.asked.count("create asked") == 2  # one for each round
        assert server.asked.count("list asked") > 1
    assert whole(result)


@KINDS
def test_a_batch_that_was_never_made_is_made_after_the_lag(kind, tmp_path):
    with BatchServer(lag=0.1, moment=Trouble("create asked", _error(500, "oops"))) as server:
        began = time.monotonic()
        result = scored(server, tmp_path, kind)
        assert time.monotonic() - began >= 0.4  # so long the list may lag: 0.1 and 0.3
        assert set(server.submitted.values()) == {1}
        assert server.asked.count("create asked") == 3
    assert whole(result)


def test_a_server_that_keeps_no_metadata_is_asked_by_the_file(tmp_path):
    with BatchServer(metadata=False, moment=Trouble("create made", Say(drop=True))) as server:
        result = scored(server, tmp_path)
        assert set(server.submitted.values()) == {1}
    assert whole(result)


@KINDS
def test_batches_of_others_are_not_taken_for_ours(kind, tmp_path):
    with BatchServer(takes=0.1) as server:
        scored(server, tmp_path / "others", kind)
        server.moment = Trouble("create made", Say(drop=True))
        result = scored(server, tmp_path / "ours", kind)
        assert len(server.batches) == 4
    assert whole(result)


def unlisted(server: BatchServer, folder: Path) -> str:
    with pytest.raises(JudgeFailure, match="may have been made") as caught:
        scored(server, folder)
    said = str(caught.value)
    (batch,) = BatchState(folder).batches()
    assert batch.state == "creating"
    assert f"`assay store batches adopt {batch.tag} ID`" in said
    assert f"`assay store batches resubmit {batch.tag}`" in said
    assert "6 requests" in said
    with pytest.raises(JudgeFailure, match="may have been made"):  # and so it is said again
        scored(server, folder)
    return batch.tag


def test_where_nothing_is_listed_it_says_that_a_batch_may_exist(tmp_path):
    with BatchServer(lists=False, moment=Trouble("create made", Say(drop=True))) as server:
        unlisted(server, tmp_path)
        state = BatchState(tmp_path)
        state.move(state.batches()[0], "running", id="batch_0")
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}


def test_where_nothing_is_listed_it_may_be_told_to_submit_anew(tmp_path):
    with BatchServer(lists=False, moment=Trouble("create asked", Say(drop=True))) as server:
        unlisted(server, tmp_path)
        state = BatchState(tmp_path)
        state.drop(state.batches()[0], "resubmitted")
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}


@KINDS
@pytest.mark.parametrize("listed", [{"ok": True}, {"data": None}, {"data": 5}], ids=["no data", "null", "a number"])
def test_a_list_that_is_none_does_not_say_that_no_batch_was_made(kind, listed, tmp_path):
    made = Trouble("create made", Say(drop=True))
    with BatchServer(moment=lambda at, about: Say(body=listed) if at == "list asked" else made(at, about)) as server:
        with pytest.raises(JudgeFailure, match="may have been made"):
            scored(server, tmp_path, kind)
        assert set(server.submitted.values()) == {1}
        assert len(server.batches) == 1


@KINDS
def test_what_expired_is_asked_again(kind, tmp_path):
    with BatchServer(expires=lambda n: 0.5 if n == 0 else 0.0) as server:
        result = scored(server, tmp_path, kind)
        # of the 6 of the first round 3 expire; the other rows' second round does not wait for them
        assert sum(count == 2 for count in server.submitted.values()) == 3
        assert sum(server.submitted.values()) == 2 * (FIRST + SECOND) + 3
    assert whole(result)
    assert result.usage.calls == 2 * (FIRST + SECOND)


@KINDS
def test_what_expires_three_times_is_named_and_asked_by_the_next_run(kind, tmp_path):
    with BatchServer(expires=lambda n: 1.0) as server:
        result = evaluate([row(1)], ["faithfulness"], judge_at(server, kind), store=tmp_path, stop_after=None)
        assert set(server.submitted.values()) == {3}
        (failure,) = result.errors
        assert failure.cause == Cause.CONNECTION
        assert "no usable result in 3 batches; the provider last said:" in failure.message
        server.expires = lambda n: 0.0
        assert whole(evaluate([row(1)], ["faithfulness"], judge_at(server, kind), store=tmp_path), 1)


def test_lines_that_fail_for_good_are_the_failure_of_their_own_score(tmp_path):
    def filtered(n: int, line: dict[str, Any]) -> list[str] | None:
        if n != 0:
            return None
        body = {"error": {"message": "The prompt was filtered.", "code": "content_filter"}}
        return [json.dumps({**line, "response": {"status_code": 400, "body": body}})]

    with BatchServer(change=filtered) as server:
        result = scored(server, tmp_path, rows=3)
        assert set(server.submitted.values()) == {1}
    causes = {failure.cause for failure in result.errors}
    assert causes == {Cause.CONTENT_FILTER}
    assert 0 < sum(summary.scored for summary in result.metrics.values()) < 9


def test_results_in_any_order_broken_doubled_and_of_strangers(tmp_path):
    broken = set()  # each once: after three batches without a result it would be given up

    def mangled(n: int, line: dict[str, Any]) -> list[str] | None:
        whole, name = json.dumps(line), line["custom_id"]
        if n % 4 == 1 and name[13:] in broken:
            return [whole]
        broken.update({name[13:]} if n % 4 == 1 else ())
        wrong = json.dumps({**line, "response": {"status_code": 200, "body": {"choices": []}}})
        other = json.dumps({**line, "custom_id": "0" * 12 + name[12:]})
        return [
            [whole, whole],
            [whole[: len(whole) // 2]],  # broken: asked again
            [wrong, whole, "not json", "[]", "null", '{"custom_id": 5}', "[" * 50_000],
            [other, json.dumps({**line, "custom_id": name[:13] + "zz"}), whole],
        ][n % 4]

    with BatchServer(change=mangled) as server:
        result = scored(server, tmp_path, rows=4)
        assert max(server.submitted.values()) > 1  # the broken ones
        assert whole(result, 4)
        assert scored(server, tmp_path, rows=4).usage.calls == 0


def test_a_batch_that_is_refused_as_a_whole_ends_the_run_by_name(tmp_path):
    errors = [{"code": "invalid_request", "line": 2, "message": "the model cannot be used in batches"}]
    with BatchServer(fails=lambda n: errors if n == 0 else None) as server:
        with pytest.raises(JudgeFailure, match=r"refuses the batch .* line 2: the model cannot be used in batches"):
            scored(server, tmp_path)
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}


@KINDS
def test_a_batch_that_was_cancelled_is_not_sent_again_by_itself(kind, tmp_path):
    def cancel(moment: str, about: str) -> Say | None:
        if moment == "create made" and about == "batch_0":
            server.batches[about].status = "cancelled"
        return None

    with BatchServer(moment=cancel, expires=lambda n: 0.5 if n == 0 else 0.0) as server:
        with pytest.raises(JudgeFailure, match=r"was cancelled at .*, with 3 requests unanswered; a rerun sends them"):
            scored(server, tmp_path, kind)
        assert len(server.batches) == 1
        assert whole(scored(server, tmp_path, kind))
        assert sum(server.submitted.values()) == 2 * (FIRST + SECOND) + 3  # what was answered is not asked again


def test_a_status_that_nobody_knows_is_waited_for(tmp_path):
    def paused(moment: str, about: str) -> Say | None:
        if moment == "look asked" and server.asked.count(moment) < 4:
            return Say(body={"id": about, "status": "paused"})
        if moment == "look asked" and server.asked.count(moment) < 6:  # its files are not there yet
            return Say(body={"id": about, "status": "completed", "request_counts": {"total": 6, "completed": 6}})
        return None

    with BatchServer(moment=paused) as server:
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}


def test_what_nobody_wants_any_more_is_not_sent_after_a_crash(tmp_path):
    with BatchServer(moment=Trouble("upload asked", *[_error(500, "away")] * 6)) as server:
        with pytest.raises(JudgeFailure, match="HTTP 500: away"):
            scored(server, tmp_path)
        result = evaluate([row(7)], WRITTEN, judge_at(server), store=tmp_path)
        assert sum(server.submitted.values()) == FIRST + SECOND
    assert whole(result, 1)


def test_a_queue_that_is_full_takes_smaller_batches_later(tmp_path):
    full = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]
    with BatchServer(fails=lambda n: full if n < 2 else None) as server:
        result = scored(server, tmp_path, rows=4)
        sizes = [len(batch.requests) for batch in server.batches.values()]
        assert sizes[0] == 12
        assert max(sizes[1:]) == 6  # half as many at a time, of which the first is refused as well
        assert set(server.submitted.values()) == {1}
    assert whole(result, 4)


def test_a_key_that_is_refused_while_batches_run_ends_the_run_and_the_next_goes_on(tmp_path):
    with BatchServer(moment=Trouble("look asked", _error(401, "who are you"))) as server:
        with pytest.raises(JudgeFailure, match="refuses the key"):
            scored(server, tmp_path)
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}


def test_a_provider_that_is_away_ends_the_run_and_the_next_goes_on(tmp_path):
    with BatchServer(moment=Trouble("upload asked", *[_error(500, "away")] * 6)) as server:
        with pytest.raises(JudgeFailure, match="HTTP 500: away"):
            scored(server, tmp_path)
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}


def test_replies_that_are_no_use_are_not_kept_for_the_next_run(tmp_path):
    bad = {"id": "c", "choices": [{"message": {"content": "I would rather not."}, "finish_reason": "stop"}]}

    def spoilt(n: int, line: dict[str, Any]) -> list[str] | None:
        return [json.dumps({**line, "response": {"status_code": 200, "body": bad}})]

    with BatchServer(change=spoilt) as server:
        with pytest.raises(JudgeFailure, match="no usable reply of the judge for 2 rows"):
            evaluate([row(1), row(2)], ["faithfulness"], judge_at(server), store=tmp_path, stop_after=2)
        server.change = None
        assert whole(evaluate([row(1), row(2)], ["faithfulness"], judge_at(server), store=tmp_path))


def values(result: Result) -> list[float | None]:
    return [score.value for row in result for score in row.scores.values()]


@KINDS
def test_replies_under_each_other_s_names_go_to_their_own_requests(kind, tmp_path):
    """Neighbours of a file of results are exchanged: the code in each says whose it is, and nothing is asked again."""
    before: list[dict[str, Any]] = []

    def exchanged(n: int, line: dict[str, Any]) -> list[str]:
        if n % 2 == 0:
            before[:] = [line]
            return []
        (other,) = before
        return [
            json.dumps({**line, "custom_id": other["custom_id"]}),
            json.dumps({**other, "custom_id": line["custom_id"]}),
        ]

    with BatchServer() as server:
        right = values(scored(server, tmp_path / "right", kind))
    with BatchServer(change=exchanged) as server:
        found = values(scored(server, tmp_path / "exchanged", kind))
        assert set(server.submitted.values()) == {1}
    assert found == right
    assert len(set(right)) > 1  # else an exchange would not be seen


def test_a_reply_with_the_code_of_no_request_is_asked_again(tmp_path):
    strange: set[str] = set()

    def changed(n: int, line: dict[str, Any]) -> list[str] | None:
        name = line["custom_id"][13:]
        if n or name in strange:
            return None
        strange.add(name)
        whole = json.dumps(line)
        code = re.search(rf'{FIELD}\\": \\"(\w{{6}})', whole)
        assert code is not None
        return [whole.replace(code[1], "000000")]

    with BatchServer(change=changed) as server:
        result = scored(server, tmp_path)
        assert sorted(server.submitted.values())[-1] == 2
    assert whole(result)
    assert strange


@pytest.mark.parametrize("how", ["fenced", "left out", "null", "last"])
def test_replies_that_give_the_code_otherwise_are_scored(how, tmp_path):
    def changed(n: int, line: dict[str, Any]) -> list[str]:
        message = line["response"]["body"]["choices"][0]["message"]
        said = json.loads(message["content"])
        code = said.pop(FIELD)
        whole_text = {"null": {FIELD: None, **said}, "last": {**said, FIELD: code}}.get(how, said)
        message["content"] = json.dumps(whole_text)
        if how == "fenced":
            message["content"] = f"```json\n{json.dumps({FIELD: code, **said})}\n```"
        return [json.dumps(line)]

    with BatchServer(change=changed) as server:
        assert whole(scored(server, tmp_path))
        assert set(server.submitted.values()) == {1}
