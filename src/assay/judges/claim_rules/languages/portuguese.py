"""Portuguese."""

from __future__ import annotations

import re

from assay.judges.claim_rules.languages.patterns import AGAIN, ENDS, FEW, LanguagePatterns
from assay.judges.claim_rules.refusals import any_of

_TEXT = (
    r"(?:(?:o|a|os|as|este|esta|estes|estas|esse|essa) )?"
    r"(?:textos?|contextos?|passage(?:m|ns)|trechos?|documentos?|fontes?|artigos?|excertos?)"
    r"(?: (?:fornecid|dad|disponíve)\w{1,2})?"
)

PORTUGUESE = LanguagePatterns(
    lead=re.compile(
        r"(?:(?:desculpe|sinto muito|lamento|infelizmente|perd[aã]o|bem)\b[,.!:]? ?"
        r"|(?:segundo|de acordo com|com base em) [\w ]{1,40}, )"
    ),
    refusal=any_of(
        rf"(?:eu )?n[aã]o (?:o )?(?:sei|sabemos)(?:{ENDS}|,? (?:se|quando|onde|como|quanto|quem|qual)\b)",
        rf"n[aã]o (?:posso|podemos|consigo|conseguimos) {FEW % 2}(?:responder|determinar|dizer|encontrar|saber|ajudar"
        r"|confirmar|fornecer|indicar)\b",
        rf"n[aã]o (?:é possível|se pode) {FEW % 2}(?:responder|determinar|saber)\b",
        rf"n[aã]o (?:tenho|temos|disponho de|há|existe|existem|encontro|encontrei) {FEW % 2}"
        r"(?:informaç(?:ão|ões)|dados|detalhes|menção|resposta|indicações)\b",
        rf"(?:em |no |na )?{_TEXT} n[aã]o (?:o )?(?:menciona|indica|diz|especifica|cont[ée]m|fornece|inclui|responde"
        r"|esclarece)m?\b",
        r"(?:isso |isto )?n[aã]o (?:é|está) (?:mencionado|indicado|especificado)\b",
        r"nenhuma (?:informação|resposta|menção)\b",
    ),
    goes_on=re.compile(
        rf"{AGAIN}|,|\b(?:e|ou) (?:[\w'-]+ ){{2}}[\w'-]"
        r"|\b(?:que|cujo|mas|por[ée]m|contudo|porque|pois|portanto|exceto|salvo|embora)\b"
    ),
    talk=any_of(
        r"(?:muito )?obrigad[oa] pela (?:sua |tua )?(?:pergunta|mensagem|paciência)\b",
        r"(?:claro(?: que sim)?|com certeza|olá|bom dia|(?:muito )?obrigad[oa]|de nada|com prazer)\b",
        r"boa pergunta\b|espero que (?:isso |isto |te |lhe ){0,2}ajude\b",
        r"aqui (?:está|tem) (?:a|uma|o|um) (?:resposta|resumo)\b",
    ),
    answers=frozenset({"sim", "não", "correto", "certo", "verdade", "falso"}),
)
