"""assay's metrics for the evaluations of other tools: MLflow's scorers; evaluators of Phoenix, LangSmith and others.

The integrations translate: the values of a tool become a row (`values`), and an annotation becomes the tool's own
result. Everything between is here: one judge whose judgements all metrics share, from any number of threads and event
loops, and a result for every case, with a value or with the cause why there is none (`adapter`, `shared_judge`). A
value that cannot be read is an error of its field, and each metric that needs the field is skipped (`host_row`).
"""

from assay.evaluation.adapters.adapter import MetricAdapter, PanelOptions
from assay.evaluation.adapters.host_row import HostRow, message_of, read_host_row, score_host_row
from assay.evaluation.adapters.values import row_of_columns, row_of_values, text_argument

__all__ = [
    "HostRow",
    "MetricAdapter",
    "PanelOptions",
    "message_of",
    "read_host_row",
    "row_of_columns",
    "row_of_values",
    "score_host_row",
    "text_argument",
]
