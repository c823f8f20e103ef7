"""What MLflow lets a metric be called: it ends a whole evaluation over a name that it does not allow."""

from __future__ import annotations

import os
import re

#: MLflow refuses names with these; on Windows with colons too, since its file stores have a file for each metric.
_REFUSED = re.compile(r"[^\w/.\- :]")
_REFUSED_ON_WINDOWS = re.compile(r"[^\w/.\- ]")


def allowed(name: str) -> str:
    """The name with a stop for each character that is not allowed: "ragas:faithfulness.original"."""
    return (_REFUSED_ON_WINDOWS if os.name == "nt" else _REFUSED).sub(".", name)
