"""Why samples failed, whether refusals were right, and what state the retrieved passages are in.

    from assay.causes import find_causes
    print(find_causes(Result.load("last")))

Everything is worked out from findings that a run has already; what is missing is said to be missing, or read when
asked.
"""

from assay.causes.finding import find_causes as find_causes
from assay.causes.records import LABELS as LABELS
from assay.causes.records import Causes as Causes
from assay.causes.records import RootCause as RootCause
