"""Which of two retrievers should I ship, and what is wrong with the other one?

`counting` counts the words that a passage shares with the question; `rarity` gives rare words more weight. The
generator repeats the first passage. Offline: the embedded judge. On the command line the same is

    assay score counting.jsonl --name counting
    assay score rarity.jsonl --name rarity
    assay compare counting rarity
    assay causes counting --top 1 --read
"""

import math
import re
from collections import Counter

from assay import Result, compare, evaluate
from assay.analysis.diagnosis import find_causes
from assay.metrics import AnswerCorrectness, ContextRecall

SHELF = {
    "What year was the Marrow lighthouse first lit?": "The Marrow lighthouse was first lit in 1823.",
    "What is the height of the Corran dam?": "The Corran dam has a height of 61 metres.",
    "What is the fee for parking at Fennel beach?": "The fee for parking at Fennel beach is 4 euros.",
    "What colour is the Vesper orchid?": "The Vesper orchid is pale yellow.",
    "What is the Tamber theatre made of?": "The Tamber theatre is made of limestone.",
    "How many bells hang in the Ludlow tower?": "Nine bells hang in the Ludlow tower.",
    "What is the Ormond cheese wrapped in?": "The Ormond cheese is wrapped in nettle leaves.",
    "What is the depth of the Nimue lake?": "The Nimue lake has a depth of 140 metres.",
    "What is the Bexley tunnel used for?": "The Bexley tunnel is used for storing wine.",
}
CHAFF = ["What it is for is what it is, and the rest of it is up to the town.", "What is what is on the map of it."]
PASSAGES = [*CHAFF, *SHELF.values()]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


SPREAD = Counter(word for passage in PASSAGES for word in set(words(passage)))


def search(question: str, rarity: bool) -> list[str]:
    weight = {w: math.log(len(PASSAGES) / SPREAD[w]) if rarity else 1 for w in words(question) if w in SPREAD}
    seen = set if rarity else list
    return sorted(PASSAGES, key=lambda text: sum(weight.get(word, 0) for word in seen(words(text))), reverse=True)[:2]


def score(name: str) -> Result:
    top = {question: search(question, name == "rarity") for question in SHELF}
    rows = [{"question": q, "contexts": found, "answer": found[0], "reference": SHELF[q]} for q, found in top.items()]
    return evaluate(rows, [ContextRecall(), AnswerCorrectness(weights=(1, 0))], run=name, replace=True, progress=False)


first, second = score("counting"), score("rarity")
print(compare(first, second))
causes = find_causes(first, {"answer_correctness": 0.5}, judge="embedded", read=True, top=1)  # it reads one passage
print(f"\nwhy {causes.failed} of {causes.rows} rows of the first failed:")
for label, share in causes.shares.items():
    example = next(cause for cause in causes.per_row.values() if cause.label == label)
    print(f"  {share:.0%} {label}, for example row {example.row}: {example.because}")
