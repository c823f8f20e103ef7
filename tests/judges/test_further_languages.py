"""The embedded judge in further languages, where assay-embedded-multilingual is installed and where it is not."""

from __future__ import annotations

import asyncio
import sys

import pytest

from assay import evaluate
from assay.errors import Cause
from assay.judges.cache import JudgementCache
from assay.judges.claim_rules import sentence_claims
from assay.judges.claim_rules.languages import LANGUAGES, states_something
from assay.judges.embedded import further
from assay.judges.embedded.judge import EmbeddedJudge
from assay.metrics import METRICS
from assay.prompts import Claims, Directness, Support, Usefulness
from assay.records import Context, Sample

ROWS = {
    "de": {
        "question": "Wann hat das Museum geöffnet?",
        "contexts": ["Das Stadtmuseum ist dienstags bis sonntags von 10 bis 18 Uhr geöffnet.", "Hunde sind verboten."],
        "answer": "Das Stadtmuseum ist dienstags bis sonntags von 10 bis 18 Uhr geöffnet.",
    },
    "es": {
        "question": "¿Cuándo abre el museo?",
        "contexts": ["El museo municipal abre de martes a domingo, de 10 a 18 horas.", "No se admiten perros."],
        "answer": "El museo municipal abre de martes a domingo, de 10 a 18 horas.",
    },
    "fr": {
        "question": "Quand le musée est-il ouvert ?",
        "contexts": [
            "Le musée municipal est ouvert du mardi au dimanche, de 10 h à 18 h.",
            "Les chiens sont interdits.",
        ],
        "answer": "Le musée municipal est ouvert du mardi au dimanche, de 10 h à 18 h.",
    },
}


def scored(row):
    """The faithfulness of one row."""
    contexts = tuple(Context(text=text) for text in row["contexts"])
    sample = Sample(question=row["question"], answer=row["answer"], contexts=contexts)
    return asyncio.run(METRICS["faithfulness"]().score(sample, JudgementCache(EmbeddedJudge())))


@pytest.mark.long
@pytest.mark.parametrize("language", ROWS)
def test_a_row_is_scored_with_evidence_in_its_own_words(language):
    """The language is found out; what is in the passage is supported, by the sentence that says it."""
    row = ROWS[language]
    score = scored(row)
    assert score.value == 1.0
    ((verdict,),) = score.verdicts.values()
    assert verdict.evidence[0].text == row["answer"]
    assert verdict.evidence[0].passage == 0


@pytest.mark.parametrize("language", ROWS)
def test_what_asks_for_other_readings_stays_skipped(tmp_path, language):
    result = evaluate([ROWS[language]], ["faithfulness", "answer_directness"], store=tmp_path)
    assert result.metrics["faithfulness"].scored == 1
    assert result.metrics["answer_directness"].causes == {Cause.LANGUAGE: 1}


def test_passages_in_another_language_than_the_answer(tmp_path):
    """It was not measured well enough across languages (training/README.md), so no number comes of it."""
    german = ROWS["de"]["contexts"]
    english = ["The city museum is open from Tuesday to Sunday, 10 a.m. to 6 p.m.", "Dogs are not allowed inside."]
    rows = [
        {
            "question": "When is it open?",
            "contexts": german,
            "answer": "It is open from Tuesday to Sunday, from 10 to 6.",
        },
        {**ROWS["de"], "contexts": english},
        {**ROWS["fr"], "contexts": german},
    ]
    result = evaluate(rows, "faithfulness", store=tmp_path)
    assert result.metrics["faithfulness"].causes == {Cause.LANGUAGE: 3}
    assert {f.message.partition(";")[0] for f in result.errors} == {
        "the claims are in 'en' and the passages in 'de'",
        "the claims are in 'de' and the passages in 'en'",
        "the claims are in 'fr' and the passages in 'de'",
    }
    insisted = evaluate(rows, "faithfulness", EmbeddedJudge(any_language=True), store=tmp_path)
    assert insisted.metrics["faithfulness"].scored == 3


