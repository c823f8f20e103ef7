"""Should this pull request be merged? Its answers are held against those of the main branch, on the same questions.

A new prompt makes the model end its answers with a friendly remark. On most questions the remark is about something
that no passage says. Is that worse than chance, and which answers show it?

    python gate_a_pull_request.py

Offline: the embedded judge. On the command line the same is

    assay score main.jsonl --name main
    assay score pull-request.jsonl --name pull-request
    assay gate pull-request --baseline main --fail-below faithfulness=0.5 --max-drop faithfulness=0.02
"""

from __future__ import annotations

from typing import Any

from assay import Gate, GateRule, check, evaluate
from assay.data.demo import answers

REMARK = " Visitors from abroad enter free of charge on Sundays."

main = answers()
pull_request: list[dict[str, Any]] = [
    {**row, "answer": row["answer"].rstrip(". ") + "." + REMARK} if number % 4 else row
    for number, row in enumerate(main)
]

baseline = evaluate(main, "faithfulness", run="main", replace=True)
candidate = evaluate(pull_request, "faithfulness", run="pull-request", replace=True)

gate = Gate(
    (
        GateRule("faithfulness", "at_least", 0.4),  # of these answers
        GateRule("faithfulness", "max_drop", 0.02),  # against the main branch, beyond chance
    )
)
decision = check(gate, candidate, baseline, witnesses=3)
print(decision)

# the same system, scored again: nothing may stop this merge
unchanged = evaluate(main, "faithfulness", run="unchanged", replace=True)
print("\n" + check(gate, unchanged, baseline).headline)
print(f"\na CI job would end with exit code {decision.exit_code}")
