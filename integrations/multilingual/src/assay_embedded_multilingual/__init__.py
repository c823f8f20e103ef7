"""A reader of claims in further languages, which assay's embedded judge takes where it is installed.

from assay_embedded_multilingual import load

models = load()
models.support([("Spanien gewann die WM 2010.", "Spanien wurde 2010 Weltmeister.")])
"""

from assay_embedded_multilingual.runtime import LANGUAGES, MultilingualReader, fingerprint, load

languages = LANGUAGES

__all__ = ["MultilingualReader", "fingerprint", "languages", "load"]