def test_english_judgements_are_the_same_with_and_without(monkeypatch):
    row = {"question": "Why?", "contexts": ["Cats purr when calm."], "answer": "Cats purr when they are calm."}
    found = scored(row)
    monkeypatch.setitem(sys.modules, "assay_embedded_multilingual", None)
    again = scored(row)
    assert again.verdicts == found.verdicts
    assert again.judge != found.judge  # what is installed can change judgements, so it is in the address


def test_without_it_the_row_says_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "assay_embedded_multilingual", None)
    result = evaluate([ROWS["fr"]], "faithfulness", store=tmp_path)
    assert result.metrics["faithfulness"].causes == {Cause.LANGUAGE: 1}
    assert "multilingual" in result.errors[0].message
    assert "brings it" in result.errors[0].message


def test_what_is_refused_says_what_is_read():
    judge = EmbeddedJudge()
    for prompt in (Claims, Support):
        assert judge.cannot(prompt, "de") is None
        refusal = judge.cannot(prompt, "pl")
        assert refusal.cause is Cause.LANGUAGE
        assert "en, de, es, fr, it, pt" in refusal.message
        assert "brings it" not in refusal.message
    for prompt in (Usefulness, Directness):
        assert judge.cannot(prompt, "de").cause is Cause.LANGUAGE


def test_what_is_offered_is_what_the_package_reads():
    import assay_embedded_multilingual

    assert assay_embedded_multilingual.languages == further.OFFERED
    assert set(LANGUAGES) >= set(assay_embedded_multilingual.languages)


