"""What a past run tells of its scores, and `assay data plan`."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.analysis.judges.noise import NoiseReport
from assay.analysis.power import world_of, world_of_noise
from assay.cli.main import app
from assay.errors import Cause, InputError
from assay.evaluation.result import Result
from assay.records import Direction, Sample, Score, ScoredSample, ScoreError
from assay.stats.noise import Noise
from assay.store.store import Store

GAP = ScoreError(cause=Cause.NOT_APPLICABLE, message="x")


def run(store: Store, name: str, values: list[float | None], *, low: float = 0.0, high: float = 1.0,
        direction: Direction = "higher", docs: str | None = None) -> Result:  # fmt: skip
    """A run of one metric with these values; `docs`: a letter per row."""
    store.create_run(name, {"judge": "scripted", "metrics": ["m"]})
    for number, value in enumerate(values, 1):
        score = Score(
            metric="m", value=value, error=GAP if value is None else None, low=low, high=high, direction=direction
        )
        sample = Sample(id=f"r{number}", metadata={} if docs is None else {"doc": docs[number - 1]})
        store.put_row(name, number, ScoredSample(sample=sample, scores={"m": score}))
    return Result.load(name, store)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_scores_of_0_or_1_are_known_by_their_mean_and_gaps_are_none(store: Store) -> None:
    seen = world_of(run(store, "one", [1.0] * 9 + [0.0, None]), "m")
    assert (seen.rows, seen.world.mean, seen.world.sd) == (10, 0.9, None)
    assert (seen.world.correlation, seen.assumed) == (0.5, True)


def test_graded_scores_on_a_scale_of_their_own_where_low_is_good(store: Store) -> None:
    """From 1 to 5, low is good: 1, 2, 3 are 1, 0.75, 0.5: mean 0.75, standard deviation 0.25."""
    seen = world_of(run(store, "one", [1.0, 2.0, 3.0], low=1.0, high=5.0, direction="lower"), "m", noise=0.4)
    assert (seen.world.mean, seen.world.sd, seen.width) == (0.75, pytest.approx(0.25), 4.0)
    assert seen.world.noise == pytest.approx(0.1)


def test_a_second_run_tells_the_correlation(store: Store) -> None:
    """Differences 0, 0, 1, -1: variance 2/3; each run 1/3: r = 1 - (2/3)/(1/3 + 1/3) = 0."""
    one, two = run(store, "one", [1.0, 0.0, 0.0, 1.0]), run(store, "two", [1.0, 0.0, 1.0, 0.0])
    seen = world_of(one, "m", two)
    assert (seen.world.correlation, seen.assumed) == (pytest.approx(0.0), False)
    assert world_of(one, "m", one).world.correlation == pytest.approx(1.0)


def test_documents_of_equal_rows_count_as_rows_of_their_own(store: Store) -> None:
    """Rows of a document are all alike: two documents of five rows, design effect 1 + 4·1 = 5."""
    seen = world_of(run(store, "one", [1.0] * 5 + [0.0] * 5, docs="aaaaabbbbb"), "m", cluster="doc")
    assert (seen.world.size, seen.world.design) == (5.0, pytest.approx(5.0))
    assert world_of(Result.load("one", store), "m").world.design == 1.0


def test_runs_that_tell_nothing_are_named(store: Store) -> None:
    one = run(store, "one", [1.0, 1.0])
    with pytest.raises(InputError, match="all values of m are the same"):
        world_of(one, "m")
    with pytest.raises(InputError, match="m has 1 values"):
        world_of(run(store, "two", [1.0, None]), "m")
    with pytest.raises(InputError, match="'x' is not in this run; it has m"):
        world_of(one, "x")
    with pytest.raises(InputError, match="no row has the column 'doc'"):
        world_of(one, "m", cluster="doc")
    with pytest.raises(InputError, match="range without an end"):
        world_of(run(store, "three", [1.0, 2.0], high=float("inf")), "m")
    other = run(store, "four", [0.0, 1.0])
    with pytest.raises(InputError, match="1 rows have a value of m in both runs"):
        world_of(other, "m", run(store, "five", [1.0]))


# ---- the command -----------------------------------------------------------------------------------------------------


def said(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["data", "plan", *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_the_command_reads_a_run_and_says_what_it_guessed(store: Store, tmp_path: Path) -> None:
    run(store, "one", [1.0] * 9 + [0.0])
    run(store, "two", [1.0] * 8 + [0.0] * 2)
    out = said("one", "--drop", "0.1", "--store", str(tmp_path))
    assert out.startswith("205 rows show a drop of 0.1 in 90 % of comparisons\n")
    assert "as in run one: 10 values of m" in out
    assert "the correlation is a guess" in out
    assert "guess" not in said("one", "--again", "two", "--drop", "0.1", "--store", str(tmp_path))
    found = json.loads(said("one", "-m", "m", "--rows", "205", "--json", "--store", str(tmp_path)))
    assert (found["rows"], found["metric"]) == (205, "m")
    assert found["drop"] == pytest.approx(0.1, abs=5e-4)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--drop", "0.1"), "give one of a run, --noise, and --mean"),
        (("--mean", "0.9"), "say which drop"),
        (("one", "--mean", "0.9", "--drop", "0.1"), "give one of a run, --noise, and --mean"),
        (("--mean", "0.9", "--metric", "m", "--drop", "0.1"), "--metric: goes with a run"),
        (("--mean", "0.9", "--cluster-size", "5", "--alike", "2", "--drop", "0.1"), "--alike: expected"),
        (("--mean", "0.9", "--cluster-size", "0", "--drop", "0.1"), "clusters: expected"),
        (("--mean", "nan", "--drop", "0.1"), "mean: expected"),
        (("one", "--cluster-size", "5", "--drop", "0.1"), "--cluster-size: goes without a run"),
    ],
)
def test_what_does_not_go_together_is_named(arguments: tuple[str, ...], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        said(*arguments)


def test_a_file_of_noise_says_what_scores_are_like(tmp_path: Path) -> None:
    """Variances 0.03 + 0.01 + 0.02 = 0.06, a standard deviation of 0.245; correlated at 0.03 / 0.06 = 0.5."""
    noise = Noise(
        metric="m", low=0.0, high=1.0, rows=40, left_out=0, readings=2, items=20, means=(0.7, 0.7), judge=0.02,
        judge_high=0.03, generation=0.01, item=0.03, differ=9, binary=False,
    )  # fmt: skip
    file = NoiseReport("judge", ("a", "b"), None, {"m": noise}).save(tmp_path / "noise.json")
    found = said("--noise", str(file), "--rows", "100")
    numbers = ("--mean", "0.7", "--sd", repr(math.sqrt(0.06)), "--correlation", "0.5")
    assert found == said(*numbers, "--rows", "100") + f"  as in {file}: 40 values of m\n"
    guessed = world_of_noise(replace(noise, generation=None, item=0.04))
    assert (guessed.assumed, guessed.world.sd) == (True, pytest.approx(math.sqrt(0.06)))
    worse = world_of_noise(replace(noise, direction="lower", binary=True, generation=None, item=0.19, means=(0.2, 0.2)))
    assert (worse.world.mean, worse.world.binary) == (pytest.approx(0.8), True)
    with pytest.raises(InputError, match="--metric: 'n' is not in"):
        said("--noise", str(file), "--metric", "n", "--rows", "100")
    with pytest.raises(InputError, match="--cluster-size: goes without --noise"):
        said("--noise", str(file), "--cluster-size", "3", "--rows", "100")
    with pytest.raises(InputError, match="values of m are the same"):
        world_of_noise(replace(noise, judge=0.0, generation=None, item=0.0))
