"""The command `assay run`: run an application over questions, and score its answers."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import (
    JsonOption,
    JudgeOptions,
    MetricsOption,
    SlicesOption,
    StoreOption,
    column_map,
)
from assay.cli.output import say, say_json
from assay.cli.score_options import OutputOptions
from assay.cli.score_output import check_target, print_result
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.evaluation.targets.run import TargetRuns

OK, SCORES_MISSING = 0, 1
_HTTP = "HTTP endpoint"


@dataclass(frozen=True)
class AskingOptions:
    """How the application is asked."""

    repeats: Annotated[int, typer.Option(help="Answers to each question.")] = 1
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B", help="Values of an argument or template variable; repeatable. A run for each."
        ),
    ] = None
    target_version: Annotated[
        str | None, typer.Option(help="Version of the application. Default: a hash of a function's module.")
    ] = None
    call_timeout: Annotated[float, typer.Option(help="Seconds for one call.")] = 120.0
    attempts: Annotated[int | None, typer.Option(help="Calls until there is an answer. Default: 1, HTTP 3.")] = None
    requests_per_minute: Annotated[int | None, typer.Option(help="Calls a minute at most.")] = None
    concurrency: Annotated[int, typer.Option(help="Calls at the same time.")] = 8


@dataclass(frozen=True)
class HttpOptions:
    """The request, where the target is an address."""

    method: Annotated[str, typer.Option(rich_help_panel=_HTTP, help="GET, POST, PUT or PATCH.")] = "POST"
    template: Annotated[
        str | None,
        typer.Option(rich_help_panel=_HTTP, metavar="JSON", help='Request body. Default: {"question": "{question}"}.'),
    ] = None
    header: Annotated[
        list[str] | None, typer.Option(rich_help_panel=_HTTP, metavar="NAME: VALUE", help="A header; repeatable.")
    ] = None
    answer: Annotated[
        str | None, typer.Option(rich_help_panel=_HTTP, metavar="PATH", help="Path to the answer, as choices[0].text.")
    ] = None
    contexts: Annotated[
        str | None, typer.Option(rich_help_panel=_HTTP, metavar="PATH", help="Path to the passages, as docs[*].text.")
    ] = None


@grouped
def run(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a function, a chain or an engine; or a URL.")],
    data: Annotated[list[str], typer.Argument(help="Files of questions, as `assay score` reads them.")],
    *,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    asking: AskingOptions,
    http: HttpOptions,
    columns: Annotated[
        list[str] | None, typer.Option("--map", metavar="FIELD=COLUMN", help="Column of a field; repeatable.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run; the same name continues it after a kill.")] = None,
    note: Annotated[str | None, typer.Option(help="A sentence to keep with the run.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the runs of that name.")] = False,
    store: StoreOption = Path(".assay"),
    out: Annotated[Path | None, typer.Option(help="Write rows, scores and evidence as JSONL; of one run.")] = None,
    slices: SlicesOption = None,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Run an application over questions and score its answers."""
    from assay.cli.config_defaults import budget_meant, metrics_meant
    from assay.evaluation.targets import run as run_target
    from assay.evaluation.targets.run import combinations_of

    vary = _varied(asking.vary)
    several = len(combinations_of(vary)) > 1
    if out is not None:
        if several:
            raise InputError("--out: goes with one run; `assay data export` writes the others")
        check_target("--out", out, data)
    with _stdout_aside():
        runs = run_target(
            _target(target, http, asking.target_version),
            data[0] if len(data) == 1 else [Path(one) for one in data],
            metrics_meant(metrics),
            judge.resolve(),
            store=store,
            run=name,
            replace=replace,
            note=note,
            target_version=asking.target_version,
            repeats=asking.repeats,
            vary=vary,
            concurrency=asking.concurrency,
            call_timeout=asking.call_timeout,
            attempts=asking.attempts,
            requests_per_minute=asking.requests_per_minute,
            column_map=column_map(columns),
            limit=limit,
            progress=not quiet,
            budget=budget_meant(),
        )
    if as_json:
        say_json(_as_json(runs), indent=2)
    else:
        _print(runs, slices)
    for note_of_run in runs.notes:
        say(f"assay: {note_of_run}", aside=True)
    if out is not None:
        runs.result.to_jsonl(out)
        say(f"rows with evidence: {out}", aside=True)
    raise typer.Exit(_exit_code(runs))


def _print(runs: TargetRuns, slices: list[str] | None) -> None:
    for one in runs.runs:
        print_result(one.result, OutputOptions(slices=slices, cluster=_cluster(runs)), overview=False)
        say(str(one))
        say("")
    found = _compared(runs)
    if found is not None:
        say(str(found))


def _cluster(runs: TargetRuns) -> str | None:
    """Repeats of one question are correlated."""
    from assay.evaluation.targets.asking import ITEM

    return ITEM if runs.runs[0].repeats else None


def _compared(runs: TargetRuns) -> Any:
    """All runs with each other; None for one run, and for runs that have nothing in common."""
    from assay.analysis.comparison.matrix import compare_runs

    if len(runs.runs) < 2 or not runs.result.metrics:
        return None
    return compare_runs(runs.results, each=True, cluster=_cluster(runs))


def _as_json(runs: TargetRuns) -> dict[str, Any]:
    found = _compared(runs)
    return {**runs.to_dict(), **({} if found is None else {"comparison": found.to_dict()})}


def _exit_code(runs: TargetRuns) -> int:
    from assay.cli.score_output import exit_code

    return max(exit_code(one.result) for one in runs.runs)


def _target(target: str, http: HttpOptions, version: str | None) -> Any:
    from assay.cli.capture import find_object
    from assay.evaluation.targets.functions import FunctionTarget
    from assay.evaluation.targets.http_target import HttpTarget

    if target.startswith(("http://", "https://")):
        template = {"question": "{question}"} if http.template is None else _json_object(http.template)
        if "{question}" in target and http.template is None:
            template = {}
        return HttpTarget(target, method=http.method.upper(), template=template, headers=_headers(http.header),
                          answer=http.answer, contexts=http.contexts, version=version)  # fmt: skip
    if http != HttpOptions():
        raise InputError("--method, --template, --header, --answer, --contexts: go with the URL of an HTTP endpoint")
    return FunctionTarget(find_object(target), name=target, version=version)


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"--template: expected a JSON object, got {text[:80]!r}: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"--template: expected a JSON object, got {text[:80]!r}")
    return found


def _headers(given: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for header in given or ():
        key, colon, value = header.partition(":")
        if not colon or not key.strip():
            raise InputError("--header: expected NAME: VALUE")
        found[key.strip()] = value.strip()
    return found


def _varied(given: list[str] | None) -> dict[str, list[Any]]:
    """The values by name; what reads as a JSON number or boolean becomes one."""
    found: dict[str, list[Any]] = {}
    for one in given or ():
        key, sign, values = one.partition("=")
        if not (key and sign and values) or key in found:
            raise InputError(f"--vary: expected NAME=A,B with each name once, got {one!r}")
        found[key] = [_value(value.strip()) for value in values.split(",")]
    return found


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (bool, int, float)) else text


@contextlib.contextmanager
def _stdout_aside() -> Iterator[None]:
    """What the application prints, its child processes too, goes to stderr: stdout has the result alone."""
    sys.stdout.flush()
    with contextlib.redirect_stdout(sys.stderr):
        try:
            kept, aside = os.dup(1), sys.stderr.fileno()
        except (OSError, ValueError, AttributeError):  # a test's or an editor's streams have no descriptor
            yield
            return
        try:
            os.dup2(aside, 1)
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)
