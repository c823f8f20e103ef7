"""mlflow, imported late and quietly."""

from __future__ import annotations

import os
import sys
from types import ModuleType

_SETTING = "MLFLOW_DISABLE_TELEMETRY"


def quiet_mlflow() -> ModuleType:
    """The module. Importing it takes seconds, and sets up telemetry where nobody switched that off.

    Where the application has imported mlflow, its settings hold. Where it is imported on our behalf, it is without
    telemetry: nobody asked for that.
    """
    if "mlflow" in sys.modules:
        return sys.modules["mlflow"]
    before = os.environ.get(_SETTING)
    os.environ[_SETTING] = "true"
    try:
        import mlflow
    finally:
        if before is None:
            del os.environ[_SETTING]
        else:
            os.environ[_SETTING] = before
    module: ModuleType = mlflow
    return module
