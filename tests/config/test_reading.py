"""Configuration files: what they say, where they are found, and what is said of wrong ones."""

# ruff: noqa: E501  (a line for each mistake)

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.gates.rules import GateRule
from assay.config import Config, configuration
from assay.config.line_numbers import line_of, lines_of
from assay.errors import InputError

WHOLE = """
data = ["a.jsonl", "otel:spans.jsonl"]
language = "de"
store = "kept"

[columns]
question = "frage"
contexts = ["doc 1", "doc 2"]

[judge]
name = "openai:small"
base_url = "http://localhost:11434/v1"
api_key_env = "LOCAL_KEY"
window_tokens = 8192

[metrics.faithfulness]
[metrics.hallucination]
kind = "contradicted"
[metrics."ragas:faithfulness"]
profile = "original"

[budget]
calls_per_day = 1000
dollars_per_day = 2.5
[budget.prices]
prompt = 0.5
completion = 1.5

[gates]
baseline = "main"
confidence = 0.9
cluster = "doc"
coverage = 0.95
leave_out = ["no_claims"]

[gates.faithfulness]
at_least = 0.8
by = "interval"
max_drop = 0.02

[gates.hallucination_contradicted]
at_most = 0.1
coverage = 0.5
"""


def written(folder: Path, text: str, name: str = "assay.toml") -> Config:
    (folder / name).write_text(text, encoding="utf-8")
    found = configuration(folder=folder)
    assert found is not None
    return found


def test_all_that_a_file_may_say(tmp_path: Path) -> None:
    found = written(tmp_path, WHOLE)
    assert (found.file, found.data, found.language, found.store) == (
        "assay.toml",
        ("a.jsonl", "otel:spans.jsonl"),
        "de",
        Path("kept"),
    )
    assert found.columns == {"question": ("frage",), "contexts": ("doc 1", "doc 2")}
    assert (found.judge.name, found.judge.api_key_env, found.judge.window_tokens) == ("openai:small", "LOCAL_KEY", 8192)
    assert [metric.label for metric in found.metrics] == [
        "faithfulness",
        "hallucination_contradicted",
        "ragas:faithfulness@original",
    ]
    assert "calls_per_day=1000" in repr(found.budget)
    assert found.gates is not None
    assert (found.gates.baseline, found.gates.gate.confidence, found.gates.gate.cluster) == ("main", 0.9, "doc")
    common: dict[str, Any] = {"leave_out": ("no_claims",)}
    assert found.gates.gate.rules == (
        GateRule("faithfulness", "at_least", 0.8, "interval", 0.95, **common),
        GateRule("faithfulness", "max_drop", 0.02, "mean", 0.95, **common),
        GateRule("hallucination_contradicted", "at_most", 0.1, "mean", 0.5, **common),
    )


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert written(tmp_path, "") == Config(file="assay.toml")


def test_metrics_may_be_a_list_of_names(tmp_path: Path) -> None:
    found = written(tmp_path, 'metrics = ["faithfulness", "ragas:faithfulness@original"]')
    assert [metric.label for metric in found.metrics] == ["faithfulness", "ragas:faithfulness@original"]


