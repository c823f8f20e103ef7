"""A LangChain application under `mlflow.langchain.autolog`, which patches LangChain: run in a process of its own.

    python autologged_app.py TRACKING_URI [scored]

Prints as JSON its experiment, and for each trace the question asked and the ids that MLflow gave to the trace and its
root span; with "scored", also the health of the handler that scored it.
"""

from __future__ import annotations

import json
import os
import sys
import uuid

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"

import mlflow

from conftest import chain

QUESTIONS = ("Why do cats purr?", "Do cats sing?", "What is a cat?")


def main(url: str, scored: bool) -> None:
    mlflow.set_tracking_uri(url)
    experiment = f"autolog-{uuid.uuid4().hex[:8]}"
    mlflow.set_experiment(experiment)
    mlflow.langchain.autolog()
    handler = scoring(url) if scored else None
    traces = []
    for question in QUESTIONS:
        chain(f"An answer to: {question}").invoke(question, config={"callbacks": [handler] if handler else []})
        trace = mlflow.get_trace(mlflow.get_last_active_trace_id(), flush=True)
        (root,) = (span for span in trace.data.spans if span.parent_id is None)
        traces.append({"question": question, "mlflow_trace_id": trace.info.trace_id, "mlflow_span_id": root.span_id})
    told = {"experiment": experiment, "traces": traces}
    if handler is not None:
        handler.flush(120)
        told["health"] = handler.close(30).to_dict()
    print(json.dumps(told))


def scoring(url: str):
    """A handler that finds every claim supported, and writes the scores to MLflow."""
    from assay_langchain import AssayCallbackHandler
    from assay_mlflow import MlflowSink

    from assay.judges.scripted_judge import ScriptedJudge

    judge = ScriptedJudge(support=lambda claim, passage: "supported", name="openai/model")
    return AssayCallbackHandler("faithfulness", judge, sinks=[MlflowSink(url)])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] == ["scored"])
