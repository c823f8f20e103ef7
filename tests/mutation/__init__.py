"""Does a test notice when one constant, operator or comparison of a formula is changed?

    python -m tests.mutation                   every room, and the formulas that they share: about an hour
    python -m tests.mutation --room ragas      one of them; with --write its rows of docs/evidence/mutation.md
    python -m tests.mutation --kept FOLDER     goes on where the last run with this folder stopped
    python -m tests.mutation --sample 2        two mutants of each room, by a seed, against the tests that bear its name

mutants.py      what is changed, and what is left out
kept.py         what one run leaves for the next
running.py      one pytest session that is forked for each mutant
equivalents.py  the mutants that no test can notice, each with its reason (equivalents.toml)
page.py         docs/evidence/mutation.md
"""
