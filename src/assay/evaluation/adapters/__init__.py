"""assay's metrics for somebody else's evaluation: MLflow's scorers, Phoenix's and LangSmith's evaluators.

The integrations translate: what their tool hands over becomes a sample (`values`), and an annotation becomes the tool's
own result. Everything between is here: one judge whose judgements all metrics share, from any number of threads and
event loops, and a result for every case, with a value or with the cause why there is none (`panel`, `desk`).
"""

from assay.evaluation.adapters.adapter import MetricAdapter, PanelOptions
from assay.evaluation.adapters.values import sample_of_columns, sample_of_values

__all__ = ["MetricAdapter", "PanelOptions", "sample_of_columns", "sample_of_values"]
