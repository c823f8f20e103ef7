"""Claims without a language model: the sentences of a text, less those that state nothing.

plain.py            one plain form of a sentence, and the signs of a clause of its own
refusals.py         sentences that say no more than that something is not known
statement_model.py  the same, and talk, by a linear model: English, German, Spanish, French
statements.py       which sentences state something: all but refusals, real questions, small talk and lead-ins
sources.py          citations and talk of the sources around a statement
headings.py         headings and lead-ins, and the items that hang on them
yes_no.py           "Yes." as the answer to its question
languages/          the little that is known by rule of German, Spanish, French, Italian and Portuguese
extract.py          a text into its claims
"""

from assay.judges.claim_rules.extract import RULES, sentence_claims
from assay.judges.claim_rules.refusals import refuses
from assay.judges.claim_rules.statements import states_something
from assay.judges.claim_rules.yes_no import as_answer

__all__ = ["RULES", "as_answer", "refuses", "sentence_claims", "states_something"]
