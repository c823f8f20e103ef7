"""How far can I trust the judge on my data, and how do I set it right with 100 labels?

A judge that is too generous scores 240 answers. A person labels 100 of their claims: here a rule that knows the truth
stands in for the person, with your rows it is `assay data label`. Then: how well judge and person agree, what the mean
is by the person's measure, and the same answers scored again by the judge with a calibration, which costs nothing.

    python calibrate_a_judge.py
"""

import random
import tempfile
from pathlib import Path

from assay import evaluate
from assay.analysis.judges.alignment.alignment import align
from assay.analysis.judges.alignment.labelling_session import session
from assay.judges import Answer, BaseJudge
from assay.judges.calibrated import calibrated
from assay.records import Claim, Span, Verdict


class Generous(BaseJudge):
    """In place of a model: it says how likely a claim is, and thinks too well of all of them."""

    calls = 0

    @property
    def fingerprint(self):
        return "generous/1"

    async def answer(self, inquiries):
        self.calls += len(inquiries)
        return [Answer(judgement=self.judgement(inquiry)) for inquiry in inquiries]

    def judgement(self, inquiry):
        if inquiry.name == "claims":
            return (Claim(text=inquiry.text, span=Span(0, len(inquiry.text))),)
        return tuple(self.verdict(claim) for claim in inquiry.claims)

    def verdict(self, claim):
        probability = min(0.97, 0.35 + 0.6 * evidence_for(claim.text))
        return Verdict(
            label="supported" if probability >= 0.5 else "not_mentioned", probability=probability, claim=claim
        )


def evidence_for(text):
    return float(text.rsplit(" ", 1)[1].rstrip("."))


draw = random.Random(7)
rows = [
    {"id": f"a{n}", "question": "?", "contexts": ["..."], "answer": f"Answer {n} has evidence of {draw.random():.3f}."}
    for n in range(240)
]


def person(text):
    """What a careful reader says: supported where there is much evidence, with an error now and then."""
    return "s" if evidence_for(text) + random.Random(text).gauss(0, 0.12) > 0.6 else "n"


true = sum(person(row["answer"]) == "s" for row in rows) / len(rows)

with tempfile.TemporaryDirectory() as folder:
    judge, store = Generous(), Path(folder) / "store"
    result = evaluate(rows, "faithfulness", judge, store=store, progress=False)

    # with a person at the keyboard: assay data label -n 100
    shown: list[str] = []
    labels = Path(folder) / "labels.jsonl"
    keys = session(
        result, labels, n=100, say=shown.append, read=lambda: person(shown[-1].split("CLAIM: ")[1].split("\n")[0])
    )
    keys.run()

    # assay judge align labels.jsonl --write calibration.json
    found = align(result, labels)
    print(found)
    found.calibration().save(Path(folder) / "calibration.json")

    # assay score answers.jsonl --calibration calibration.json
    asked = judge.calls
    again = evaluate(
        rows, "faithfulness", calibrated(judge, Path(folder) / "calibration.json"), store=store, progress=False
    )
    corrected = found.means["answer/contexts"]

print(f"\nthe judge says        {result.metrics['faithfulness'].mean:.3f}")
print(f"corrected by labels   {corrected}")
print(f"the calibrated judge  {again.metrics['faithfulness'].mean:.3f}, with {judge.calls - asked} calls more")
print(f"the person, of all    {true:.3f}")
