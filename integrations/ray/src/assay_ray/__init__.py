"""Scores RAG traces on a Ray cluster: the shards, the folder and the budget of `assay score --jobs`, with Ray's actors
as workers."""

import os
import sys

if "ray" not in sys.modules and "RAY_ADDRESS" not in os.environ:
    # Under `uv run` Ray has workers made anew by uv, from a copy of the working directory. Those of a cluster on this
    # machine have the environment of their driver. Read when Ray is imported; who imports it before decides.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")

from assay_ray.engine import Ray
from assay_ray.scoring import score

__all__ = ["Ray", "score"]
