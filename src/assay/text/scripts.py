"""Sentence marks and closing marks of the world's scripts, shared by the splitters."""

from __future__ import annotations

import re

#: Full-width marks: these also end a sentence where no space follows.
CJK_ENDS = "。！？｡"
#: Marks of other scripts that mean nothing but the end of a sentence (Arabic, Urdu, Devanagari, Ethiopic, Burmese,
#: Khmer, Armenian, Syriac, Tibetan, Mongolian, Meetei Mayek, Canadian syllabics, Vai, N'Ko, Ol Chiki, Sinhala).
OTHER_ENDS = "؟۔।॥።፧፨။។៕։܀܁܂།༎᠃᠉꫰꯫᙮꘎꘏߹᱾᱿෴"
#: Marks that end a sentence only before a space; the full stop has many other uses.
WEAK_ENDS = ".!?…‼⁇⁈⁉．"

CLOSING = "\"'”’»›」』）)\\]}〉》】〕*_"  # for use inside a character class
#: German and its neighbours close with the marks English opens with; before a space they can only be closing.
CLOSING_BEFORE_SPACE = CLOSING + "“‘«‹"

CJK = re.compile(r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef\U00020000-\U0003ffff]")
#: Written without spaces between words and without full stops; a space is the only border there is.
SPACED_CLAUSES = re.compile(r"[\u0e00-\u0eff]")  # Thai, Lao

#: "[12]", "[3, 5-7]", and several of them.
REFERENCES = r"(?:\[[\d,;\s–—-]{1,80}\])"
