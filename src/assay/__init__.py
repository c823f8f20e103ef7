"""assay scores retrieval-augmented answers with located evidence.

    from assay import evaluate
    result = evaluate("answers.jsonl", metrics=["faithfulness", "context_recall"])
    print(result)

Importing this module loads nothing but itself; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay._util.lazy_exports import lazy_exports, names_by_module
from assay._util.version import __version__ as __version__

if TYPE_CHECKING:  # for editors and type checkers; a test holds it to the table below
    from assay import metrics as metrics
    from assay.analysis.comparison.compare import compare as compare
    from assay.analysis.comparison.matrix import compare_runs as compare_runs
    from assay.analysis.gates.checking import check as check
    from assay.analysis.gates.decision import GateDecision as GateDecision
    from assay.analysis.gates.rules import Gate as Gate
    from assay.analysis.gates.rules import GateRule as GateRule
    from assay.analysis.judges.alignment.alignment import align as align
    from assay.analysis.judges.calibrate_cascade import calibrate as calibrate
    from assay.capture.record_context import carry_context as carry_context
    from assay.capture.record_context import record_context as record_context
    from assay.data import open_data as open_data
    from assay.errors import AssayError as AssayError
    from assay.errors import Cause as Cause
    from assay.errors import InputError as InputError
    from assay.errors import JudgeFailure as JudgeFailure
    from assay.errors import MissingExtra as MissingExtra
    from assay.evaluation.evaluate import EvaluationInterrupted as EvaluationInterrupted
    from assay.evaluation.evaluate import aevaluate as aevaluate
    from assay.evaluation.evaluate import evaluate as evaluate
    from assay.evaluation.result import Result as Result
    from assay.evaluation.targets.run import run as run
    from assay.judges.budget.budget import Budget as Budget
    from assay.judges.cascade.judge import CascadeJudge as CascadeJudge
    from assay.judges.embedded.judge import EmbeddedJudge as EmbeddedJudge
    from assay.judges.llm.judge import TextJudge as TextJudge
    from assay.judges.llm.openai import OpenAIJudge as OpenAIJudge
    from assay.judges.scripted_judge import ScriptedJudge as ScriptedJudge
    from assay.live.guards.decision import GuardBlocked as GuardBlocked
    from assay.live.guards.threshold_guard import Guard as Guard
    from assay.live.guards.threshold_guard import guard as guard
    from assay.live.sampling import Sampling as Sampling
    from assay.live.scorer import LiveScorer as LiveScorer
    from assay.metrics.base import Metric as Metric
    from assay.metrics.decorator import metric as metric
    from assay.records import Context as Context
    from assay.records import Evidence as Evidence
    from assay.records import Message as Message
    from assay.records import Sample as Sample
    from assay.records import Score as Score
    from assay.records import ScoredSample as ScoredSample
    from assay.records import ScoreError as ScoreError
    from assay.records import ToolCall as ToolCall
    from assay.report.inline import show_report as show_report
    from assay.sinks.jsonl import JsonlSink as JsonlSink
    from assay.store.store import Store as Store

#: The public names, by the module that each is loaded from when it is first used.
_HOMES = {
    "assay.judges.budget.budget": "Budget",
    "assay.capture.record_context": "carry_context record_context",
    "assay.analysis.comparison.compare": "compare",
    "assay.analysis.comparison.matrix": "compare_runs",
    "assay.analysis.gates.checking": "check",
    "assay.analysis.gates.decision": "GateDecision",
    "assay.analysis.gates.rules": "Gate GateRule",
    "assay.analysis.judges.alignment.alignment": "align",
    "assay.analysis.judges.calibrate_cascade": "calibrate",
    "assay.data": "open_data",
    "assay.errors": "AssayError Cause InputError JudgeFailure MissingExtra",
    "assay.evaluation.evaluate": "EvaluationInterrupted aevaluate evaluate",
    "assay.live.guards.decision": "GuardBlocked",
    "assay.live.guards.threshold_guard": "Guard guard",
    "assay.judges.cascade.judge": "CascadeJudge",
    "assay.judges.embedded.judge": "EmbeddedJudge",
    "assay.judges.scripted_judge": "ScriptedJudge",
    "assay.judges.llm.judge": "TextJudge",
    "assay.judges.llm.openai": "OpenAIJudge",
    "assay.live.sampling": "Sampling",
    "assay.live.scorer": "LiveScorer",
    "assay.metrics.base": "Metric",
    "assay.metrics.decorator": "metric",
    "assay.records": "Context Evidence Message Sample Score ScoredSample ToolCall ScoreError",
    "assay.evaluation.result": "Result",
    "assay.evaluation.targets.run": "run",
    "assay.report.inline": "show_report",
    "assay.sinks.jsonl": "JsonlSink",
    "assay.store.store": "Store",
}

__all__ = [*names_by_module(_HOMES), "metrics"]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    _load, __dir__ = lazy_exports(globals(), _HOMES)

    def __getattr__(name: str) -> Any:
        return import_module("assay.metrics") if name == "metrics" else _load(name)
