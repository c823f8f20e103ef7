"""Runs of `mlflow.genai.evaluate` as assay's: each trace a row, each feedback a score."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay import Cause, InputError, Sample, Score, ScoredSample, ScoreError
from assay.extension import finite, value_as_text
from assay_mlflow.source import PAGE, as_store_error, client_of

_WORDS = {"yes": 1.0, "no": 0.0}


def open_run(address: str) -> tuple[str, Iterator[ScoredSample]]:
    """Who judged in the run with this id, and its rows; MLflow's own settings say where it is.

    Scores are numbers, booleans and yes or no, as MLflow counts them; of several feedbacks of one name on a trace it is
    the mean. Where all of a name lie from 0 to 1 that is their range, else they have none. Rows are the same in two
    runs where their inputs are. Judges are the models that feedbacks name as their source; code is none.

    Raises InputError for a run that is not there, StoreError where nothing can be read.
    """
    if not address.strip():
        raise InputError("mlflow: expected the id of a run, as mlflow:RUN")
    client = client_of(None)
    found = as_store_error(lambda: client.get_run(address))
    rows, judges = [], set()
    for trace in _traces(client, found.info.experiment_id, address):
        kept = [one for one in trace.info.assessments if _counts(one, address)]
        judges |= {one.source.source_id for one in kept if str(one.source.source_type) == "LLM_JUDGE"}
        rows.append((_sample(trace), {name: _values(kept, name) for name in {one.name for one in kept}}))
    ranges = _ranges([values for _, values in rows])
    scored = (
        ScoredSample(sample=sample, scores={name: _score(name, values.get(name), ranges[name]) for name in ranges})
        for sample, values in reversed(rows)  # MLflow gives the latest first
    )
    return "mlflow: " + (", ".join(sorted(map(str, judges))) or "code"), scored


def _traces(client: Any, experiment: str, run: str) -> Iterator[Any]:
    token: str | None = None
    while True:
        asked = functools.partial(
            client.search_traces,
            locations=[experiment],
            filter_string=f"attributes.run_id = '{run}'",
            max_results=PAGE,
            page_token=token,
        )
        page = as_store_error(asked)
        yield from page
        token = page.token
        if not token:
            return


def _counts(assessment: Any, run: str) -> bool:
    """Whether it is a feedback that holds, of this run: several runs may have evaluated a trace."""
    feedback = getattr(assessment, "feedback", None) is not None
    return feedback and assessment.valid is not False and assessment.run_id in (None, run)


def _values(assessments: list[Any], name: str) -> list[float | str]:
    """The numbers of this name; a sentence in the place of what is none."""
    found: list[float | str] = []
    for one in assessments:
        if one.name != name:
            continue
        value = one.value.strip().lower() if isinstance(one.value, str) else one.value
        if one.error is not None:
            found.append(f"the scorer failed: {getattr(one.error, 'error_message', None) or one.error}")
        elif isinstance(value, bool) or finite(value) is not None:
            found.append(float(value))
        elif isinstance(value, str) and value in _WORDS:
            found.append(_WORDS[value])
        else:
            found.append(f"{str(one.value)[:80]!r} is no number, and neither yes nor no")
    return found


def _ranges(rows: list[Mapping[str, list[float | str]]]) -> dict[str, tuple[float, float]]:
    """By name, of those that have a number at all."""
    found: dict[str, tuple[float, float]] = {}
    for values in rows:
        for name, given in values.items():
            numbers = [value for value in given if not isinstance(value, str)]
            if not numbers:
                continue
            least, most = found.get(name, (0.0, 1.0))
            inside = least == 0.0 and most == 1.0 and min(numbers) >= 0.0 and max(numbers) <= 1.0
            found[name] = (0.0, 1.0) if inside else (-math.inf, math.inf)
    return dict(sorted(found.items()))


def _score(name: str, given: list[float | str] | None, ends: tuple[float, float]) -> Score:
    low, high = ends
    numbers = [value for value in given or () if not isinstance(value, str)]
    if numbers:
        return Score(metric=name, value=math.fsum(numbers) / len(numbers), low=low, high=high)
    said = next((value for value in given or () if isinstance(value, str)), "MLflow has no feedback of this name")
    cause = Cause.NOT_APPLICABLE if not given or "scorer failed" not in said else Cause.BUG
    return Score(metric=name, error=ScoreError(cause=cause, message=said), low=low, high=high)


def _sample(trace: Any) -> Sample:
    """What was asked, as one text; it is what pairs rows of two runs."""
    root = next((span for span in trace.data.spans if span.parent_id is None), None)
    inputs, outputs = (None, None) if root is None else (root.inputs, root.outputs)
    return Sample(
        question=value_as_text(inputs), answer=value_as_text(outputs), ids={"mlflow_trace_id": trace.info.trace_id}
    )