REFUSALS = {
    "de": (
        "Das weiß ich leider nicht.", "Dazu gibt es keine Angaben im Text.",
        "Der Text enthält dazu keine Informationen.",
        "Leider kann ich diese Frage nicht beantworten.", "Im Kontext wird das nicht erwähnt.", "Es tut mir leid.",
        "Ich habe dazu keine Informationen.", "Gerne!", "Möchten Sie mehr wissen?",
    ),
    "es": (
        "No lo sé.", "Lo siento, el texto no menciona el precio.", "No hay información disponible sobre el precio.",
        "No puedo responder a esta pregunta.", "El contexto no proporciona esos datos.", "¡Claro!", "¿Algo más?",
    ),
    "fr": (
        "Je ne sais pas.", "Désolé, le texte ne précise pas la date.", "Il n'y a pas d'informations à ce sujet.",
        "Je ne peux pas répondre à cette question.", "Le contexte ne mentionne pas ce point.", "Bien sûr !",
        "Autre chose ?",
    ),
    "it": (
        "Non lo so.", "Mi dispiace, il testo non menziona il prezzo.", "Non ci sono informazioni su questo argomento.",
        "Non posso rispondere a questa domanda.", "Certo!", "Altro?",
    ),
    "pt": (
        "Não sei.", "Desculpe, o texto não menciona o preço.", "Não há informações sobre o preço no documento.",
        "Não posso responder a esta pergunta.", "Claro!", "Mais alguma coisa?",
    ),
}  # fmt: skip
STATEMENTS = {
    "de": (
        "Der Text nennt keinen Preis, aber der Eintritt kostet 20 Euro.", "Es gibt keine Parkplätze am Museum.",
        "Dazu gibt es keine Angaben und der Eintritt ist immer frei.",
        "Ich weiß nicht, der Eintritt kostet wohl 5 Euro.",
        "Der Preis wird nicht genannt; Kinder zahlen nichts.", "Die Bank kann den Kredit nicht geben.",
        "Die Dokumente werden nicht zurückgeschickt.", "Die Informationen werden nicht an Dritte weitergegeben.",
        "Ich weiß es nicht der Eintritt ist frei.",
    ),
    "es": (
        "No hay información, pero la entrada cuesta 20 euros.", "El museo no cobra entrada.", "No se paga los lunes.",
        "El texto no menciona que el museo cierra los lunes.", "No se puede entrar con perros.",
        "No se puede confirmar la reserva por correo.", "Los documentos no se devuelven.",
        "No lo sé la entrada es gratis.",
    ),
    "fr": (
        "Le texte ne mentionne pas le prix, mais l'entrée coûte 20 euros.", "L’entrée n’est pas gratuite.",
        "Je ne sais pas, l'entrée coûte 20 euros.", "Le musée ne contient pas de tableaux.",
        "Il n'y a pas de parking près du musée.",
        "Je ne sais pas l'entrée est toujours gratuite.",
    ),
    "it": (
        "Il testo non menziona il prezzo, ma l'ingresso costa 20 euro.", "Non ci sono parcheggi vicino al museo.",
        "L'ingresso non è gratuito.", "Non si può entrare con i cani.", "Non so nuotare, ma il corso costa 5 euro.",
        "Non lo so il museo è sempre gratuito.",
    ),
    "pt": (
        "O texto não menciona o preço, mas a entrada custa 20 euros.", "Não há estacionamento perto do museu.",
        "Não sei a entrada é sempre gratuita.",
        "A entrada não é gratuita.", "O documento não diz que o museu fecha às segundas.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("language", "said"), [(code, text) for code, texts in REFUSALS.items() for text in texts])
def test_refusals_and_small_talk_are_no_claims(language, said):
    assert sentence_claims(said, language) == ()


@pytest.mark.parametrize(("language", "said"), [(code, text) for code, texts in STATEMENTS.items() for text in texts])
def test_statements_are_claims_though_they_deny(language, said):
    assert states_something(said, language)
    assert [claim.text for claim in sentence_claims(said, language)] == [said]


@pytest.mark.parametrize(
    ("language", "question", "said"),
    [
        ("de", "Ist es offen?", "Nein."),
        ("es", "¿Está abierto?", "Sí."),
        ("fr", "Est-ce ouvert ?", "Oui."),
        ("it", "È aperto?", "Sì."),
        ("pt", "Está aberto?", "Não."),
    ],
)
def test_a_yes_is_the_answer_to_its_question(language, question, said):
    assert [claim.text for claim in sentence_claims(said, language, question)] == [f"{question} {said}"]
    assert sentence_claims(said, language) == ()


def test_items_carry_what_they_hang_on():
    text = "Mitglieder erhalten:\n- 30 Tage Rückgabe\n- Gratisversand"
    assert [claim.text for claim in sentence_claims(text, "de")] == [
        "Mitglieder erhalten: 30 Tage Rückgabe",
        "Mitglieder erhalten: Gratisversand",
    ]


@pytest.mark.parametrize(
    ("language", "answer", "behind"),
    [
        ("de", "Mitglieder erhalten 90 Tage.", ["Vielen Dank für Ihre Frage.", "(Quelle: [1])", "Quellen: [1], [2]",
                                                "Siehe Passage 1.", "Ich hoffe, das hilft!"]),
        ("fr", "Les membres ont 90 jours.", ["Merci pour votre question.", "(Source : [1])", "Voir [1]."]),
        ("es", "Los miembros tienen 90 días.", ["Gracias por su pregunta.", "(Fuente: [1])",
                                              "¡Espero que esto ayude!"]),
        ("it", "I membri hanno 90 giorni.", ["Grazie per la domanda.", "(Fonte: [1])", "Fonti: [1]"]),
        ("pt", "Os membros têm 90 dias.", ["Obrigado pela sua pergunta.", "(Fonte: [1])", "Fontes: [1]"]),
    ],
)  # fmt: skip
def test_what_stands_around_an_answer_is_no_claim(language: str, answer: str, behind: list[str]) -> None:
    for words in behind:
        assert [claim.text for claim in sentence_claims(f"{answer} {words}", language)] == [answer]


@pytest.mark.parametrize("words", ["Vielen Dank für 90 Tage.", "(Quelle: 90 Tage)", "Siehe die 90 Tage."])
def test_what_states_something_beside_it_is_a_claim(words: str) -> None:
    assert len(sentence_claims(f"Es ist rot. {words}", "de")) == 2
