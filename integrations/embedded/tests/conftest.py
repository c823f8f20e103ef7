"""The shipped models, opened once for all tests."""

from __future__ import annotations

import pytest
from assay_embedded import Models, load


@pytest.fixture(scope="session")
def models() -> Models:
    return load()
