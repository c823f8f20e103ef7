"""Which of two retrievers should I ship, and what is wrong with the other one?

Both are asked the same questions about the same passages. One counts the words that a passage shares with a question,
so passages full of common ones win; the other weighs rare words more. The generator is the same: it
repeats the passage that stands first. Then: is the second better than chance would have it, and why did rows fail?

    python compare_two_retrievers.py

Offline: the embedded judge. On the command line the same is

    assay score counting.jsonl --name counting
    assay score rarity.jsonl --name rarity
    assay compare counting rarity
    assay causes counting --top 1 --read
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial

from assay import Result, evaluate
from assay.analysis.comparison.compare import compare
from assay.analysis.diagnosis import find_causes
from assay.metrics import AnswerCorrectness, ContextRecall

#: Questions, and the passage that answers each. All is made up.
SHELF = (
    ("What year was the Marrow lighthouse first lit?", "The Marrow lighthouse was first lit in 1823."),
    ("Who designed the Halden footbridge?", "Ilse Brandt designed the Halden footbridge."),
    ("What is the height of the Corran dam?", "The Corran dam has a height of 61 metres."),
    ("What do the kilns at Orsk produce?", "The kilns at Orsk produce roof tiles."),
    ("What is the fee for parking at Fennel beach?", "The fee for parking at Fennel beach is 4 euros."),
    ("Which river turns the Talbot mill?", "The river Aune turns the Talbot mill."),
    ("What colour is the Vesper orchid?", "The Vesper orchid is pale yellow."),
    ("On which day is the Quill library closed?", "The Quill library is closed on Mondays."),
    ("Who owns the Sorrel ferry?", "The town of Wick owns the Sorrel ferry."),
    ("What is the Tamber theatre made of?", "The Tamber theatre is made of limestone."),
    ("How many bells hang in the Ludlow tower?", "Nine bells hang in the Ludlow tower."),
    ("Who won the Pellam regatta in 2011?", "Anton Reve won the Pellam regatta in 2011."),
    ("What is the Ormond cheese wrapped in?", "The Ormond cheese is wrapped in nettle leaves."),
    ("What is the depth of the Nimue lake?", "The Nimue lake has a depth of 140 metres."),
    ("Who composed the Harrow suite?", "Clara Munt composed the Harrow suite."),
    ("What is the Bexley tunnel used for?", "The Bexley tunnel is used for storing wine."),
)  # fmt: skip
#: Passages full of the words that questions are made of, and that answer none.
CHAFF = (
    "What it is for is what it is, and the rest of it is up to the town.",
    "What is what is on the map of the valley.",
)
PASSAGES = (*CHAFF, *(passage for _, passage in SHELF))
SHOWN = 2  # passages for each question


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


SPREAD = Counter(word for passage in PASSAGES for word in set(words(passage)))  # in how many passages a word stands


def counting(question: str, passage: str) -> float:
    return sum(word in words(question) for word in words(passage))


def rarity(question: str, passage: str) -> float:
    return sum(math.log(len(PASSAGES) / SPREAD[word]) for word in set(words(question)) & set(words(passage)))


def scored(name: str, fit: Callable[[str, str], float]) -> Result:
    """The run of a retriever: what it finds, and what the generator makes of it."""
    rows = []
    for number, (question, reference) in enumerate(SHELF, 1):
        found = sorted(PASSAGES, key=partial(fit, question), reverse=True)[:SHOWN]
        row = {"id": f"q{number}", "question": question, "contexts": found, "answer": found[0], "reference": reference}
        rows.append(row)
    return evaluate(rows, [ContextRecall(), AnswerCorrectness(weights=(1, 0))], run=name, replace=True, progress=False)


first, second = scored("counting", counting), scored("rarity", rarity)
comparison = compare(first, second)
print(comparison)

# the generator reads no further than the first passage; what single passages say is read where it is not known
causes = find_causes(first, judge="embedded", read=True, top=1)
print(f"\nwhy {causes.failed} of {causes.rows} rows of the first failed:")
for label, share in causes.shares.items():
    example = next(cause for cause in causes.per_row.values() if cause.label == label)
    print(f"  {share:.0%} {label}, for example row {example.row}: {example.because}")

verdict = comparison.metrics["answer_correctness"].verdict
print(f"\nrarity is {verdict}: " + ("ship it" if verdict == "better" else "keep counting, or ask more questions"))
