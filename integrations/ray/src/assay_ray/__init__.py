"""Scores RAG traces on a Ray cluster: the shards, the folder and the budget of `assay score --jobs`, with Ray's actors
as workers."""

from assay_ray.engine import Ray
from assay_ray.scoring import score

__all__ = ["Ray", "score"]
