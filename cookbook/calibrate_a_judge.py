"""How far can I trust the judge on my data, and how do I correct it with 100 labels?

A generous judge scores 240 answers; a rule labels 100 claims, in place of a person and `assay data label -n 100`.
"""

import random
import re
import tempfile
from pathlib import Path

from assay import align, evaluate
from assay.analysis.judges.alignment.labelling_session import session
from assay.judges import Answer, BaseJudge, calibrate_judge
from assay.records import Claim, Span, Verdict


class Generous(BaseJudge):
    """In place of a model: it gives every claim too high a probability."""

    calls = 0

    @property
    def fingerprint(self):
        return "generous/1"

    async def answer(self, prompts):
        self.calls += len(prompts)
        return [Answer(judgement=self.judgement(prompt)) for prompt in prompts]

    def judgement(self, prompt):
        whole = Claim(text=prompt.text, span=Span(0, len(prompt.text))) if prompt.name == "claims" else None
        return (whole,) if whole else tuple(self.verdict(claim) for claim in prompt.claims)

    def verdict(self, claim):
        p = min(0.97, 0.35 + 0.6 * float(claim.text[-6:-1]))
        return Verdict(label="supported" if p >= 0.5 else "not_mentioned", probability=p, claim=claim)


def person(text):  # supported where there is much evidence, with an error now and then
    return "s" if float(text[-6:-1]) + random.Random(text).gauss(0, 0.12) > 0.6 else "n"


draw = random.Random(7)
answers = [f"Answer {n} has evidence of {draw.random():.3f}." for n in range(240)]
rows = [{"id": f"a{n}", "question": "?", "contexts": ["..."], "answer": text} for n, text in enumerate(answers)]

with tempfile.TemporaryDirectory() as folder:
    judge, store, labels, lines = Generous(), Path(folder, "store"), Path(folder, "labels.jsonl"), list[str]()
    result = evaluate(rows, "faithfulness", judge, store=store, progress=False)
    session(result, labels, n=100, say=lines.append, read=lambda: person(re.findall("CLAIM: (.*)", lines[-1])[0])).run()
    alignment = align(result, labels)  # assay judge align labels.jsonl
    print(alignment)
    calls, better = judge.calls, calibrate_judge(judge, alignment.calibration())  # assay score ... --calibration
    again = evaluate(rows, "faithfulness", better, store=store, progress=False)

print(f"\nthe judge says        {result.metrics['faithfulness'].mean:.3f}")
print(f"corrected by labels   {alignment.means['answer/contexts']}")
print(f"the calibrated judge  {again.metrics['faithfulness'].mean:.3f}, with {judge.calls - calls} calls more")
print(f"the person, of all    {sum(person(text) == 's' for text in answers) / len(rows):.3f}")
