"""Sessions of pytest-xdist: all workers put their scores into the run that the controlling process names."""

from __future__ import annotations

import secrets
import time
from typing import Any

import pytest


class Workers:
    """The hooks of pytest-xdist, and what they hand on."""

    def __init__(self, config: pytest.Config) -> None:
        given = getattr(config, "workerinput", {}).get("assay")
        new = time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(8)
        named: tuple[str, str] = given or (config.getoption("assay_run") or new, secrets.token_hex(8))
        self.run, self.session = named

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Before a worker starts."""
        node.workerinput["assay"] = (self.run, self.session)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """After a worker ended; with an error where it went down."""
        if error:
            from assay_pytest.collector import expected

            expected(node.config)
