"""The configuration of a project: assay.toml, or the table [tool.assay] of its pyproject.toml."""

from assay.config.reading import Config as Config
from assay.config.reading import configuration as configuration
