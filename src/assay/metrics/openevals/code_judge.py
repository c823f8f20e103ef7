"""openevals' judge of code: is the code in the answer right, the text around it left out?

    1 where the judge says that it is, else 0; 0 where the answer has no block of code

Range 0 to 1, higher is better. The code is what stands between lines of three backticks, all blocks together; blocks of
shell commands and JSON are left out. By assay's profile an answer without one has no value. Source: openevals 0.2.2,
`create_code_llm_as_judge` with code_extraction_strategy="markdown_code_blocks"; without extraction it is
"code_correctness".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.openevals.llm_as_judge import LlmAsJudge
from assay.metrics.openevals.rubrics import RUBRICS, Rubric
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample, Score

#: Languages of blocks that are commands or data.
NO_CODE = frozenset({"bash", "sh", "shell", "zsh", "fish", "console", "terminal", "json"})
FENCE = "```"
_OPENS = re.compile(r"```(\w*)")


def code_in(text: str) -> str | None:
    """The code in the blocks of a text, with a line break between them; None where there is none."""
    blocks: list[str] = []
    lines = text.split("\n")
    language: str | None = None
    begun: list[str] = []
    for line in lines:
        if language is None:
            found = _OPENS.fullmatch(line)
            language, begun = (found[1] if found else None), []
        elif line == FENCE:
            if language not in NO_CODE:
                blocks.append("".join(f"{one}\n" for one in begun))
            language = None
        else:
            begun.append(line)
    return "\n".join(blocks) if blocks else None


@dataclass(frozen=True)
class CodeJudge(LlmAsJudge):
    """Whether the code in the answer does what the question asks."""

    conventions: ClassVar = {Cause.NOT_APPLICABLE: 0.0}

    rubric: Rubric = RUBRICS["code_correctness"]

    @property
    def name(self) -> str:  # type: ignore[override]  # one of its own
        return "openevals:code_llm_as_judge"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        code = code_in(sample.answer or "")
        if code is None:
            return self.skip(Cause.NOT_APPLICABLE, "the answer has no block of code")
        return await super().measure(replace(sample, answer=code), judge)


ENTRIES = (
    Entry(
        make=CodeJudge,
        source="openevals.code.create_code_llm_as_judge",
        compared="openevals 0.2.2",
        family="code correctness",
        steps=Steps("the code of the answer", "the question", "code correctness", "yes 1, no 0"),
        empty="0",
        example={"answer": "```python\nprint(1931)\n```"},
    ),
)
