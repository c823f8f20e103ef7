"""The page of a comparison: verdicts of two or more runs, then the rows that moved side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay._util.terminal import shortened
from assay.analysis.comparison.flips import flips_of
from assay.analysis.comparison.independent import are_independent
from assay.errors import InputError
from assay.evaluation.display.lines import NOTHING
from assay.judges.no_judge import same_judge
from assay.report.matrix import matrix_caption, matrix_facts, matrix_rows
from assay.view.compared_rows import MOVES, compared_rows
from assay.view.open_store import OpenRun, OpenStore
from assay.view.page import Page, link, page_of
from assay.view.row_query import Parameters, one
from assay.view.row_texts import TextBudget, answer_of

if TYPE_CHECKING:
    from assay.analysis.comparison.matrix import ComparisonMatrix


MOST_RUNS = 6  # that are compared
COMPARED = 8  # rows on a page


def compare_page(store: OpenStore, given: Parameters) -> Page:
    """Two or more runs: the verdicts, then the rows that moved, side by side."""
    names = list(dict.fromkeys(name for name in given.get("run", []) if name))
    if not 2 <= len(names) <= MOST_RUNS:
        raise InputError(f"run: expected 2 to {MOST_RUNS} different runs to compare, got {len(names)}")
    runs = _baseline_first([store.open(name) for name in names], one(given, "baseline"))
    any_judge, move = one(given, "any_judge") == "1", one(given, "moved") or "worse"
    state = [
        *(("run", run.name) for run in runs),
        ("baseline", runs[0].name),
        ("any_judge", "1" if any_judge else None),
    ]
    values: dict[str, Any] = {
        "title": f"{len(runs)} runs compared", "runs": [run.name for run in runs], "moves": MOVES, "move": move,
        "any_judge": any_judge, "here": link("/compare", *state), "others": _other_baselines(runs, state),
        "metrics": [],
        "report": link("/report.html", run=runs[1].name, baseline=runs[0].name) if len(runs) == 2 else None,
    }  # fmt: skip
    if not any_judge and not all(same_judge(runs[0].result.judge, other.result.judge) for other in runs[1:]):
        judges = list(dict.fromkeys(run.result.judge for run in runs))
        anyway = link("/compare", *state, any_judge="1")
        return Page("compare.html", {**values, "judges": judges, "anyway": anyway})
    if any(are_independent(runs[0].result, other.result) for other in runs[1:]):
        found = store.compare_windows(runs, any_judge)
        return Page("compare.html", {**values, "windows": found})
    matrix = store.compare(runs, any_judge)
    metric = one(given, "metric") or _most_moved(matrix)
    if metric not in matrix.metrics:
        raise InputError(f"metric: {metric!r} is not in all of these runs; they have {', '.join(matrix.metrics)}")
    rows = compared_rows(runs, metric, move)
    keys, earlier, later = page_of(rows.order, given, COMPARED)
    state += [("metric", metric), ("moved", move)]
    return Page("compare.html", {
        **values, "matrix": matrix, "metrics": matrix.metrics, "metric": metric, "here": link("/compare", *state),
        "tables": [(matrix_caption(matrix, name), matrix_rows(matrix, name)) for name in matrix.metrics],
        "matrix_facts": matrix_facts(matrix), "worse": rows.worse, "better": rows.better,
        "count": int(rows.order.mask.sum()),
        "rows": [_compared_row(runs, rows.numbers(runs, key.number), metric) for key in keys],
        "next": link("/compare", *state, after=str(keys[-1])) if later else None,
        "previous": link("/compare", *state, before=str(keys[0])) if earlier else None,
    })  # fmt: skip


def _baseline_first(runs: list[OpenRun], baseline: str | None) -> list[OpenRun]:
    """The baseline first: the one named, else the run that started first."""
    runs = sorted(runs, key=lambda run: run.result.started or 0.0)
    if baseline is not None:
        if baseline not in [run.name for run in runs]:
            raise InputError(f"baseline: expected one of the runs, got {baseline[:60]!r}")
        runs.sort(key=lambda run: run.name != baseline)
    return runs


def _other_baselines(runs: Sequence[OpenRun], state: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    kept = [pair for pair in state if pair[0] != "baseline"]
    return [(run.name, link("/compare", *kept, baseline=run.name)) for run in runs[1:]]


def _most_moved(matrix: ComparisonMatrix) -> str:
    """The metric of the strongest evidence: that with the smallest p-value."""

    def p(name: str) -> float:
        known = [pair.metrics[name].p for pair in matrix.comparisons]
        return min((value for value in known if value is not None), default=2.0)

    return min(matrix.metrics, key=p)


def _compared_row(runs: Sequence[OpenRun], numbers: Sequence[int | None], metric: str) -> dict[str, Any]:
    """One row in each run: value, answer with claims in colour, and what flipped against the first run."""
    budget, sides, first = TextBudget(7_000), [], None
    name, question = f"row {numbers[0]}", ""
    for run, number in zip(runs, numbers, strict=True):
        found = None if number is None else next(iter(run.result.store.rows_of(run.result.stored_run, [number])), None)
        if found is None:
            sides.append({"run": run.name, "missing": True})
            continue
        score = found.scored.scores.get(metric)
        if run is runs[0]:
            first, question = score, shortened(found.scored.sample.question or "", 300)
            name = found.scored.sample.id or name
        flips = flips_of(first, score) if first is not None and score is not None and run is not runs[0] else []
        value = None if score is None else score.value
        change = None if first is None or first.value is None or value is None else value - first.value
        sides.append({
            "run": run.name, "missing": False, "href": link("/row", run=run.name, row=f"row:{number}"),
            "value": NOTHING if value is None else f"{value:.3f}",
            "change": "" if run is runs[0] or not change else f"{change:+.3f}",
            "answer": answer_of(found.scored, budget, 1_500),
            "flips": [flip.line(240) for flip in list(flips)[:3]], "more": max(0, len(flips) - 3),
        })  # fmt: skip
    return {"name": shortened(name, 100), "question": question, "sides": sides}
