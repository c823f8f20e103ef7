"""Runs that other tools hold, as results: `mlflow:RUN`, `ragas:scores.csv` for `assay compare`.

Packages add theirs under the entry point group `assay.runs`: a callable that takes the part after the colon, and gives
the judge's name, the scored rows, and where it has some notes on them. Result files of other systems are read by
`assay.evaluation.imports`. One that takes `scales` is given what the user states of metrics: name -> the worst and
the best value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from assay._util.normalise import well_formed
from assay._util.plugins import load
from assay.errors import InputError
from assay.evaluation.overview import overview_facts
from assay.evaluation.result import Result
from assay.records import ScoredSample
from assay.store.store import Store

GROUP = "assay.runs"

#: What a package gives: who judged, and the rows; notes may follow, one sentence each.
Held = tuple[str, Iterable[ScoredSample]] | tuple[str, Iterable[ScoredSample], tuple[str, ...]]

#: Readers of our own, which are there wherever assay is: in a clone, too, that nobody installed anew.
_OURS: Mapping[str, str] = {
    "ragas": "csv_files:open_ragas",
    "trulens": "csv_files:open_trulens",
    "langsmith": "csv_files:open_langsmith",
    "deepeval": "json_files:open_deepeval",
    "ragchecker": "json_files:open_ragchecker",
    "llamaindex": "json_files:open_llamaindex",
    "bedrock": "json_files:open_bedrock",
    "openai-evals": "json_files:open_openai_evals",
    "phoenix": "phoenix:open_phoenix",
    "langfuse": "langfuse:open_langfuse",
}
#: Whose result files are read, by the name before the colon.
FILES = tuple(_OURS)


def load_external_run(spec: str, scales: Mapping[str, tuple[float, float]] | None = None) -> Result:
    """The run that NAME:RUN means, in a store that is deleted when it is no longer used.

    Raises InputError for an unknown NAME and a run without rows, MissingExtra for a missing package, StoreError where
    nothing can be read.

    Args:
        scales: The worst and the best value of metrics of which the file does not say them: {"tone": (1, 5)}.
    """
    name, _, address = spec.partition(":")
    points = {one: EntryPoint(one, f"assay.evaluation.imports.{where}", GROUP) for one, where in _OURS.items()}
    points |= {point.name: point for point in entry_points(group=GROUP)}
    make: Callable[..., Held] | None = load("run", name, points)
    if make is None:
        raise InputError(f"run {spec!r}: no package reads runs of {name!r}; there are {', '.join(points) or 'none'}")
    more: dict[str, Any] = {}
    if "scales" in inspect.signature(make).parameters:
        more["scales"] = scales
    elif scales:
        raise InputError(f"run {spec!r}: scales are for result files ({', '.join(FILES)}), not for runs of {name}")
    return result_of(spec, *make(address, **more))


def result_of(run: str, judge: str, rows: Iterable[ScoredSample], notes: tuple[str, ...] = ()) -> Result:
    """Scored rows as a run of this name. Raises InputError where there are none."""
    run, store = well_formed(run), Store.temporary()
    result = Result(run=run, store=store, judge=judge)
    store.create_run(run, {"judge": judge, "metrics": []})
    for scored in rows:
        facts = overview_facts(scored)
        result.add(scored, facts=facts)
        store.put_row(run, result.rows, scored, facts=facts.to_text())
    if not result.rows:
        raise InputError(f"run {run!r} has no rows")
    result.notes.extend(notes)
    result.save()
    return result
