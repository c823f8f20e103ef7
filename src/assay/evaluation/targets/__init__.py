"""Targets: run an application over a data set of questions, and score its answers.

    import assay
    runs = assay.run(answer, "questions.jsonl", ["faithfulness"])
    print(runs)

A target is a function, a LangChain runnable, a LlamaIndex engine or an HTTP endpoint. See `assay.run`.
"""

from assay.evaluation.targets.base import Answer as Answer
from assay.evaluation.targets.base import Target as Target
from assay.evaluation.targets.base import TargetFailure as TargetFailure
from assay.evaluation.targets.http_target import HttpTarget as HttpTarget
from assay.evaluation.targets.run import TargetRuns as TargetRuns
from assay.evaluation.targets.run import arun as arun
from assay.evaluation.targets.run import run as run

__all__ = ["Answer", "HttpTarget", "Target", "TargetFailure", "TargetRuns", "arun", "run"]
