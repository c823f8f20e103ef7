"""Why an application ended without a sample, said once for each: what would otherwise be missing in silence."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from assay.capture.answer_text import find_answer_key, removed
from assay.capture.answering_call import calls_of
from assay.capture.assemble import NO_EXCHANGE, answer_in, find_question, status_of
from assay.capture.evaluators import is_evaluator
from assay.capture.rules import CaptureRules
from assay.capture.tree import Run, Trace
from assay.records.messages import is_message

log = logging.getLogger("assay.capture")

NAMES = 200  # names of roots that are remembered; of others nothing is said any more
KEYS = 12  # keys named in one line

_said: dict[str, object] = {}


def log_missing_answer(trace: Trace, rules: CaptureRules | None = None) -> bool:
    """Log why this trace gave no sample, and what would help: once per process and name of the root. True: logged.

    Nothing is said of parts of an application that run on their own, of evaluators, of what called no model and
    searched nothing, and of graphs that wait for a human.
    """
    name = str(trace.root.name or trace.root.kind)[:80]
    if name in _said or len(_said) >= NAMES:
        return False
    why = why_unanswered(trace, rules or CaptureRules())
    if why is None:
        return False
    mine = object()
    if _said.setdefault(name, mine) is not mine:  # another thread was first
        return False
    log.warning("assay: %r gave no sample: %s. Said once for each name", name, why)
    return True


def why_unanswered(trace: Trace, rules: CaptureRules) -> str | None:
    """Why a trace that ended well gave no sample, and which rule would help; None where there is nothing to say."""
    root = trace.root
    if root.kind in NO_EXCHANGE or is_evaluator(root) or status_of(trace) != "complete":
        return None
    if answer_in(trace, rules) is not None:  # a rule left it out
        return None
    if not calls_of(trace) and not any(run.kind in ("retriever", "tool") for run in trace.runs.values()):
        return None
    if rules.answer_run is not None:
        return _by_rule(trace, rules)
    if rules.answer_key is not None:
        return f"there is no text under CaptureRules(answer_key={rules.answer_key!r}); {_keys(root.outputs)}"
    if isinstance(root.outputs, str) or is_message(root.outputs):  # with no text in it: it would be the answer
        return _without_text(trace)
    if not isinstance(root.outputs, Mapping):
        return f"its output is {_kind(root)}, and no text; CaptureRules(answer_run=) can name the run of the answer"
    if removed(root):
        return "its messages are all removed; CaptureRules(answer_run=) can name the run of the answer"
    fitting = find_answer_key(trace, root)
    if len(fitting.keys) > 1:
        listed = " and ".join(map(repr, fitting.keys[:KEYS]))
        return f"its answer may stand under {listed}; say which: CaptureRules(answer_key={fitting.keys[0]!r})"
    if fitting.keys and find_question(trace, rules) is None:
        return (
            f"a model wrote what stands under {fitting.keys[0]!r}, but nothing was asked; if it is an answer, say so: "
            f"CaptureRules(answer_key={fitting.keys[0]!r}), and CaptureRules(question_key=) for the question"
        )
    return f"it ended without an answer under a known name; {_keys(root.outputs)}; CaptureRules(answer_key=) names it"


def _without_text(trace: Trace) -> str:
    calls = calls_of(trace)
    if calls and not any(isinstance(run.outputs, str) and run.outputs.strip() for run in calls):
        return "the model wrote no text, as where it only calls a tool or fills in a structure"
    return "its output is an empty text; CaptureRules(answer_run=) can name the run of the answer"


def _by_rule(trace: Trace, rules: CaptureRules) -> str:
    if not any(run.name == rules.answer_run for run in trace.runs.values()):
        return f"no run is named {rules.answer_run!r}, as CaptureRules(answer_run=) says"
    return f"the output of the run {rules.answer_run!r} is no text; CaptureRules(answer_key=) can name a key of it"


def _keys(outputs: object) -> str:
    if not isinstance(outputs, Mapping):
        return "its output has no keys"
    keys = sorted(str(key)[:40] for key in outputs)
    return f"its keys are {', '.join(keys[:KEYS])}{' …' if len(keys) > KEYS else ''}" if keys else "its output is empty"


def _kind(root: Run) -> str:
    return "nothing" if root.outputs is None else f"a {type(root.outputs).__name__}"
