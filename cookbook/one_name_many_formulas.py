"""Which "faithfulness" do I mean, and what would another tool say of the same answer?

Several systems call different formulas by one name. Here one answer is measured under all of them that the embedded
judge can do, offline; each line says in which step a formula parts from ours. Then the numbers of two systems as they
give them themselves, also where they have nothing to measure.

    python one_name_many_formulas.py
"""

from assay import Context, EmbeddedJudge, Sample, evaluate
from assay.analysis.lens import look

ANSWER = Sample(
    question="When did the museum open?",
    contexts=(Context(text="The museum opened in 1931. It was built by Ada Lund."),),
    answer="The museum opened in 1931. It has two floors.",
)

lens = look(ANSWER, "faithfulness", EmbeddedJudge())
low, high = lens.span or (0.0, 0.0)
print(f"one answer, {low:.2f} to {high:.2f}:")
for seen in lens.seen:
    if seen.score.measured:
        print(f"  {seen.definition.metric:32} {seen.score.value:.2f}  {seen.difference or 'as ours'}")

REFUSAL = {
    "id": "refusal",
    "question": "Who wrote Hamlet?",
    "contexts": ["It opened in 1931."],
    "answer": "I don't know.",
}
metrics = ["faithfulness", "ragchecker:faithfulness@original", "deepeval:faithfulness@original"]
result = evaluate([REFUSAL], metrics, store=None)
print("\nan answer that states nothing:")
for score in next(iter(result)).scores.values():
    print(f"  {score}")
