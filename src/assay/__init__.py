"""assay scores retrieval-augmented answers with located evidence.

    from assay import evaluate
    result = evaluate("answers.jsonl", metrics=["faithfulness", "context_recall"])
    print(result)

Importing this module loads nothing but itself; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay import metrics as metrics
    from assay.budgets.budget import Budget as Budget
    from assay.budgets.budget import Prices as Prices
    from assay.capture.recording import carry_context as carry_context
    from assay.capture.recording import record_context as record_context
    from assay.cascades import calibrate as calibrate
    from assay.errors import AssayError as AssayError
    from assay.errors import Cause as Cause
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
    from assay.judges.base import BaseJudge as BaseJudge
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
    from assay.records import Claim as Claim
    from assay.records import Context as Context
    from assay.records import Evidence as Evidence
    from assay.records import Sample as Sample
    from assay.records import Score as Score
    from assay.records import ScoredSample as ScoredSample
    from assay.records import Span as Span
    from assay.records import Unscored as Unscored
    from assay.records import Usage as Usage
    from assay.records import Verdict as Verdict
    from assay.result import Result as Result
    from assay.sinks.jsonl import JsonlSink as JsonlSink
    from assay.store import Store as Store

__version__ = "0.1.0"

#: Where each public name lives.
_HOMES = {
    "AssayError": "assay.errors",
    "BaseJudge": "assay.judges.base",
    "Budget": "assay.budgets.budget",
    "CascadeJudge": "assay.judges.cascade.judge",
    "Cause": "assay.errors",
    "Claim": "assay.records",
    "Context": "assay.records",
    "DecisionsJudge": "assay.judges.deciding.judge",
    "EmbeddedJudge": "assay.judges.embedded.judge",
    "EvaluationInterrupted": "assay.evaluation",
    "Evidence": "assay.records",
    "Guard": "assay.guarding.guards",
    "GuardBlocked": "assay.guarding.decision",
    "GuardDecision": "assay.guarding.decision",
    "GuardHealth": "assay.guarding.decision",
    "InputError": "assay.errors",
    "JsonlSink": "assay.sinks.jsonl",
    "JudgeFailure": "assay.errors",
    "LiveScorer": "assay.live.scorer",
    "MissingExtra": "assay.errors",
    "OpenAIJudge": "assay.judges.writing.openai",
    "Prices": "assay.budgets.budget",
    "Result": "assay.result",
    "Rule": "assay.live.sampling",
    "Sample": "assay.records",
    "Sampling": "assay.live.sampling",
    "Score": "assay.records",
    "ScoredSample": "assay.records",
    "ScriptedJudge": "assay.judges.scripted",
    "Span": "assay.records",
    "Spool": "assay.live.spool",
    "Store": "assay.store",
    "SystemOneJudge": "assay.judges.deciding.judge",
    "TextJudge": "assay.judges.writing.judge",
    "Unscored": "assay.records",
    "Usage": "assay.records",
    "Verdict": "assay.records",
    "Worker": "assay.live.worker",
    "aevaluate": "assay.evaluation",
    "calibrate": "assay.cascades",
    "carry_context": "assay.capture.recording",
    "evaluate": "assay.evaluation",
    "guard": "assay.guarding.guards",
    "record_context": "assay.capture.recording",
}

__all__ = [*_HOMES, "metrics"]


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module("assay.metrics")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
