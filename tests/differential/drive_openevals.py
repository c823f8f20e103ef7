"""What openevals and agentevals give on the samples of `worlds`, `texts` and `ways`, driven by a scripted server.

Run by `python -m tests.differential openevals`, in an environment that has both; prints the golden file.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import agentevals.graph_trajectory.llm as graph_llm
import agentevals.trajectory.llm as trajectory_llm
import openevals
import openevals.prompts as prompts
import openevals.string.embedding_similarity as similarity
import texts
import ways
import worlds
from agentevals.graph_trajectory.strict import graph_trajectory_strict_match
from exported import functions
from langchain_openai import ChatOpenAI
from openevals.code.base import _extract_code_from_markdown_code_blocks
from openevals.code.llm import create_code_llm_as_judge
from openevals.json import create_json_match_evaluator
from openevals.string import create_embedding_similarity_evaluator, levenshtein_distance
from server import Server

_said: Any = None
#: Prompts that give a text and no number, and those on images and sounds.
NO_NUMBER = {"LANGUAGE_DETECTION", "SUPPORT_INTENT"}
ELSEWHERE = {
    "EXPLICIT_CONTENT", "SENSITIVE_IMAGERY", "AUDIO_QUALITY", "TRANSCRIPTION_ACCURACY", "USER_INTERRUPTS",
    "VOCAL_AFFECT",
}  # fmt: skip


def reply(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the script has laid ready; the verdict on each key where the schema asks for several."""
    asked = body["response_format"]["json_schema"]["schema"]["properties"] if "response_format" in body else {}
    if asked and "score" not in asked:
        ours, theirs = text.split("<Outputs>")[1].split("<Expected Outputs>")
        return {key: {"score": ways.right(_value(ours, key), _value(theirs, key)), "reasoning": "-"} for key in asked}
    return {"reasoning": "-", "score": _said}


def _value(listed: str, key: str) -> str:
    """What stands behind a key in a list of them."""
    return next(line for line in listed.splitlines() if line.startswith(f"{key}: ")).removeprefix(f"{key}: ")


class Vectors:
    def embed_query(self, text: str) -> list[float]:
        return worlds.embedding(text)


def number(call: Callable[..., Any], **given: Any) -> float | None:
    """The score of an evaluator; None for an error, and where there are several or none."""
    try:
        found = call(**copy.deepcopy(given))
        if isinstance(found, list):
            (found,) = found
        return None if found["score"] is None else float(found["score"])
    except Exception:
        return None


def names() -> dict[str, str]:
    """The name of each prompt that gives a number."""
    found = {one.removesuffix("_PROMPT"): one for one in prompts.__all__}
    return {
        name.removeprefix("RAG_").replace("_PROMPT_WITH", "_WITH").lower(): one
        for name, one in found.items()
        if name not in NO_NUMBER | ELSEWHERE
    }


def exports() -> list[str]:
    """What both packages have to judge with: their prompts, and what makes a judge or is one."""
    listed = {*functions("openevals"), *functions("agentevals")}
    endings = ("_evaluator", "_judge", "_match", "_distance", "_subset", "_superset")
    return sorted({*prompts.__all__, *(name for name in listed if name.endswith(endings))})


def judged(llm: Any) -> Iterator[tuple[str, str, float | None]]:
    """What the judges give on the texts of a case."""
    global _said
    made = {
        name: openevals.create_llm_as_judge(prompt=getattr(prompts, one), judge=llm)
        for name, one in names().items()
        if not name.startswith("trajectory") and name != "tool_selection"
    }
    custom = "Meets {prompt}? {inputs} {outputs}"
    made["llm_as_judge"] = openevals.create_llm_as_judge(prompt=custom, judge=llm)
    made["llm_as_judge continuous"] = openevals.create_llm_as_judge(prompt=custom, judge=llm, continuous=True)
    made["llm_as_judge choices"] = openevals.create_llm_as_judge(prompt=custom, judge=llm, choices=list(ways.CHOICES))
    for case in worlds.cases():
        for name, one in made.items():
            context = "\n".join(case.contexts)
            if name in ("hallucination", "groundedness", "retrieval_relevance") and not context.strip():
                continue  # ours is skipped: it asks nothing about nothing
            if name in ("correctness", "code_correctness_with_reference_outputs") and not case.reference:
                continue
            _said = ways.said(name, case.id)
            given = {"inputs": case.question, "outputs": case.answer, "reference_outputs": case.reference}
            yield name, case.id, number(one, **given, context=context, plan="1. Look. 2. Answer.", prompt="brevity")


