"""How do I use assay's metrics as scorers in `mlflow.genai.evaluate`?

Name them. Here MLflow runs a small application, traces it, and scores what it answered; the contexts are read from the
span of its retriever, the scores come from the embedded judge, and everything stays on this machine. The second answer
makes up a price, the third question finds nothing. Needs `pip install mlflow`.

    python mlflow_evaluation.py [TRACKING_URI]     a SQLite file in a temporary folder, if none is named
"""

import os
import re
import sys
from tempfile import TemporaryDirectory

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

import mlflow
from assay_mlflow import scorers
from mlflow.entities import Document

SHELF = {
    "eddystone": "The Eddystone lighthouse was built by John Smeaton and first lit in 1759.",
    "hoe": "The upper part of the tower stands on Plymouth Hoe, where visitors may climb it.",
}
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
    found = {name: text for name, text in SHELF.items() if words & set(re.findall(r"\w{5,}", text.lower()))}
    return [Document(page_content=text, id=name) for name, text in found.items()]


@mlflow.trace
def application(question: str) -> str:
    """Looks up, and answers; a real one would ask a model with what it found."""
    search(question)
    return ANSWERS[question]


def main(tracking_uri: str) -> None:
    mlflow.set_tracking_uri(tracking_uri)
    mlflow.set_experiment("lighthouses")
    rows = [
        {"inputs": {"question": question}, "expectations": {"expected_response": answer}}
        for question, answer in zip(ANSWERS, ["In 1759.", "On Plymouth Hoe.", "Shakespeare."], strict=True)
    ]
    result = mlflow.genai.evaluate(
        data=rows, predict_fn=application, scorers=scorers("faithfulness", "context_relevance_passage")
    )
    for trace in mlflow.search_traces(run_id=result.run_id, return_type="list"):
        print("\n" + str(trace.data.spans[0].inputs["question"]))
        for one in trace.info.assessments:
            if one.name == "faithfulness":
                print(one.rationale)
    print({name: round(float(value), 3) for name, value in sorted(result.metrics.items())})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            main(f"sqlite:///{folder}/mlflow.db")
