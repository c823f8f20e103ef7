"""TruLens' two measures of citations: one rating of the whole answer each.

    citation_accuracy      level / 3: are the citations borne out, in whatever form they are, and does none lack?
    citation_attribution   0 or 1: does every marker [N] name a passage that supports what it is put to?

Range 0 to 1, higher is better. trulens 2.16.0. Accuracy counts a missing citation against the answer, attribution does
not; one wrong marker makes attribution 0. Assay's own `citation_accuracy` says which citation is wrong.
"""

from __future__ import annotations

from assay.metrics.trulens.judge_rating import JudgeRating, entry

ACCURACY = JudgeRating(
    name="trulens:citation_accuracy",
    question="How accurate are the citations of the ANSWER, whatever their form (numbers, names, links, notes)? Each "
    "claim that is cited must be supported by the passage it is ascribed to. A citation that is made up, that names "
    "a passage which does not support the claim, or that is missing from a claim which a passage supports, is a "
    "fault. Judge nothing but the citations.",
    lowest="the citations are made up, name passages that do not support their claims, or are missing",
    highest="every claim is supported by the passage cited for it, and no citation is missing",
    reads=("contexts", "answer"),
)

ATTRIBUTION = JudgeRating(
    name="trulens:citation_attribution",
    question="Does each marker [N] in the ANSWER name a passage that supports the very claim the marker is put to? [1] "
    "is PASSAGE P1, [2] is PASSAGE P2, and so on. That another passage would support the claim does not help. A claim "
    "without a marker is no fault. Judge by the passages alone, not by what is known otherwise.",
    lowest="at least one marker names a passage that does not support its claim",
    highest="every marker names a passage that supports its claim",
    reads=("contexts", "question", "answer"),
    max_score_val=1,
)

ENTRIES = tuple(
    entry(made, family="citations", unit="the whole answer", against="each passage cited")
    for made in (ACCURACY, ATTRIBUTION)
)
