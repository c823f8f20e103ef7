"""German."""

from __future__ import annotations

import re

from assay.judges.claim_rules.languages.patterns import AGAIN, ENDS, FEW, LanguagePatterns
from assay.judges.claim_rules.refusals import any_of

_TEXT = (
    r"(?:(?:de[rmn]|die|das|diese[nmrs]?|den|ihre[nmr]?|meine[nmr]?|gegebene[nmr]?|vorliegende[nmr]?"
    r"|bereitgestellte[nmr]?) ){0,3}"
    r"(?:texte?s?|kontexte?s?|passagen?|dokumente?n?|quellen?|unterlagen|abschnitte?n?|artikeln?|auszüge?n?)"
)
_ASKED = r"(?:ob|wann|wie|wer|wo|was|welche[nmrs]?|warum)\b"
_FACTS = r"(?:informationen?|angaben?|hinweise?|auskunft|daten)"

GERMAN = LanguagePatterns(
    lead=re.compile(
        r"(?:(?:leider|(?:es )?tut mir leid|entschuldigung|bedauerlicherweise|also|nun)\b[,.!:]? ?"
        r"|(?:auf (?:der )?grundlage|auf basis|anhand|basierend auf|laut|nach|gemäß) [\w ]{1,40}, )"
    ),
    refusal=any_of(
        rf"(?:das |es )?weiß ich {FEW % 1}nicht(?:{ENDS}|,? {_ASKED})",
        rf"(?:ich|wir) (?:weiß|wissen) (?:es |das |die antwort )?(?:leider )?nicht(?:{ENDS}|,? {_ASKED})",
        rf"(?:das|dies|es|die antwort|diese information) (?:geht|lässt sich|steht|ist|wird) {FEW % 1}"
        rf"(?:aus|in|im|anhand|nicht) {FEW % 6}(?:nicht|hervor|entnehmen|genannt|erwähnt|beantworten)\b",
        rf"(?:(?:ich|wir) (?:kann|können|konnte|konnten)|(?:kann|können|konnte|konnten) (?:ich|wir)) {FEW % 7}"
        rf"(?:nicht|keine?n?) {FEW % 5}(?:beantworten|sagen|finden|bestimmen|entnehmen|helfen)\b",
        rf"(?:(?:ich|wir) (?:habe|haben)|(?:habe|haben) (?:ich|wir)) {FEW % 3}keine {FEW % 2}"
        rf"(?:{_FACTS}|ahnung|kenntnis)\b",
        rf"(?:es )?gibt (?:es )?(?:dazu|darüber|hierzu|hierüber) {FEW % 2}keine {FEW % 1}{_FACTS}\b",
        rf"(?:dazu|darüber|hierzu|es|hierüber) (?:gibt es|liegen|liegt|gibt|sind|finden sich) {FEW % 3}keine {FEW % 2}"
        rf"{_FACTS}\b",
        rf"{_TEXT} (?:enthält|enthalten|nennt|nennen|erwähnt|erwähnen|sagt|sagen|beantwortet|beantworten) {FEW % 6}"
        r"(?:nicht|keine?[nr]?|nichts)\b",
        rf"(?:in|im) {_TEXT} (?:steht|stehen|findet|finden) {FEW % 4}(?:nichts|nicht|keine?n?)\b",
        rf"(?:in|im) {_TEXT} (?:ist|sind|wird|werden) {FEW % 4}(?:nicht|keine?n?) {FEW % 3}"
        r"(?:erwähnt|genannt|beschrieben|angegeben|beantwortet)\b",
        rf"aus {_TEXT} geht {FEW % 4}nicht hervor\b",
        rf"(?:keine|nicht genügend) (?:{_FACTS}|antwort)\b",
    ),
    goes_on=re.compile(
        rf"{AGAIN}|, (?!{_ASKED})"
        r"|\b(?:und|oder) (?:[\w'-]+ ){2}[\w'-]"
        r"|\b(?:aber|jedoch|sondern|allerdings|weil|denn|daher|deshalb|obwohl|außer|dass|dessen|deren)\b"
    ),
    talk=any_of(
        r"(?:(?:vielen )?dank|danke) für (?:ihre|deine|die) (?:\w{4,12} )?(?:frage|anfrage|nachricht|geduld)\b",
        r"(?:gerne?|natürlich|klar|sicher|selbstverständlich|hallo|guten tag|(?:vielen )?dank|danke)\b",
        r"bitte(?: sehr| schön)?\b",
        r"gute frage\b|ich hoffe,? das hilft(?: ihnen| dir)?(?: weiter)?\b",
        r"hier (?:ist (?:die|eine) (?:antwort|zusammenfassung)|sind die (?:antworten|informationen))\b",
    ),
    answers=frozenset({"ja", "nein", "jawohl", "doch", "genau", "richtig", "falsch"}),
)
