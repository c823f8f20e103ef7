"""What the pages of `assay view` show, over a real server."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from assay import Store
from assay.evaluation.result import Result
from assay.records import Claim, Context, Sample, Score, ScoredSample, Span, Verdict
from tests.report.conftest import HOSTILE, WRONG
from tests.view.conftest import ROWS, Client, Reply, fill, serving

NOW = f"now {HOSTILE}"
#: Addresses of every page and download.
EVERY = [
    ("/", ()),
    ("/rows", (("run", NOW),)),
    ("/row", (("run", NOW), ("row", f"row:{ROWS}"))),
    ("/compare", (("run", "before"), ("run", NOW))),
    ("/compare", (("run", "before"), ("run", NOW), ("moved", "all"), ("before", "0.0,61"))),
    ("/failures", (("run", NOW),)),
    ("/trend", (("run", NOW),)),
    ("/rows", (("run", HOSTILE),)),
    ("/rows", (("run", NOW), ("where", f"topic={HOSTILE}"))),
    ("/rows", (("run", NOW), ("label", HOSTILE))),
    (f"/{'%3Cscript%3E'}", ()),
]


def hrefs(page: Reply) -> list[str]:
    return [unescape(one) for one in re.findall(r'href="([^"]*)"', page.text)]


def link(page: Reply, rel: str) -> str | None:
    found = re.search(rf'<a rel="{rel}" href="([^"]*)"', page.text)
    return None if found is None else unescape(found[1])


def numbers(page: Reply) -> list[int]:
    """The numbers of the rows that a page lists."""
    return [int(number) for number in re.findall(r'<a class="row-link" href="[^"]*row=row%3A(\d+)"', page.text)]


def test_runs_are_listed_with_means_and_found_by_words(client: Client):
    page = client.get("/")
    assert page.status == 200
    assert re.findall(r'row-link" href="/rows\?run=([^"&]*)["&]', page.text)[:1] == ["live%2Fshop"]
    assert "3 of 3 runs" in page.text
    assert 'class="sparkline"' in page.text
    assert "1 of 3 runs" in client.get("/", ("q", "BEFORE")).text
    assert "1 of 3 runs" in client.get("/", ("kind", "live")).text
    assert "No run has these words" in client.get("/", ("q", "nowhere")).text
    first = client.get("/", ("sort", "faithfulness"))  # the worst mean first: not the run without a wrong row
    assert first.text.index("live%2Fshop") < first.text.index("run=before")
    assert client.get("/", ("sort", "nothing")).status == 400


def test_rows_are_paged_by_key_there_and_back(client: Client):
    first = client.get("/rows", ("run", "before"))
    assert numbers(first) == list(range(1, 51))
    assert link(first, "prev") is None
    second = client.get(link(first, "next") or "")
    assert numbers(second) == list(range(51, ROWS + 1))
    assert link(second, "next") is None
    assert numbers(client.get(link(second, "prev") or "")) == numbers(first)


def test_rows_are_filtered_by_threshold_slice_and_id_and_sorted(client: Client):
    run = ("run", NOW)
    # eight rows have one supported claim of two: faithfulness 1/2
    low = client.get("/rows", run, ("metric", "faithfulness"), ("below", "0.75"))
    assert numbers(low) == list(range(1, WRONG + 1))
    assert numbers(client.get("/rows", run, ("metric", "faithfulness"), ("order", "worst")))[:9] == [*range(1, 10)]
    assert numbers(client.get("/rows", run, ("metric", "faithfulness"), ("order", "best")))[:2] == [9, 10]
    odd = client.get("/rows", run, ("metric", "faithfulness"), ("below", "0.75"), ("key", "topic"), ("value", "odd"))
    assert numbers(odd) == [2, 4, 6, 8]
    assert numbers(client.get("/rows", run, ("where", f"topic={HOSTILE}"))) == [ROWS]
    assert numbers(client.get("/rows", run, ("id", "q17"))) == [18]
    assert numbers(client.get("/rows", run, ("id", HOSTILE))) == [ROWS]
    assert "No row fits" in client.get("/rows", run, ("where", "nothing=1")).text


def test_a_row_shows_evidence_and_leads_to_its_neighbours_in_the_list(client: Client):
    state = (("run", NOW), ("metric", "faithfulness"), ("below", "0.75"), ("where", "topic=odd"))
    page = client.get("/row", *state, ("row", "row:4"))
    assert page.status == 200
    assert re.findall(r'<mark class="(\w+)"><span class="hidden">[^<]*</span>([^<]*)<', page.text)[:2] == [
        ("supported", "Thing 3 is red."),
        ("not_mentioned", "It is made of cheese."),
    ]
    assert "1 supported / 2 claims = 0.500" in page.text
    assert dict(parse_qsl(urlsplit(link(page, "next") or "").query))["row"] == "row:6"
    assert dict(parse_qsl(urlsplit(link(page, "prev") or "").query))["row"] == "row:2"
    history = page.text[page.text.index('id="past"') :]
    assert "before" in history
    assert "1.000" in history  # the baseline's value of this id
    assert json.loads(client.get("/row.json", ("run", NOW), ("row", "row:4")).text)["sample"]["id"] == "q3"


def test_runs_are_compared_and_the_rows_that_became_worse_come_first(client: Client):
    page = client.get("/compare", ("run", NOW), ("run", "before"))
    assert "baseline <a" in page.text
    assert re.search(r"baseline <a [^>]*><bdi>before<", page.text)  # it started first, whatever the order
    assert 'class="word worse"' in page.text
    assert f"{WRONG} rows that became worse" in page.text
    assert page.text.count('class="flips"') == WRONG
    assert "-0.500" in page.text
    other = client.get("/compare", ("run", NOW), ("run", "before"), ("baseline", NOW))
    assert "0 rows that became worse" in other.text
    assert f"{WRONG} better" in other.text
    three = client.get("/compare", ("run", NOW), ("run", "before"), ("run", "live/shop"))
    assert "3 runs compared" in three.text
    assert client.get("/compare", ("run", "before")).status == 400


def test_windows_are_opened_and_compared_as_independent_samples(client: Client):
    page = client.get("/rows", ("run", "shop@7d"))
    assert page.status == 200
    assert f"{ROWS} rows" in page.text
    assert "independent samples" in client.get("/compare", ("run", "shop@7d"), ("run", "before")).text
    trend = client.get("/trend", ("run", "live/shop"))
    assert 'class="trend"' in trend.text
    assert client.get("/trend", ("run", "live/shop"), ("per", "eon")).status == 400


def test_failures_lead_to_their_rows(client: Client):
    page = client.get("/failures", ("run", NOW))
    assert f"{WRONG} failed rows of {ROWS} rows" in page.text
    found = [one for one in hrefs(page) if "label=" in one]
    assert found
    assert sorted(number for one in found for number in numbers(client.get(one))) == list(range(1, WRONG + 1))


def test_downloads_have_the_rows_of_the_page(client: Client):
    state = (("run", NOW), ("metric", "faithfulness"), ("below", "0.75"))
    reply = client.get("/rows.csv", *state)
    assert reply.headers["content-disposition"].startswith("attachment;")
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert [one["id"] for one in rows] == [f"q{n}" for n in range(WRONG)]
    assert {one["faithfulness"] for one in rows} == {"0.5"}
    cases = [json.loads(line) for line in client.get("/cases.jsonl", *state).text.splitlines()]
    assert [one["from_row"] for one in cases] == [f"q{n}" for n in range(WRONG)]
    assert {one["reference"] for one in cases} == {""}
    whole = client.get("/rows.csv", ("run", NOW))
    assert len(list(csv.DictReader(io.StringIO(whole.text)))) == ROWS


@pytest.mark.long
def test_the_report_file_is_a_download(client: Client):
    pytest.importorskip("vl_convert")
    reply = client.get("/report.html", ("run", "before"))
    assert reply.status == 200
    assert reply.headers["content-disposition"].startswith("attachment;")
    assert "assay report" in reply.text


@pytest.mark.parametrize(("path", "pairs"), EVERY)
def test_hostile_texts_are_never_markup(client: Client, path: str, pairs: tuple[tuple[str, str], ...]):
    page = client.get(path, *pairs)
    assert page.status in (200, 400, 404)
    # scripts and elements are those of the templates: none comes from a text
    assert re.findall(r"<script[^>]*>", page.text) == [
        f'<script src="{next(iter(re.findall(r"/static/keys-[0-9a-f]+.js", page.text)))}" defer>'
    ]
    assert "<img" not in page.text
    assert "onerror=&#34;" in page.text or "onerror=" not in page.text
    assert not re.search(r"[\u202e\u202c\x1b]", page.text)
    assert len(page.text.encode()) < 300_000
    for one in hrefs(page):
        assert one.startswith(("/", "#", "data:,")), "no link of a text's own"
        assert not one.startswith("//")


@pytest.mark.parametrize(
    ("path", "pairs", "said"),
    [
        ("/rows", (), "run: expected a value"),
        ("/rows", (("run", "a"), ("run", "b")), "expected one value"),
        ("/rows", (("run", "nope"),), "is not in the store"),
        ("/rows", (("run", "before"), ("metric", "nope")), "metric:"),
        ("/rows", (("run", "before"), ("below", "1")), "need a metric"),
        ("/rows", (("run", "before"), ("metric", "faithfulness"), ("below", "nan")), "expected a number"),
        ("/rows", (("run", "before"), ("after", "1")), "VALUE,NUMBER"),
        ("/rows", (("run", "before"), ("after", "nan,3")), "VALUE,NUMBER"),
        ("/rows", (("run", "before"), ("after", "1," + "9" * 400)), "VALUE,NUMBER"),
        ("/rows", (("run", "before"), ("order", "x")), "order:"),
        ("/rows", (("run", "before"), ("where", "x")), "KEY=VALUE"),
        ("/rows", (("run", "live/shop@9999999999d"),), ""),
        ("/rows", (("run", "x" * 3000),), "characters"),
        ("/rows", (("run", "/etc/passwd"),), "is not in the store"),
        ("/rows", (("run", "ragas:/etc/passwd"),), "is not in the store"),
        ("/row", (("run", "before"), ("row", "9" * 50)), "is not in run"),
        ("/row", (("run", "before"), ("row", "-1")), "is not in run"),
        ("/compare", (("run", "before"), ("run", NOW), ("metric", "x")), "metric:"),
        ("/compare", (("run", "before"), ("run", NOW), ("moved", "x")), "moved:"),
        ("/rows.csv", (("run", "nope"),), "is not in the store"),
    ],
)
def test_nonsense_is_an_error_that_names_it(client: Client, path: str, pairs: tuple[tuple[str, str], ...], said: str):
    page = client.get(path, *pairs)
    assert page.status == 400
    assert said in unescape(page.text)


def test_a_run_that_is_being_written_is_shown_as_such_and_grows(filled: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("assay.view.open_store._SECONDS", 0.0)
    monkeypatch.setattr("assay.view.open_store._PATIENCE", 0.0)
    folder = shutil.copytree(filled, tmp_path / "store")
    rows = list(enumerate(Result.load("before", folder), 1))
    with Store(folder) as store, serving(folder) as client:
        info = {"judge": "scripted", "metrics": ["faithfulness"], "expected": 9, "stopped": "not finished"}
        started = store.create_run("growing", info)
        store.put_rows("growing", [(n, one, None) for n, one in rows[:3]], started=started)
        assert "not finished" in client.get("/").text
        page = client.get("/rows", ("run", "growing"))
        assert "the run did not finish: 3 of 9 rows" in page.text
        store.put_rows("growing", [(n, one, None) for n, one in rows[3:5]], started=started)
        assert numbers(client.get("/rows", ("run", "growing"))) == [1, 2, 3, 4, 5]
        store.delete_run("growing")
        assert client.get("/rows", ("run", "growing")).status == 400
        assert "growing" not in client.get("/").text


def test_a_damaged_row_and_a_damaged_run_are_shown_as_such(filled: Path, tmp_path: Path):
    folder = shutil.copytree(filled, tmp_path / "store")
    with sqlite3.connect(folder / "assay.db") as db:
        db.execute("UPDATE rows SET body = x'00' WHERE run = 'before' AND number = 3")
        db.execute("UPDATE runs SET info = 'x' WHERE id = 'live/shop'")
    db.close()
    with serving(folder) as client:
        runs = client.get("/")
        assert runs.status == 200
        assert "what is known about it is damaged" in runs.text
        assert client.get("/rows", ("run", "live/shop")).status == 503
        page = client.get("/rows", ("run", "before"))
        assert page.status == 200
        assert "1 of 60 rows could not be read" in page.text
        row = client.get("/row", ("run", "before"), ("row", "row:3"))
        assert (row.status, "cannot be read" in row.text) == (503, True)
        assert client.get("/row", ("run", "before"), ("row", "row:4")).status == 200


def test_a_store_that_is_damaged_while_it_is_served_is_said_to_be(filled: Path, tmp_path: Path):
    folder = shutil.copytree(filled, tmp_path / "store")
    file = folder / "assay.db"
    with serving(folder) as client:
        assert client.get("/").status == 200
        with sqlite3.connect(file) as db:
            db.execute("DROP TABLE rows")
        db.close()
        page = client.get("/rows", ("run", "before"))
        assert page.status == 503
        assert "the store cannot be read" in page.text
        assert "assay store check" in page.text


def test_every_page_is_the_same_in_a_folder_and_a_database(address: str):
    fill(address)
    with serving(address) as client:
        for path, pairs in EVERY[:7]:
            assert client.get(path, *pairs).status == 200, path
        low = client.get("/rows", ("run", NOW), ("metric", "faithfulness"), ("below", "0.75"), ("where", "topic=odd"))
        assert numbers(low) == [2, 4, 6, 8]
        assert "password" not in client.get("/").text


@pytest.mark.long
def test_a_row_of_long_hostile_texts_stays_a_small_page(tmp_path: Path):
    sign = "\u202e&<"  # 6 + 5 + 4 bytes as HTML
    answer = sign * 30_000
    claim = Claim(text=answer[:900], span=Span(0, 900))
    verdict = Verdict(label=HOSTILE, claim=claim, reason=answer[:5000])
    names = [f"m{n} {HOSTILE}" for n in range(30)]
    read = {"answer/contexts": (verdict,) * 90}
    scores = {name: Score(metric=name, value=0.5, verdicts=read) for name in names}
    contexts = tuple(Context(text=answer[: 40_000 + n], id=HOSTILE) for n in range(80))
    sample = Sample(id=HOSTILE * 20, question=answer, answer=answer, contexts=contexts, metadata={HOSTILE: answer})
    with Store(tmp_path / "store") as store:
        started = store.create_run("long", {"judge": answer[:3000], "metrics": list(scores), "note": answer})
        store.put_rows("long", [(1, ScoredSample(sample=sample, scores=scores), None)], started=started)
    with serving(tmp_path / "store") as client:
        for path, pairs in (("/", ()), ("/rows", (("run", "long"),)), ("/row", (("run", "long"), ("row", "1")))):
            page = client.get(path, *pairs)
            assert page.status == 200
            assert len(page.text.encode()) < 280_000, path
            assert "\u202e" not in page.text
        assert (
            len(json.loads(client.get("/row.json", ("run", "long"), ("row", "1")).text)["sample"]["answer"]) == 90_000
        )
