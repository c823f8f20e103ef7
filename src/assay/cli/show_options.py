"""Options of `assay show` for the table of a run."""

from __future__ import annotations

from dataclasses import dataclass

from assay.cli.options import BedrockOption, ClusterOption, CsvOption, SlicesOption
from assay.cli.score_options import OutputOptions


@dataclass(frozen=True)
class TableOptions:
    """What is shown or written of a whole run, as `assay score` does when a run ends."""

    slices: SlicesOption = None
    cluster: ClusterOption = None
    as_csv: CsvOption = None
    bedrock: BedrockOption = None

    @property
    def wanted(self) -> bool:
        """Whether any of these is given."""
        return self != TableOptions()

    def output(self, as_json: bool) -> OutputOptions:
        """The same as options of an output."""
        return OutputOptions(
            bedrock=self.bedrock, as_csv=self.as_csv, as_json=as_json, slices=self.slices, cluster=self.cluster
        )
