"""A decision as JUnit XML: a test case for each rule, which fails, or errs where nothing can be told."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from assay.gates.decision import Decision, Ruling
from assay.terminal import printable

#: What XML 1.0 cannot hold, however it is written.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(decision: Decision) -> str:
    """The XML as a text."""
    verdicts = [one.verdict for one in decision.rulings]
    counts = f'tests="{len(verdicts)}" failures="{verdicts.count("FAIL")}" errors="{verdicts.count("INCONCLUSIVE")}"'
    cases = "".join(_case(one) for one in decision.rulings)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f"<testsuite name={_attribute(f'assay gate {decision.run}')} {counts}>\n{cases}</testsuite>\n</testsuites>\n"
    )


def _case(ruling: Ruling) -> str:
    head = f'<testcase classname="assay.gate" name={_attribute(str(ruling.rule))}>'
    if ruling.verdict == "PASS":
        return f"{head}<system-out>{_text(ruling.because)}</system-out></testcase>\n"
    tag = "failure" if ruling.verdict == "FAIL" else "error"
    said = f"<{tag} message={_attribute(ruling.because)}>{_text(str(ruling))}</{tag}>"
    return f"{head}{said}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", printable(text))
