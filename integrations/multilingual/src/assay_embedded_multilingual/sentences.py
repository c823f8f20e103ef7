"""Where a stop ends no sentence, though the next word has a capital: German, Spanish, French, Italian, Portuguese."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LAST = re.compile(r"(\S{1,20})\.\Z")
_FIRST = re.compile(r"\W{0,3}(\w{1,20})")
_ABBREVIATIONS = _words(
    """abb abs allg anm art aufl bd bes betr bspw bzgl bzw ca chr dgl dipl dr einschl engl etc evtl exkl fa fam fr frl
    ggf gegr geb hl hr hrsg inkl insb jh jhd kath kfm kgl lat max med min mio mrd nr phil prof rd rer sog spez st std
    str tel tsd ver vgl vorm vs zzgl
    admón apdo art atte av avda cap cf cía col cra dept depto dr dra drs ed ee.uu ej etc excmo fdo fig gral hnos ing
    izq lic ltda mons máx mín nro núm obs pág págs pd prof pza rep rte sr sra sras sres srta sta sto tel ud uds vol vs
    avv cap cfr dott dr ecc egr es fig ing min op pag pagg prof sig sigg sig.ra spett ss vol
    adr al apr app art av bd bibl cap cf ch chap coll dép dr env éd etc ex fig ill inf jr kg max me mgr min mlle mlles
    mm mme mmes obs op pl pp prof réf rem sté suiv sup tél trad trim univ vol vve"""
)
#: "z. B.", "d. h.", "v. Chr.", "p. 12"; but "18 h." ends a sentence.
_LETTERS = frozenset("dinopsuvz")
_AFTER_LETTER = re.compile(r"[^\W\d_]\.|Chr\b|\d")
#: After a number of the day or of the century: "am 3. Oktober", "im 19. Jahrhundert".
_AFTER_ORDINAL = _words(
    """januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert
    jahrhunderts jahrtausend jahrestag geburtstag tag klasse platz mal lebensjahr stock etage bundestag weltkrieg
    kapitel absatz spieltag runde quartal halbjahr jh"""
)


def goes_on(before: str, after: str) -> bool:
    """Whether a text that ends with a stop goes on in the next: "z. B." and "Montag", "am 3." and "Oktober"."""
    last, first = _LAST.search(before[-25:]), _FIRST.match(after[:25])
    if last is None or first is None:
        return False
    word = last[1].lstrip("(„\"'«¿¡").lower()
    if word.isdigit() and len(word) <= 2:
        return first[1].lower() in _AFTER_ORDINAL
    return word in _ABBREVIATIONS or (word in _LETTERS and _AFTER_LETTER.match(after) is not None)
