"""Reading texts by offset: sentences, quotes and windows. Nothing here changes a character of the text."""

from assay.text.quotes import locate, locate_parts
from assay.text.sentences import split_sentences
from assay.text.windows import windows

__all__ = ["locate", "locate_parts", "split_sentences", "windows"]