def compared() -> Iterator[tuple[str, str, float | None]]:
    """What those give that compare texts and objects."""
    similarity.init_embeddings = lambda model: Vectors()
    embedded = create_embedding_similarity_evaluator()
    dotted = create_embedding_similarity_evaluator(algorithm="dot_product")
    for case, (answer, reference) in texts.text_pairs().items():
        given = {"outputs": answer, "reference_outputs": reference}
        yield "exact_match", case, number(openevals.exact_match, **given)
        yield "levenshtein_distance", case, number(levenshtein_distance, **given)
        if answer.strip() and reference.strip():
            yield "embedding_similarity", case, number(embedded, **given)
            yield "embedding_similarity dotted", case, number(dotted, **given)


def matched(llm: Any) -> Iterator[tuple[str, str, float | None]]:
    """What the JSON match gives, by its aggregators and list modes."""
    for name, made in ways.json_matches().items():
        judge = {"judge": llm} if "rubric" in made else {}
        one = create_json_match_evaluator(**made, **judge)
        for case, (answer, reference) in ways.objects().items():
            yield name, case, number(one, outputs=answer, reference_outputs=reference)


def went(llm: Any) -> Iterator[tuple[str, str, float | None]]:
    """What is said of the ways of agents."""
    global _said
    for name, made in ways.matches().items():
        one = openevals.create_trajectory_match_evaluator(**made)
        for case, (ours, theirs) in ways.pairs().items():
            yield name, case, number(one, outputs=ours, reference_outputs=theirs)
    tools = openevals.create_llm_as_judge(prompt=prompts.TOOL_SELECTION_PROMPT, judge=llm)
    judges = {
        "trajectory_accuracy": trajectory_llm.create_trajectory_llm_as_judge(
            prompt=trajectory_llm.TRAJECTORY_ACCURACY_PROMPT, judge=llm
        ),
        "trajectory_accuracy_with_reference": trajectory_llm.create_trajectory_llm_as_judge(judge=llm),
    }
    graph = graph_llm.create_graph_trajectory_llm_as_judge(judge=llm)
    for case, (ours, theirs) in ways.pairs().items():
        for name, one in judges.items():
            _said = ways.said(name, case)
            yield name, case, number(one, outputs=ours, reference_outputs=theirs)
        _said = ways.said("tool_selection", case)
        yield "tool_selection", case, number(tools, outputs=ours)
    for case, (ours, theirs) in ways.graphs().items():
        given = {"outputs": ours, "reference_outputs": theirs}
        yield "graph_trajectory_strict_match", case, number(graph_trajectory_strict_match, **given)
        _said = ways.said("graph_trajectory_accuracy", case)
        yield "graph_trajectory_accuracy", case, number(graph, inputs=ours["inputs"], **given)


def coded(llm: Any) -> Iterator[tuple[str, str, float | None]]:
    """What the judge of code gives, told to look at blocks of code alone."""
    global _said
    one = create_code_llm_as_judge(
        prompt=prompts.CODE_CORRECTNESS_PROMPT, judge=llm, code_extraction_strategy="markdown_code_blocks"
    )
    for case, answer in ways.codes().items():
        _said = ways.said("code_llm_as_judge", case)
        yield "code_llm_as_judge", case, number(one, inputs="Write it.", outputs=answer)


def main() -> None:
    values: dict[str, dict[str, float | None]] = {}
    with Server(reply) as server:
        llm = ChatOpenAI(model="scripted", base_url=server.url, api_key="none")
        for found in (compared(), matched(llm), went(llm), judged(llm), coded(llm)):
            for name, case, value in found:
                values.setdefault(name, {})[case] = value
    versions = {package: version(package) for package in ("openevals", "agentevals")}
    code = {case: _extract_code_from_markdown_code_blocks(answer) for case, answer in ways.codes().items()}
    print(json.dumps({"versions": versions, "exports": exports(), "values": values, "code": code}))


main()
