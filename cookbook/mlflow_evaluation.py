"""How do I use assay's metrics as scorers in `mlflow.genai.evaluate`?

Name them. Here MLflow runs a small application, traces it and scores it; the contexts are read from its retriever's
span. The second answer makes up a price; the third question finds nothing. Offline. Needs `pip install mlflow`.

    python mlflow_evaluation.py [TRACKING_URI]     a SQLite file in a temporary folder, if you name none
"""

import os
import re
import sys
from tempfile import TemporaryDirectory

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

import mlflow
from assay_mlflow import scorers
from mlflow.entities import Document

SHELF = (
    "The Eddystone lighthouse was built by John Smeaton and first lit in 1759.",
    "The upper part of the tower stands on Plymouth Hoe, where visitors may climb it.",
)
ANSWERS = {
    "When was the Eddystone lighthouse first lit?": "The Eddystone lighthouse was first lit in 1759.",
    "Where is the upper part of the tower?": "The upper part of the tower stands on Plymouth Hoe. "
    "A ticket costs 12 pounds on Sundays.",
    "Who wrote Hamlet?": "Shakespeare wrote it.",
}


@mlflow.trace(span_type="RETRIEVER")
def search(question: str) -> list[Document]:
    """The documents that share a long word with the question."""
    words = set(re.findall(r"\w{5,}", question.lower()))
    return [Document(page_content=text) for text in SHELF if words & set(re.findall(r"\w{5,}", text.lower()))]


@mlflow.trace
def application(question: str) -> str:
    """Look up and answer; a real application asks a model."""
    search(question)
    return ANSWERS[question]


with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    mlflow.set_tracking_uri(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("lighthouses")
    rows = [{"inputs": {"question": question}} for question in ANSWERS]
    metrics = scorers("faithfulness", "context_relevance_passage")
    result = mlflow.genai.evaluate(data=rows, predict_fn=application, scorers=metrics)
    for trace in mlflow.search_traces(run_id=result.run_id, return_type="list"):
        print("\n" + str(trace.data.spans[0].inputs["question"]))
        for one in trace.info.assessments:
            if one.name == "faithfulness":
                print(one.rationale)
    print({name: round(float(value), 3) for name, value in sorted(result.metrics.items())})
