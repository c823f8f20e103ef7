"""A person labels: one key each, on disk at once, resumable; and what to label next leaves means unbiased."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from assay.analysis.judges.alignment.active_sampling import LEAST, MOST, choose, sizes_of
from assay.analysis.judges.alignment.alignment import align
from assay.analysis.judges.alignment.items import Item, RunItems
from assay.analysis.judges.alignment.labelling_session import session
from assay.errors import InputError


def labelled(result, file, keys, **options):
    """The session with these keys, and what was shown."""
    left = iter(keys)
    seen: list[str] = []
    one = session(result, file, options.pop("what", "claims"), read=lambda: next(left, ""), say=seen.append, **options)
    one.run()
    return one, seen


def rows_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_key_is_a_line_and_the_labels_can_be_aligned(result, tmp_path):
    file = tmp_path / "l.jsonl"
    labelled(result, file, "snc", n=10)
    assert [row["label"] for row in rows_of(file)] == ["supported", "not_mentioned", "contradicted"]
    assert align(result, file).matched == 3


def test_the_judges_verdict_is_hidden_until_the_label(result, tmp_path):
    _, seen = labelled(result, tmp_path / "l.jsonl", "s", n=3)
    assert "CLAIM: claim" in seen[1]
    assert "the judge:" not in seen[1]
    assert seen[2].startswith("the judge: ")
    _, before = labelled(result, tmp_path / "b.jsonl", "s", n=3, shown="before")
    assert "the judge: " in before[1]
    _, never = labelled(result, tmp_path / "n.jsonl", "sss", n=3, shown="never")
    assert not any("the judge" in text for text in never)


def test_it_goes_on_where_it_ended(result, tmp_path):
    file = tmp_path / "l.jsonl"
    first, _ = labelled(result, file, "sq", n=5)
    second, seen = labelled(result, file, "unnnnnnn", n=5)
    assert (first.written, second.written) == (1, 4)
    assert "4 claims to label" in seen[0]
    keys = [(row["row"], row["claim"]) for row in rows_of(file)]
    assert len(set(keys)) == 5
    # what nobody could tell is done, too
    third, seen = labelled(result, file, "sss", n=5)
    assert third.written == 0
    assert "0 claims to label" in seen[0]


def test_taking_back_removes_the_line_and_asks_again(result, tmp_path):
    file = tmp_path / "l.jsonl"
    _, seen = labelled(result, file, "snbbbsq", n=5)
    assert [row["label"] for row in rows_of(file)] == ["supported"]
    assert [text for text in seen if text in ("taken back", "nothing was labelled in this session")] == [
        "taken back", "taken back", "nothing was labelled in this session",
    ]  # fmt: skip


def test_what_is_skipped_is_asked_again_next_time(result, tmp_path):
    file = tmp_path / "l.jsonl"
    _, seen = labelled(result, file, "ksq", n=2)
    skipped = seen[1].split("CLAIM: ")[1]
    _, again = labelled(result, file, "q", n=2)
    assert skipped in again[1]


def test_a_file_of_another_plan_is_refused(result, tmp_path):
    file = tmp_path / "l.jsonl"
    labelled(result, file, "sss", n=3)
    with pytest.raises(InputError, match="row 1: it was chosen with another weight"):
        labelled(result, file, "s", n=3, alike=True)


def test_an_unknown_key_is_asked_again_and_an_end_of_input_ends(result, tmp_path):
    file = tmp_path / "l.jsonl"
    one, seen = labelled(result, file, ["x", "  ", "s"], n=5)
    assert one.written == 1
    assert any("expected one of s, c, n, u, k, b, q" in text for text in seen)


def test_several_people_label_in_one_file(result, tmp_path):
    file = tmp_path / "l.jsonl"
    labelled(result, file, "ss", n=2, by="ann")
    one, _ = labelled(result, file, "nn", n=2, by="bob")
    assert one.written == 2
    assert align(result, file).people == (0, 2)


def test_samples_are_labelled_by_metric(result, tmp_path):
    file = tmp_path / "l.jsonl"
    _, seen = labelled(result, file, "yn", what="samples", n=2)
    assert "Is it good by faithfulness?" in seen[1]
    assert [(row["metric"], row["label"]) for row in rows_of(file)] == [
        ("faithfulness", "yes"),
        ("faithfulness", "no"),
    ]
    assert align(result, file).groups["faithfulness"].level == "sample"


def test_a_run_without_such_items_says_what_it_has(result, tmp_path):
    with pytest.raises(InputError, match=r"passages: this run has none .* claims of answer/contexts"):
        labelled(result, tmp_path / "l.jsonl", "y", what="passages")
    with pytest.raises(InputError, match="n: expected at least 1"):
        labelled(result, tmp_path / "l.jsonl", "y", n=0)


@pytest.mark.long
def test_text_of_others_moves_no_terminal(tmp_path):
    code = (
        "import sys; from assay import ScriptedJudge, evaluate\n"
        "row = {'id': 'x', 'question': 'q\\x1b[2J', 'contexts': ['a\\x1b]0;t\\x07'], 'answer': 'It is so\\x1b[31m.'}\n"
        "judge = ScriptedJudge(support=lambda claim, passage: 'supported')\n"
        "evaluate([row], 'faithfulness', judge, store=sys.argv[1], progress=False)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    command = [
        sys.executable,
        "-m",
        "assay",
        "data",
        "label",
        "--out",
        str(tmp_path / "l.jsonl"),
        "--store",
        str(tmp_path),
    ]
    done = subprocess.run(command, input="s\n", capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert "CLAIM: It is so" in done.stdout
    assert "1 labels given" in done.stdout


# ---- what to label next


def made(n: int, probability) -> RunItems:
    return RunItems(items=[
        Item(k, None, "claim", "answer/contexts", 0, f"t{k}", ("faithfulness",), "support", True, float(probability[k]))
        for k in range(n)
    ])  # fmt: skip


def test_uncertain_items_come_first_more_often():
    items = made(200, [0.5] * 100 + [0.99] * 100)
    first = [sum(one.item.row < 100 for one in choose(items, seed=seed)[:40]) for seed in range(50)]
    # sizes 0.5 + 0.5 * sd / mean sd, sd 0.5 and 0.0995: 1.33 and 0.67, two to one
    assert np.mean(first) / 40 == pytest.approx(2 / 3, abs=0.04)


def test_the_first_items_of_a_seed_are_those_of_a_longer_list_and_another_seed_has_others():
    items = made(100, np.linspace(0.01, 0.99, 100))
    order = [one.item.row for one in choose(items, seed=1)]
    assert sorted(order) == list(range(100))
    assert order == [one.item.row for one in choose(items, seed=1)]
    assert order != [one.item.row for one in choose(items, seed=2)]


@pytest.mark.long
def test_weighted_means_of_what_was_chosen_are_unbiased():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, 300)
    truth = rng.random(300) < p**2
    items = made(300, p)
    weighted, plain = [], []
    for seed in range(300):
        some = choose(items, seed=seed)[:60]
        values, weights = truth[[one.item.row for one in some]], np.array([one.weight for one in some])
        weighted.append(float((values * weights).sum() / weights.sum()))
        plain.append(float(values.mean()))
    error = np.std(weighted) / 300**0.5
    assert abs(np.mean(weighted) - truth.mean()) < 3.5 * error
    assert abs(np.mean(plain) - truth.mean()) > 3.5 * error  # without weights it is off


def test_sizes_have_limits_and_are_equal_where_nothing_is_uncertain():
    assert sizes_of([0.0, 0.0]) == [1.0, 1.0]
    assert sizes_of([]) == []
    assert all(LEAST <= one <= MOST for one in sizes_of([0.0] * 99 + [0.5]))
