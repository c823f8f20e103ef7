"""Spanish."""

from __future__ import annotations

import re

from assay.judges.claim_rules.languages.patterns import AGAIN, ENDS, FEW, LanguagePatterns
from assay.judges.claim_rules.refusals import any_of

_TEXT = (
    r"(?:(?:el|la|los|las|este|esta|estos|estas) )?"
    r"(?:textos?|contextos?|pasajes?|documentos?|fuentes?|art[ií]culos?|fragmentos?)"
    r"(?: (?:proporcionad|dad|disponibl|facilitad)\w{1,3})?"
)
_ASKED = r"(?:si|cu[aá]ndo|qui[eé]n(?:es)?|d[oó]nde|c[oó]mo|qu[eé]|cu[aá]l(?:es)?|cu[aá]nt[oa]s?)\b"

SPANISH = LanguagePatterns(
    lead=re.compile(
        r"(?:(?:lo siento(?: mucho)?|lamentablemente|desafortunadamente|por desgracia|disculpe|perd[oó]n|pues)\b"
        r"[,.!:]? ?"
        r"|(?:seg[uú]n|de acuerdo con|con base en|bas[aá]ndome en) [\w ]{1,40}, )"
    ),
    refusal=any_of(
        rf"(?:yo )?no (?:lo )?s[eé]\b(?! (?:pag|hac|pued|permit|cobr|aplic)\w*)(?:{ENDS}|,? {_ASKED})",
        rf"no (?:puedo|podemos|pude) {FEW % 2}(?:responder|contestar|determinar\w*|saber\w*|decir|encontrar|ayudar\w*"
        r"|confirmar|proporcionar|indicar)\b",
        rf"no (?:es posible|se puede) {FEW % 2}(?:responder|contestar|determinar\w*|saber\w*)\b",
        rf"no (?:tengo|tenemos|dispongo de|hay|existe|existen|se encontr[oó]|encuentro|encontr[eé]) {FEW % 2}"
        r"(?:informaci[oó]n|datos|detalles|menci[oó]n|respuesta|indicios)\b",
        rf"(?:en )?{_TEXT} no (?:lo )?(?:se )?(?:menciona|indica|dice|especifica|contiene|proporciona|incluye|responde"
        r"|aclara|ofrece)n?\b",
        r"(?:eso |esto |ello )?no (?:se|est[aá]) (?:menciona|indica|especifica|dice)(?:do)?\b",
    ),
    goes_on=re.compile(
        rf"{AGAIN}|, (?!{_ASKED})|\b(?:y|e|o) (?:[\w'-]+ ){{2}}[\w'-]"
        r"|\b(?:que|cuyo|pero|sino|aunque|porque|excepto|salvo)\b"
    ),
    talk=any_of(
        r"¡?(?:muchas )?gracias por (?:su|tu|la) (?:pregunta|consulta|paciencia)\b",
        r"¡?(?:claro(?: que s[ií])?|por supuesto|hola|buenos d[ií]as|(?:muchas )?gracias|de nada|con gusto)\b",
        r"¡?buena pregunta\b|¡?espero que (?:esto |te |le ){0,2}(?:sirva|ayude)\b",
        r"aqu[ií] (?:est[aá]|tienes|tiene) (?:la|una|el|un) (?:respuesta|resumen)\b",
    ),
    answers=frozenset({"sí", "si", "no", "correcto", "cierto", "falso", "exacto"}),
)
