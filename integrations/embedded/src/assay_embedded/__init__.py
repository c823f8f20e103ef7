"""The models of assay's embedded judge: offline, on the CPU, no key.

from assay_embedded import load

models = load()
models.relevance([("When did the war end?", "The war ended in 1945.")])
"""

from assay_embedded.errors import FileCorrupt
from assay_embedded.runtime import Models, load
from assay_embedded.support import SupportReading

languages = ("en",)

__all__ = ["FileCorrupt", "Models", "SupportReading", "languages", "load"]
