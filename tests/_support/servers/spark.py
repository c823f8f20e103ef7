"""Spark for tests, in an environment of its own; Java has to be there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests._support.versions import Versions, environment

SPARK = Versions(
    name="spark",
    requirements=("pyspark>=4,<5", "pandas>=2.2,<3", "pyarrow>=17,<26"),
    members=(".", "integrations/embedded"),
)
JAVA = 17  # the oldest that Spark 4 runs on


def python() -> Path:
    """The Python of that environment, made when it is first asked for. Raises RuntimeError without a Java for it."""
    java = shutil.which("java")
    said = (
        "" if java is None else subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    )
    found = re.search(r'version "(\d+)', said)
    if found is None or int(found[1]) < JAVA:
        raise RuntimeError(f"Spark needs Java {JAVA} or newer")
    return environment(SPARK)
