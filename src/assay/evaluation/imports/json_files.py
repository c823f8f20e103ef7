"""Result files in which each row has its scores inside: DeepEval, RAGChecker, LlamaIndex, Bedrock, OpenAI's evals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.data import RowError, open_data
from assay.data.files import json_of_file
from assay.errors import InputError
from assay.evaluation.imports.scales import Stated
from assay.evaluation.imports.scored_samples import ImportedRun, ImportedScores, ImportedValue, parse_value, run_of
from assay.records import Direction, Sample

#: Where `assay.data.openai_evals.read` keeps what the graders said.
NAMED = "openai_evals"
#: What of a test case of DeepEval is the sample; ids there are numbers of the rows.
_CASE = {
    "input": "question",
    "actualOutput": "answer",
    "expectedOutput": "reference",
    "retrievalContext": "contexts",
    "context": "reference_contexts",
    "additionalMetadata": "metadata",
    "metadata": "metadata",
}


def open_deepeval(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The scores in a test run that DeepEval saved (`DEEPEVAL_RESULTS_FOLDER`, `.deepeval/.latest_test_run.json`)."""
    cases = _object("deepeval", address).get("testCases")
    if not isinstance(cases, list):
        raise InputError(f"{address}: expected a test run of DeepEval, an object with a list 'testCases'")
    return run_of("deepeval", address, [_case(one, address, n) for n, one in enumerate(cases, 1)], scales)


def _case(case: Any, address: str, number: int) -> ImportedScores:
    case = _mapping(case, address, number)
    found: dict[str, ImportedValue] = {}
    for one in case.get("metricsData") or ():
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
            continue
        judge = one.get("evaluationModel")
        judge = judge if isinstance(judge, str) else None
        if one.get("error"):
            found[one["name"]] = ImportedValue(f"the metric failed: {str(one['error'])[:200]}", judge)
        else:
            found[one["name"]] = parse_value(one.get("score"), judge, _good_end(one))
    return ImportedScores({name: case[key] for key, name in _CASE.items() if case.get(key) is not None}, found)


def _good_end(one: Mapping[str, Any]) -> Direction | None:
    """What a verdict shows: DeepEval's versions differ in whether a high hallucination is a bad one."""
    score, threshold, success = one.get("score"), one.get("threshold"), one.get("success")
    if not isinstance(success, bool) or not isinstance(score, float | int) or not isinstance(threshold, float | int):
        return None
    if score == threshold:  # which passes whatever end is good
        return None
    return "higher" if (score > threshold) is success else "lower"


def open_ragchecker(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The metrics of each result in a file that RAGChecker wrote; the means beside them are not read."""
    results = _object("ragchecker", address).get("results")
    if not isinstance(results, list):
        raise InputError(f"{address}: expected what RAGChecker writes, an object with a list 'results'")
    rows = []
    for number, one in enumerate(results, 1):
        result = _mapping(one, address, number)
        metrics = result.get("metrics")
        rows.append(
            ImportedScores(
                {
                    "id": result.get("query_id"),
                    "question": result.get("query"),
                    "answer": result.get("response"),
                    "reference": result.get("gt_answer"),
                    "contexts": result.get("retrieved_context"),
                },
                {str(name): parse_value(value) for name, value in metrics.items()}
                if isinstance(metrics, Mapping)
                else {},
            )
        )
    return run_of("ragchecker", address, rows, scales)


def open_llamaindex(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """What `BatchEvalRunner` gives, saved as JSON: a list of evaluation results for each evaluator's name.

    Results of several evaluators are of one row where query and response are the same.
    """
    rows: dict[tuple[Any, Any, int], ImportedScores] = {}
    for name, results in _object("llamaindex", address).items():
        if not isinstance(results, list):
            raise InputError(f"{address}: {name!r}: expected the list of an evaluator's results")
        seen: dict[tuple[Any, Any], int] = {}
        for number, one in enumerate(results, 1):
            result = _mapping(one, address, number)
            asked = (str(result.get("query")), str(result.get("response")))
            seen[asked] = seen.get(asked, 0) + 1
            sample = {
                field: result.get(key)
                for field, key in (("question", "query"), ("contexts", "contexts"), ("answer", "response"))
            }
            found = parse_value(result.get("score"))
            if result.get("invalid_result"):
                found = ImportedValue(f"the result is invalid: {result.get('invalid_reason') or 'no reason given'}")
            kept = rows.setdefault((*asked, seen[asked]), ImportedScores(sample, {}))
            rows[(*asked, seen[asked])] = ImportedScores(kept.row, {**kept.given, str(name): found})
    return run_of("llamaindex", address, list(rows.values()), scales)


def open_bedrock(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The results that an evaluation job of Amazon Bedrock wrote (`assay.data.bedrock.read` reads the rows)."""
    rows = []
    for sample in _samples("bedrock", address):
        found = sample.metadata.get("bedrock_scores")
        scores = {name: parse_value(value) for name, value in found.items()} if isinstance(found, Mapping) else {}
        rows.append(ImportedScores(sample, scores))
    return run_of("bedrock", address, rows, scales)


def open_openai_evals(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """What graders of OpenAI's hosted evals found: whether they passed, or their score where its scale is stated.

    Their scores are on whatever scale a grader was given. Rows are the same by the data source's item.
    """
    scales = scales or {}
    rows = []
    for sample in _samples("openai-evals", f"openai-evals:{address}"):
        about = sample.metadata.get(NAMED)
        results = about.get("results") if isinstance(about, Mapping) else None
        found: dict[str, ImportedValue] = {}
        for one in results if isinstance(results, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get("name"), str):
                key = "score" if one["name"] in scales else "passed"
                found[one["name"]] = parse_value(one.get(key))
        rows.append(ImportedScores(_without_id(sample), found))
    passing = {name: (0.0, 1.0) for row in rows for name in row.given if name not in scales}
    return run_of("openai-evals", address, rows, {**passing, **scales})


def _without_id(sample: Sample) -> Sample:
    """Without its id, which is that of the output item: no two runs share one."""
    about = sample.metadata.get(NAMED)
    item = about.get("datasource_item_id") if isinstance(about, Mapping) else None
    return replace(sample, id=str(item) if isinstance(item, (int, str)) and str(item) else None)


def _samples(system: str, address: str) -> Iterator[Sample]:
    if not address.removeprefix(f"{system}:").strip():
        raise InputError(f"{system}: expected a file, as in {system}:results.jsonl")
    for _, sample in open_data(address):
        if isinstance(sample, RowError):
            raise InputError(f"{address}: {sample.message}")
        yield sample


def _object(system: str, address: str) -> Mapping[str, Any]:
    """The object in a file of JSON. Raises InputError for anything else."""
    path = Path(address).expanduser()
    if not address.strip() or not path.is_file():
        raise InputError(f"{system}: expected a file of JSON, as in {system}:results.json; found {address!r}")
    found = json_of_file(path)
    if not isinstance(found, Mapping):
        raise InputError(f"{address}: expected an object, as {system} writes it")
    return found


def _mapping(value: Any, address: str, number: int) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{address}: row {number}: expected an object")
    return value
