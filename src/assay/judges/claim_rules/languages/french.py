"""French."""

from __future__ import annotations

import re

from assay.judges.claim_rules.languages.patterns import AGAIN, ENDS, FEW, LanguagePatterns
from assay.judges.claim_rules.refusals import any_of

_TEXT = (
    r"(?:(?:le|la|les|ce|cette|ces) |l')?(?:textes?|contextes?|passages?|documents?|sources?|articles?|extraits?)"
    r"(?: (?:fourni|donn[ée]|disponible)\w{0,3})?"
)

FRENCH = LanguagePatterns(
    lead=re.compile(
        r"(?:(?:(?:je suis )?d[ée]sol[ée]e?|malheureusement|h[ée]las|excusez-moi|pardon)\b ?[,.!:]? ?"
        r"|(?:selon|d'apr[eè]s|sur la base de) [\w' ]{1,40}, )"
    ),
    refusal=any_of(
        rf"(?:je|nous) (?:ne |n')?(?:le )?(?:sais|savons) pas"
        rf"(?:{ENDS}|,? (?:(?:si|quand|o[uù]|comment|combien|pourquoi|quel(?:le)?s?)\b|s'il))",
        rf"(?:je|nous) (?:ne |n')(?:(?:peux|pouvons|suis|sommes) pas) {FEW % 4}"
        r"(?:r[ée]pondre|d[ée]terminer|dire|trouver|savoir|aider|confirmer|fournir|pr[ée]ciser)\b",
        rf"(?:je|nous) (?:n'ai|n'avons|ne dispose|ne disposons|ne trouve) (?:pas|aucune) {FEW % 3}"
        r"(?:d')?(?:informations?|donn[ée]es|r[ée]ponse|d[ée]tails|id[ée]e)\b",
        rf"il n'y a (?:pas|aucune?) {FEW % 2}"
        r"(?:d')?(?:informations?|donn[ée]es|mention|d[ée]tails|r[ée]ponse|indication)\b",
        rf"(?:dans )?{_TEXT} (?:ne |n'){FEW % 1}(?:mentionne|pr[ée]cise|indique|donne|dit|disent|contient|contiennent"
        r"|fournit|fournissent|r[ée]pond|r[ée]pondent)(?:nt)? (?:pas|aucune?|rien)\b",
        rf"(?:cela|ceci|ce|[cç]a|cette information) (?:n'est|ne) {FEW % 1}(?:pas |est |figure )"
        rf"{FEW % 2}(?:mentionn[ée]e?|pr[ée]cis[ée]e?|indiqu[ée]e?|dans)\b",
        r"aucune (?:information|r[ée]ponse|donn[ée]e|mention)\b",
    ),
    goes_on=re.compile(
        rf"{AGAIN}|,|\b(?:et|ou) (?:[\w'-]+ ){{2}}[\w'-]"
        r"|\b(?:que|qui|qu'|dont|mais|cependant|toutefois|parce|car|donc|sauf|bien que)(?:\b|(?<='))"
    ),
    talk=any_of(
        r"merci(?: beaucoup)? pour (?:votre|ta|la) (?:question|demande|patience)\b",
        r"(?:bien s[uû]r|certainement|bonjour|merci(?: beaucoup)?|de rien|je vous en prie|volontiers|avec plaisir)\b",
        r"bonne question\b|j'esp[eè]re que (?:cela|[cç]a) (?:vous |t')?aide\b",
        r"voici (?:la|une|le|un) (?:r[ée]ponse|r[ée]sum[ée])",
    ),
    answers=frozenset({"oui", "non", "si", "exact", "vrai", "faux"}),
)
