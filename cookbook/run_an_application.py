"""Which of two settings of my application answers better, and how much do its answers vary?

The application is a function; a LangChain chain, a LlamaIndex engine or a URL works in the same way. Offline: the
embedded judge. On the command line the same is

    assay run app:answer questions.jsonl --metrics faithfulness --vary k=1,2 --repeats 2
"""

from assay import compare_runs, run

SHELF = [
    "The Marrow lighthouse was first lit in 1823.",
    "The Corran dam has a height of 61 metres.",
    "The Vesper orchid is pale yellow.",
    "The Tamber theatre is made of limestone.",
]
QUESTIONS = [
    {"question": "When was the Marrow lighthouse first lit?", "reference": "It was first lit in 1823."},
    {"question": "How high is the Corran dam?", "reference": "It is 61 metres high."},
    {"question": "What colour is the Vesper orchid?", "reference": "It is pale yellow."},
]


def answer(question: str, k: int = 1) -> dict[str, object]:
    """Search the k passages with the most words in common, and answer with the last one."""
    words = set(question.lower().rstrip("?").split())
    ranked = sorted(SHELF, key=lambda passage: -len(words & set(passage.lower().rstrip(".").split())))
    return {"answer": ranked[k - 1], "contexts": ranked[:k], "cost": 0.001 * k}


runs = run(answer, QUESTIONS, ["faithfulness", "answer_correctness"], vary={"k": [1, 2]}, repeats=2)
for one in runs.runs:
    print(one)
print(compare_runs(runs.results, cluster="question_id"))
