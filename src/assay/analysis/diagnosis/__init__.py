"""Why samples failed, whether refusals were right, and what state the retrieved passages are in.

    from assay.analysis.diagnosis import find_causes
    print(find_causes(Result.load("last")))

Everything is worked out from judgements that a run has already; what is missing is said to be missing, or read when
asked.
"""

from assay.analysis.diagnosis.causes import find_causes as find_causes
from assay.analysis.diagnosis.labels import LABELS as LABELS
from assay.analysis.diagnosis.records import Causes as Causes
from assay.analysis.diagnosis.records import RootCause as RootCause
