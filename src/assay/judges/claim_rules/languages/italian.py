"""Italian."""

from __future__ import annotations

import re

from assay.judges.claim_rules.languages.patterns import AGAIN, ENDS, FEW, LanguagePatterns
from assay.judges.claim_rules.refusals import any_of

_TEXT = (
    r"(?:(?:il|lo|la|i|gli|le|questo|questa|questi|queste) |l')?"
    r"(?:test[oi]|contest[oi]|passagg[io]{1,2}|brani?o?|document[oi]|font[ei]|articol[oi]|estratt[oi])"
    r"(?: (?:fornit|dat|disponibil)\w{1,2})?"
)

ITALIAN = LanguagePatterns(
    lead=re.compile(
        r"(?:(?:mi dispiace|purtroppo|sfortunatamente|scusi|scusa|allora)\b[,.!:]? ?"
        r"|(?:secondo|in base a|sulla base di) [\w' ]{1,40}, )"
    ),
    refusal=any_of(
        rf"(?:io )?non (?:lo )?(?:so|sappiamo)(?:{ENDS}|,? (?:se|quando|dove|come|quanto|chi|quale)\b)",
        rf"non (?:posso|possiamo|riesco a|sono in grado di) {FEW % 2}(?:rispondere|determinare|dire|trovare|sapere"
        r"|aiutar\w*|confermare|fornire|indicare)\b",
        rf"non (?:è possibile|si può) {FEW % 2}(?:rispondere|determinare|sapere)\b",
        rf"non (?:ho|abbiamo|dispongo di|ci sono|c'è|esistono|risultano|trovo) {FEW % 2}"
        r"(?:informazion[ei]|dati|dettagli|menzione|risposta|indicazioni)\b",
        rf"(?:in |nel )?{_TEXT} non (?:lo )?(?:menziona|indica|dice|specifica|contiene|fornisce|include|risponde"
        r"|precisa|menzionano|indicano|dicono|specificano|contengono|forniscono|includono)\b",
        r"(?:questo |ciò )?non (?:è|viene) (?:menzionato|indicato|specificato|precisato)\b",
        r"nessuna (?:informazione|risposta|menzione)\b",
    ),
    goes_on=re.compile(
        rf"{AGAIN}|,|\b(?:e|ed|o) (?:[\w'-]+ ){{2}}[\w'-]"
        r"|\b(?:che|cui|ma|però|tuttavia|perché|quindi|tranne|eccetto|sebbene|anche se)\b"
    ),
    talk=any_of(
        r"grazie(?: mille)? per (?:la (?:sua |tua )?)?(?:domanda|richiesta|pazienza)\b",
        r"(?:certo|certamente|naturalmente|ciao|buongiorno|grazie(?: mille)?|prego|volentieri|con piacere)\b",
        r"(?:buona|bella) domanda\b|spero che (?:questo |ti |le |vi ){0,2}(?:aiuti|sia utile|sia d'aiuto)\b",
        r"ecco (?:la|una|il|un) (?:risposta|riassunto)\b",
    ),
    answers=frozenset({"sì", "si", "no", "esatto", "corretto", "vero", "falso"}),
)
