"""The commands as a shell calls them: align, label and probe."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from assay.cli.main import app
from assay.errors import InputError


@pytest.fixture
def folder(result, labels, tmp_path):
    shutil.copytree(result.store.folder, tmp_path / "store")  # with what it has not yet taken up
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    return tmp_path


def run(*arguments, given=None):
    found = CliRunner().invoke(app, [str(one) for one in arguments], input=given)
    if isinstance(found.exception, InputError):
        raise found.exception
    assert found.exception is None, found.exception
    return found.output


def test_align_prints_a_table_and_writes_a_calibration(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = folder / "c.json"
    options = ("--store", folder / "store", "--slice", "topic")
    shown = run("judge", "align", folder / "labels.jsonl", *options, "--write", file)
    assert "judge: noisy noisy: 180 of 180 labels used" in " ".join(shown.split())
    assert "even" in shown
    assert f"use it with --calibration {file}" in shown.replace("\n", "")
    made = json.loads(file.read_text())
    assert made["judge"] == "noisy/noisy"
    assert made["note"].endswith("labels.jsonl")
    plain = json.loads(run("judge", "align", folder / "labels.jsonl", *options, "--json"))
    assert plain["groups"]["answer/contexts"]["slices"]["odd"]["n"] == 90


def test_label_then_align(folder):
    out = folder / "mine.jsonl"
    shown = run("data", "label", "--store", folder / "store", "--out", out, "-n", 3, given="s\nn\nq\n")
    assert "2 labels given; 2 of 3" in shown
    assert "2 of 2 labels used" in run("judge", "align", out, "--store", folder / "store")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("judge", "align", "nowhere.jsonl"), "there is no file"),
        (("judge", "align", "labels.jsonl", "x", "--data", "y.jsonl"), "RUN, --data"),
        (("judge", "align", "labels.jsonl", "--write", "no/such/c.json"), "--write: there is no folder"),
        (("judge", "align", "labels.jsonl", "--judge", "openai:m"), "--judge: goes with labels that bring their texts"),
        (("judge", "align", "labels.jsonl", "--write", "c.json", "--method", "magic"), "method: expected"),
        (("data", "label", "--what", "words"), "--what: expected"),
        (("data", "label", "--out", "no/such/l.jsonl"), "--out: there is no folder"),
        (("judge", "probe", "--own"), "--own: goes with rows"),
        (("judge", "probe", "--each", "0"), "--each: expected"),
    ],
)
def test_wrong_use_names_the_option(folder, monkeypatch, arguments, said):
    monkeypatch.chdir(folder)
    store = () if arguments[1] == "probe" else ("--store", "store")
    with pytest.raises(InputError, match=said):
        run(*arguments, *store)
