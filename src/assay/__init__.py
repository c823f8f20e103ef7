"""assay scores retrieval-augmented answers with located evidence.

    from assay import evaluate
    result = evaluate("answers.jsonl", metrics=["faithfulness", "context_recall"])
    print(result)

Importing this module loads nothing but itself; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; a test holds it to the table below
    from assay import metrics as metrics
    from assay.budgets.budget import Budget as Budget
    from assay.budgets.budget import Prices as Prices
    from assay.capture.recording import carry_context as carry_context
    from assay.capture.recording import record_context as record_context
    from assay.cascades import calibrate as calibrate
    from assay.errors import AssayError as AssayError
    from assay.errors import Cause as Cause
    from assay.errors import Detached as Detached
    from assay.errors import InputError as InputError
    from assay.errors import JudgeFailure as JudgeFailure
    from assay.errors import MissingExtra as MissingExtra
    from assay.evaluation import EvaluationInterrupted as EvaluationInterrupted
    from assay.evaluation import aevaluate as aevaluate
    from assay.evaluation import evaluate as evaluate
    from assay.guarding.decision import GuardBlocked as GuardBlocked
    from assay.guarding.decision import GuardDecision as GuardDecision
    from assay.guarding.decision import GuardHealth as GuardHealth
    from assay.guarding.guards import Guard as Guard
    from assay.guarding.guards import guard as guard
    from assay.inquiries.ask import Ask as Ask
    from assay.judges.base import BaseJudge as BaseJudge
    from assay.judges.batch.judge import AnthropicBatchJudge as AnthropicBatchJudge
    from assay.judges.batch.judge import OpenAIBatchJudge as OpenAIBatchJudge
    from assay.judges.cascade.judge import CascadeJudge as CascadeJudge
    from assay.judges.deciding.judge import DecisionsJudge as DecisionsJudge
    from assay.judges.deciding.judge import SystemOneJudge as SystemOneJudge
    from assay.judges.embedded.judge import EmbeddedJudge as EmbeddedJudge
    from assay.judges.scripted import ScriptedJudge as ScriptedJudge
    from assay.judges.writing.judge import TextJudge as TextJudge
    from assay.judges.writing.openai import OpenAIJudge as OpenAIJudge
    from assay.live.sampling import Rule as Rule
    from assay.live.sampling import Sampling as Sampling
    from assay.live.scorer import LiveScorer as LiveScorer
    from assay.live.spool import Spool as Spool
    from assay.live.worker import Worker as Worker
    from assay.metrics.functions import metric as metric
    from assay.records import Claim as Claim
    from assay.records import Context as Context
    from assay.records import Evidence as Evidence
    from assay.records import Message as Message
    from assay.records import Sample as Sample
    from assay.records import Score as Score
    from assay.records import ScoredSample as ScoredSample
    from assay.records import Span as Span
    from assay.records import ToolCall as ToolCall
    from assay.records import Turn as Turn
    from assay.records import Unscored as Unscored
    from assay.records import Usage as Usage
    from assay.records import Verdict as Verdict
    from assay.result import Result as Result
    from assay.sinks.jsonl import JsonlSink as JsonlSink
    from assay.store import Store as Store

__version__ = "0.1.0"

#: The public names, by the module that each is loaded from when it is first used.
_HOMES = {
    "assay.budgets.budget": "Budget Prices",
    "assay.capture.recording": "carry_context record_context",
    "assay.cascades": "calibrate",
    "assay.errors": "AssayError Cause Detached InputError JudgeFailure MissingExtra",
    "assay.evaluation": "EvaluationInterrupted aevaluate evaluate",
    "assay.guarding.decision": "GuardBlocked GuardDecision GuardHealth",
    "assay.guarding.guards": "Guard guard",
    "assay.inquiries.ask": "Ask",
    "assay.judges.base": "BaseJudge",
    "assay.judges.batch.judge": "AnthropicBatchJudge OpenAIBatchJudge",
    "assay.judges.cascade.judge": "CascadeJudge",
    "assay.judges.deciding.judge": "DecisionsJudge SystemOneJudge",
    "assay.judges.embedded.judge": "EmbeddedJudge",
    "assay.judges.scripted": "ScriptedJudge",
    "assay.judges.writing.judge": "TextJudge",
    "assay.judges.writing.openai": "OpenAIJudge",
    "assay.live.sampling": "Rule Sampling",
    "assay.live.scorer": "LiveScorer",
    "assay.live.spool": "Spool",
    "assay.live.worker": "Worker",
    "assay.metrics.functions": "metric",
    "assay.records": "Claim Context Evidence Message Sample Score ScoredSample Span ToolCall Turn Unscored "
    "Usage Verdict",
    "assay.result": "Result",
    "assay.sinks.jsonl": "JsonlSink",
    "assay.store": "Store",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME_OF, "metrics"]

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these

    def __getattr__(name: str) -> Any:
        if name == "metrics":
            return import_module("assay.metrics")
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module 'assay' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(home), name)
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