def test_a_variant_has_a_table_of_its_own_and_a_gate_by_its_name(tmp_path: Path) -> None:
    text = """
        [metrics."llamaindex:hit_rate"]
        [metrics.hits_of_ten]
        of = "llamaindex:hit_rate"
        k = 10
        [gates.hits_of_ten]
        at_least = 0.9
    """
    found = written(tmp_path, text)
    assert [metric.label for metric in found.metrics] == ["llamaindex:hit_rate", "hits_of_ten"]
    assert "k=10" in repr(found.metrics[1])
    assert found.gates is not None
    assert [rule.metric for rule in found.gates.gate.rules] == ["hits_of_ten"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\n[gates.faithfulnes]\nat_least = 0.8", "assay.toml: [gates.faithfulnes] line 3: there is no metric 'faithfulnes'; did you mean"),
        ("[gates.faithfulness]\nat_lest = 0.8", "[gates.faithfulness] at_lest line 2: there is no such key; did you mean 'at_least'?"),
        ("[gates.faithfulness]\nat_least = 1.8", "at_least line 2: expected a number from 0 to 1, got 1.8"),
        ("[gates.faithfulness]\nat_least = '0.8'", "at_least line 2: expected a number, got a text, '0.8'"),
        ("[gates.faithfulness]\nat_least = nan", "at_least line 2: expected a number, got a number, nan"),
        ("[gates.faithfulness]\nat_least = true", "at_least line 2: expected a number, got true or false, True"),
        ("[gates.faithfulness]\ncoverage = 0.8", "[gates.faithfulness] line 1: it says no limit: at_least"),
        ("[gates.hallucination]\nat_least = 0.8", "at_least line 2: lower is better for this metric; say at_most"),
        ("[gates.faithfulness]\nmax_drop = 0.1\nby = 'interval'", "by line 3: goes with at_least and at_most"),
        ("[gates.faithfulness]\nat_least = 0.1\nleave_out = 'no_clams'", "leave_out line 3: there is no cause 'no_clams'"),
        ("[gates]\nfaithfulness = 0.8", "[gates] faithfulness line 2: there is no such key; rules stand in a table"),
        ("[gates]\nconfidence = 95\n[gates.faithfulness]\nat_least = 0.1", "confidence line 2: expected a number between 0.5"),
        ("[gates]\ncoverage = 2\n[gates.faithfulness]\nat_least = 0.1", "coverage line 2: expected a number from 0 to 1"),
        ("[gates]\nbaseline = 'main'", "[gates] line 1: it has no rules"),
        ("metrics = ['faithfulness']\n[gates.grounded]\nat_least = 0.1", "[gates.grounded] line 2: there is no metric 'grounded' among those"),
        ("metrics = ['faithfullness']", "metrics line 1: there is no metric 'faithfullness'; did you mean 'faithfulness'"),
        ("metrics = ['faithfulness', 'faithfulness']", "metrics line 1: 'faithfulness' is given twice"),
        ("metrics = 5", "metrics line 1: expected a text, or a list of texts, got a number, 5"),
        ("[metrics]", "[metrics] line 1: it names no metric"),
        ("[metrics.hallucination]\nkynd = 'x'", "kynd line 2: hallucination has no such parameter; did you mean 'kind'?"),
        ("[metrics.hallucination]\nkind = 5", "kind line 2: expected a text, as 'unsupported'"),
        ("[metrics.hallucination]\nkind = 'x'", "[metrics.hallucination] kind line 2: "),
        ("[metrics.harmonic_mean]\ntitle = 'x'", "title line 2: harmonic_mean has no such parameter; it takes none"),
        ("[metrics.mine]\nof = 'faithfullness'", "[metrics.mine] of line 2: there is no metric 'faithfullness'; did you"),
        ("[metrics.mine]\nof = 3", "[metrics.mine] of line 2: expected a text"),
        ("[metrics.mine]\nof = 'hallucination'\nkynd = 'x'", "kynd line 3: hallucination has no such parameter"),
        ("[metrics.' ']\nof = 'faithfulness'", '[metrics.""] line 1: the name of a metric is not blank'),
        ("metrics.faithfulness = 3", "[metrics] faithfulness line 1: expected a table"),
        ("[judge]\napi_key = 'sk-1'", "[judge] api_key line 2: secrets do not belong in a file; api_key_env names"),
        ("[judge]\nbase_url = 'http://me:pw@host/v1'", "base_url line 2: secrets do not belong in a file"),
        ("[judge]\nbase_url = 'ftp://host'", "base_url line 2: expected an address that begins with http"),
        ("[judge]\nbase_url = 'http://host/v1'", "base_url line 2: goes with a judge that has an address"),
        ("[judge]\nname = 'embedded'\napi_key_env = 'KEY'", "api_key_env line 3: goes with a judge that has"),
        ("[judge]\nname = 'openai:m'\nwindow_tokens = 0", "window_tokens line 3: expected a whole number of at least 1"),
        ("[judge]\nname = 'openai:m'\ndiscount = 0.5", "discount line 3: goes with a judge that answers in batches"),
        ("[judge]\nname = 'openai-batch:m'\ndiscount = 2", "discount line 3: expected what is taken off the price"),
        ("[judge]\nname = 'openai-batch:m'\npoll = 0", "poll line 3: expected seconds above 0, got 0"),
        ("[judge]\nname = 'openai-batch:m'\nrows_in_flight = 0.5", "rows_in_flight line 3: expected a whole number"),
        ("[jugde]\nname = 'embedded'", "[jugde] line 1: there is no such key; did you mean 'judge'?"),
        ("judge = 'embedded'", "judge line 1: expected a table, [judge], got a text"),
        ("[columns]\nqestion = 'x'", "qestion line 2: there is no such field; did you mean 'question'?"),
        ("[columns]\nquestion = ['a', 'b']", "question line 2: expected one column; only contexts takes several"),
        ("[budget]\ncalls_per_day = -1", "calls_per_day line 2: "),
        ("[budget]\ndollars_per_day = 1", "dollars_per_day line 2: limits in dollars need [budget.prices]"),
        ("[budget]\ncalls_per_day = 1\n[budget.prices]\nprompt = 1", "[budget.prices] line 3: give both prompt and"),
        ("data = []", "data line 1: expected a text, or a list of texts, got a list"),
        ("store = ''", "store line 1: expected a text, got a text, ''"),
        ("[budget]\ncalls_per_day = 1.5", "calls_per_day line 2: expected a whole number of at least 1, got a number, 1.5"),
        ("store = 3\nlanguage = 4", "store line 1: expected a text, got a number, 3"),
        ("language = 4\nstore = 3", "language line 1: expected a text, got a number, 4"),
        ("x = 1\nx = 2", "this is no TOML: Cannot overwrite a value"),
        ("x = ", "this is no TOML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        written(tmp_path, text)
    assert said in str(caught.value)
    assert "sk-1" not in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = " + b"[" * 50_000, "nest too deeply"),
        (b"x = " + b"9" * 10_000, "this is no TOML"),
        (b".".join([b"a"] * 50_000) + b" = 1", "line 1: a key of more than 60 parts"),
        (b"[" + b".".join([b"a"] * 50_000) + b"]", "line 1: a key of more than 60 parts"),
        (b"# x\n" * 100_000, "more than 256 KiB are no configuration"),
        (b"x = '\xff'", "expected UTF-8, which it is not from byte 5 on"),
        (b"\x00", "this is no TOML"),
        (b'data = "\x1b[31m"', "this is no TOML"),
    ],
)
def test_a_hostile_file_is_refused_in_one_line(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "assay.toml").write_bytes(data)
    with pytest.raises(InputError, match=said) as caught:
        configuration(folder=tmp_path)
    assert len(str(caught.value)) < 300
    assert "\x1b" not in str(caught.value)


def test_a_folder_or_nothing_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot be read"):
        configuration(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match="cannot be read"):
        configuration(tmp_path)


def test_it_is_found_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    below = tmp_path / "repo" / "src" / "deep"
    below.mkdir(parents=True)
    (tmp_path / "assay.toml").write_text("store = 'outside'")
    assert configuration(folder=below) is None  # no repository: farther up it may be anybody's
    (tmp_path / "repo" / ".git").mkdir()
    assert configuration(folder=below) is None
    (tmp_path / "repo" / "assay.toml").write_text("store = 'kept'\ndata = 'rows.jsonl'")
    found = configuration(folder=below)
    assert found is not None
    assert (found.store, found.data) == (Path("../../kept"), ("../../rows.jsonl",))
    (below / "assay.toml").write_text("store = 'nearer'")
    nearest = configuration(folder=below)
    assert nearest is not None
    assert nearest.store == Path("nearer")


def test_a_table_of_pyproject_is_one_too(tmp_path: Path) -> None:
    found = written(tmp_path, "[project]\nname='x'\n[tool.assay]\nstore = 'kept'\n", "pyproject.toml")
    assert (found.file, found.store) == ("pyproject.toml", Path("kept"))
    with pytest.raises(InputError, match=r"pyproject\.toml: \[tool\.assay\.judge\] nam line 2: .* did you mean 'name'"):
        written(tmp_path, "[tool.assay.judge]\nnam = 'embedded'\n", "pyproject.toml")
    assert written(tmp_path, "store = 'own'", "assay.toml").store == Path("own")


def test_what_is_wrong_with_the_rest_of_a_pyproject_is_not_ours_to_say(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("this is [no TOML")
    assert configuration(folder=tmp_path) is None


def test_lines_of_keys_wherever_they_stand() -> None:
    text = (
        'a = 1 # b = 2\n\n[x."y.z"]\nc.d = """\ne = 1\n[no]\n"""\n'  # 1 to 7
        "f = [\n  1, # ]\n  '[',\n]\ng = {h = 1}\n[[list]]\nk = 1\n"  # 8 to 14
    )
    assert tomllib.loads(text)["x"]["y.z"]["c"]["d"] == "e = 1\n[no]\n"
    assert lines_of(text) == {
        ("a",): 1,
        ("x", "y.z"): 3,
        ("x", "y.z", "c", "d"): 4,
        ("x", "y.z", "f"): 8,
        ("x", "y.z", "g"): 12,
        ("list",): 13,
        ("list", "0"): 13,
        ("list", "0", "k"): 14,
    }
    assert line_of(("x", "y.z", "g", "h"), lines_of(text)) == 12
    assert line_of(("x", "y.z", "c"), lines_of(text)) == 4
    assert line_of(("x",), lines_of(text)) == 3
    assert line_of(("nowhere",), lines_of(text)) is None


KEYS = st.text(st.sampled_from("ab.\" '#=[]-\\ä"), max_size=4)
VALUES = st.one_of(st.integers(), st.text(st.sampled_from("a\"'#=[]{}\n\\"), max_size=8), st.booleans())


def toml(value: object) -> str:
    if isinstance(value, str):
        return '"' + "".join({"\\": "\\\\", '"': '\\"', "\n": "\\n"}.get(c, c) for c in value) + '"'
    return str(value).lower()


@settings(max_examples=50)
@given(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3))
def test_every_key_of_a_file_has_its_line(tables: dict[str, dict[str, Any]]) -> None:
    """A file with a line per header and per key: each is found on it."""
    written_lines, expected = [], {}
    for name, values in tables.items():
        written_lines.append(f"[{toml(name)}]")
        expected[name,] = len(written_lines)
        for key, value in values.items():
            written_lines.append(f"{toml(key)} = {toml(value)}")
            expected[name, key] = len(written_lines)
    text = "\n".join(written_lines)
    assert tomllib.loads(text) == tables
    assert lines_of(text) == expected


@given(st.text(max_size=60) | st.text(st.sampled_from("\"'[]{}=#\n\\a."), max_size=60))
def test_no_text_upsets_the_search_for_lines(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in lines_of(text).values())


def test_the_example_of_the_page_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    found = written(tmp_path, page.partition("```toml\n")[2].partition("```")[0])
    assert (found.data, found.store, found.language) == (("answers.jsonl",), Path(".assay"), "en")
    assert len(found.metrics) == 4
    assert found.gates is not None
    assert len(found.gates.gate.rules) == 3


def test_time_zone_and_live_runs(tmp_path: Path) -> None:
    file = tmp_path / "assay.toml"
    file.write_text('timezone = "Europe/Berlin"\n[live]\napplication = "shop"\nretain_days = 7\nkeep_text = false\n')
    found = configuration(file)
    assert found is not None
    assert found.timezone == "Europe/Berlin"
    live = found.live
    assert (live.application, live.retain_days, live.retain_gb, live.keep_text) == ("shop", 7, None, False)
    file.write_text("")
    found = configuration(file)
    assert found is not None
    assert (found.timezone, found.live.application) == ("UTC", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'timezone = "Berlin"',
            "timezone line 1: expected the IANA name of a time zone, such as UTC or Europe/Berlin, got 'Berlin'",
        ),
        ("timezone = 3", "timezone line 1: expected a text, got a number, 3"),
        ("[live]\nretain_days = 0", "retain_days line 2: expected a number of days above 0, got 0"),
        ("[live]\nretain_gb = -1", "retain_gb line 2: expected a number of gigabytes above 0, got -1"),
        ('[live]\nkeep_text = "no"', "keep_text line 2: expected true or false"),
        ("[live]\ncanaries = 3", "canaries line 2: expected a text"),
        ("[live]\nretain = 3", "retain line 2: there is no such key"),
    ],
)
def test_what_is_wrong_with_live_runs_is_said(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "assay.toml"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        configuration(file)
    assert said in str(raised.value).replace("live.", "")
