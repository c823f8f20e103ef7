"""The frameworks' own test suites, run with assay attached: `python -m tests.frameworks`, see `__main__.py`."""
