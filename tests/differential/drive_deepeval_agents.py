"""What DeepEval's metrics of agents and conversations give on `talks`, driven through its own client.

Run by `python -m tests.differential deepeval_agents`, in an environment that has DeepEval; prints the golden file.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from typing import Any

import deepeval.metrics as metrics
import talks
import worlds
from deepeval.metrics import BaseMetric
from deepeval.models import OpenAIModel
from deepeval.test_case import (
    ConversationalTestCase,
    LLMTestCase,
    MCPServer,
    MultiTurnParams,
    ToolCall,
    ToolCallParams,
    Turn,
)
from server import Server

_talk: talks.Talk
_metric: str


def number(what: str, text: str) -> float:
    return talks.level(what, text) / talks.TOP


def reply(schema: str, prompt: str) -> dict[str, Any]:
    """The world's answer; which question it is, is told by the metric and by the schema of the answer."""
    talk = _talk
    window = [one for one in talk.said if one.text in prompt]
    if schema in ("ToolSelectionScore", "ToolScore", "MCPPrimitivesScore"):
        return {"score": number("tools", prompt), "reason": "-"}
    if schema in ("ArgumentCorrectnessScore", "ArgsScore", "MCPArgsScore"):
        return {"score": number("arguments", prompt), "reason": "-"}
    if schema in ("GoalScore", "PlanScore"):
        return {"score": number(schema, prompt), "reason": "-"}
    if schema in ("TaskScore", "PlanQualityScore", "PlanAdherenceScore", "EfficiencyVerdict"):
        return {"score": number(_metric, prompt), "reason": "-"}
    if schema == "TaskAndOutcome":
        return {"task": "Task", "outcome": f"Outcome {talks.last_mark(prompt)}"}
    if schema == "TaskCompletionVerdict":
        return {"verdict": number("task_completion", prompt), "reason": "-"}
    if schema == "Task":
        return {"task": "Task"}
    if schema == "AgentPlan":
        return {"plan": list(talk.plan)}
    if schema == "UserIntentions":
        return {"intentions": list(talk.intentions)}
    if schema == "ConversationCompletenessVerdict":
        return {"verdict": "yes" if talks.yes("met", prompt, "i") else "no", "reason": "-"}
    if schema == "TurnRelevancyVerdict":
        return {"verdict": "yes" if talks.yes("relevant", prompt) else "no", "reason": "-"}
    if schema == "Knowledge":
        users = [one for one in talk.said if one.role == "user" and one.text in prompt]
        return {"data": dict.fromkeys(users[-1].told, "yes") or None}  # it is asked message by message
    if schema == "KnowledgeRetentionVerdict":
        return {"verdict": "yes" if talks.yes("forgets", prompt) else "no", "reason": "-"}
    if schema == "OutOfCharacterResponseVerdicts":
        out = [n for n, one in enumerate(talk.said) if one.role == "assistant" and not talks.yes("role", one.text)]
        return {"verdicts": [{"index": n, "reason": "-"} for n in out]}
    if schema == "QAPairs":
        return {"qa_pairs": [{"question": f"Q {one.text}", "response": "R"} for one in window if one.role == "user"]}
    if schema == "RelevancyVerdict":
        return {"verdict": worlds.pick(("TP", "TN", "FP", "FN"), "topic", talks.last_mark(prompt, "u")), "reason": "-"}
    if schema == "Truths":
        return {"truths": [f"<<{text}>>" for text in contexts_in(prompt)]}
    if schema == "Claims":
        return {
            "claims": [
                claim for one in talk.said if one.role == "assistant" and one.text in prompt for claim in one.told
            ]
        }
    if schema == "Verdicts" and _metric.startswith("turn_faithfulness"):
        passages = re.findall(r"<<(.*?)>>", prompt)
        said = {"supported": "yes", "contradicted": "no", "not_mentioned": "borderline"}
        return {"verdicts": [{"verdict": said[together(claim, passages)], "reason": "-"} for claim in _asked_claims]}
    if schema == "Verdicts" and _metric == "argument_correctness":
        said_of = [
            worlds.share("arguments", one["name"], json.dumps(one["args"], sort_keys=True)) < 0.6 for one in talk.calls
        ]
        return {"verdicts": [{"verdict": "yes" if fine else "no", "reason": "-"} for fine in said_of]}
    if schema == "Verdicts" and _metric == "turn_contextual_precision":
        found = [worlds.useful(questions_in(prompt), text, talk.reference) for text in contexts_in(prompt)]
        return {"verdicts": [{"verdict": "yes" if fine else "no", "reason": "-"} for fine in found]}
    if schema == "Verdicts" and _metric == "turn_contextual_recall":
        found = [worlds.supported(claim, contexts_in(prompt)) for claim in talk.known]
        return {"verdicts": [{"verdict": "yes" if fine else "no", "reason": "-"} for fine in found]}
    if schema == "ContextualRelevancyVerdicts":
        (text, *_) = contexts_in(prompt)
        found = [worlds.useful(questions_in(prompt), one) for one in re.findall(r"[^.]+\.", text.replace(". ", "."))]
        return {"verdicts": [{"verdict": "yes" if fine else "no", "statement": "-", "reason": "-"} for fine in found]}
    return {"reason": "-", "steps": ["-"], "score": number("g_eval", prompt) * 10}


def together(claim: str, passages: list[str]) -> str:
    """What all passages say: that some support it, else that some contradict it."""
    labels = [worlds.label(claim, passage) for passage in passages]
    return next((one for one in ("supported", "contradicted") if one in labels), "not_mentioned")


def contexts_in(prompt: str) -> list[str]:
    """The passages that stand in the prompt, in the order of the conversation."""
    texts = [text for one in _talk.said for text in one.contexts]
    return [text for text in texts if text in prompt]


def questions_in(prompt: str) -> str:
    """The questions of the user in the prompt, on a line each."""
    return "\n".join(one.text for one in _talk.said if one.role == "user" and one.text in prompt)


_asked_claims: list[str] = []


def said(prompt: str, body: dict[str, Any]) -> str | dict[str, Any]:
    """The same, with the fields that are asked for."""
    global _asked_claims
    if "response_format" not in body:  # the rating of G-Eval, asked for with the probabilities of its tokens
        return reply("", prompt) if body.get("logprobs") else "-"
    form = body["response_format"]["json_schema"]
    found = reply(form["name"], prompt)
    if form["name"] == "Claims":
        _asked_claims = found["claims"]
    return {key: value for key, value in found.items() if key in form["schema"]["properties"]}


def tool(call: dict[str, Any]) -> ToolCall:
    return ToolCall(name=call["name"], input_parameters=call["args"], output=call["output"])


def turn(one: talks.Said) -> Turn:
    """A turn; a user's has no passages and no tools."""
    more: dict[str, Any] = {}
    if one.role == "assistant":
        more = {"retrieval_context": list(one.contexts), "tools_called": [tool(call) for call in one.calls]}
    return Turn(role=one.role, content=one.text, **more)


def measured(metric: BaseMetric, case: Any) -> float | None:
    try:
        return float(metric.measure(case, _show_indicator=False))
    except Exception:  # what the original has no number for
        return None


def spans(talk: talks.Talk, written: list[str], depth: bool) -> dict[str, Any]:
    """The trace of an agent: its tools and what its model wrote, below one root."""
    below = [{"type": "tool", "name": call["name"], "input": call["args"], "children": []} for call in talk.calls]
    below += [
        {"type": "llm", "name": "model", "input": str(n), "output": text, "children": []}
        for n, text in enumerate(written)
    ]
    root: dict[str, Any] = {"type": "agent", "name": "root", "input": "Go", "children": below}
    if depth:
        below.append({"type": "agent", "name": "root", "input": "Go", "children": []})
    return root


def made(judge: OpenAIModel) -> dict[str, Any]:
    """The metrics by their names; those with "/" are variants."""
    own: dict[str, Any] = {"model": judge, "async_mode": False, "include_reason": False}
    both = [ToolCallParams.INPUT_PARAMETERS, ToolCallParams.OUTPUT]
    tools = [ToolCall(name=name) for name in talks.TOOLS]
    correct: Any = metrics.ToolCorrectnessMetric
    return {
        "tool_correctness": correct(**own),
        "tool_correctness/arguments": correct(evaluation_params=both[:1], **own),
        "tool_correctness/output": correct(evaluation_params=both, **own),
        "tool_correctness/ordered": correct(should_consider_ordering=True, evaluation_params=both[:1], **own),
        "tool_correctness/exact": correct(should_exact_match=True, evaluation_params=both, **own),
        "tool_correctness/available": correct(available_tools=tools, **own),
        "tool_permission": metrics.ToolPermissionMetric(allowed_tools=list(talks.TOOLS[:3]), denied_tools=["lookup"]),
        "argument_correctness": metrics.ArgumentCorrectnessMetric(**own),
        "task_completion": metrics.TaskCompletionMetric(**own),
        "step_efficiency": metrics.StepEfficiencyMetric(**own),
        "plan_quality": metrics.PlanQualityMetric(**own),
        "plan_adherence": metrics.PlanAdherenceMetric(**own),
        "agent_loop_detection": metrics.AgentLoopDetectionMetric(async_mode=False, repetition_threshold=2),
        "tool_use": metrics.ToolUseMetric(available_tools=tools, **own),
        "goal_accuracy": metrics.GoalAccuracyMetric(**own),
        "topic_adherence": metrics.TopicAdherenceMetric(relevant_topics=["it"], **own),
        "multi_turn_mcp_use": metrics.MultiTurnMCPUseMetric(**own),
        "mcp_task_completion": metrics.MCPTaskCompletionMetric(**own),
        "turn_relevancy": metrics.TurnRelevancyMetric(**own),
        "turn_relevancy/window": metrics.TurnRelevancyMetric(window_size=1, **own),
        "turn_faithfulness": metrics.TurnFaithfulnessMetric(**own),
        "turn_faithfulness/strict": metrics.TurnFaithfulnessMetric(
            penalize_ambiguous_claims=True, window_size=2, **own
        ),
        "turn_contextual_precision": metrics.TurnContextualPrecisionMetric(**own),
        "turn_contextual_recall": metrics.TurnContextualRecallMetric(**own),
        "turn_contextual_relevancy": metrics.TurnContextualRelevancyMetric(**own),
        "conversation_completeness": metrics.ConversationCompletenessMetric(**own),
        "knowledge_retention": metrics.KnowledgeRetentionMetric(**own),
        "mcp_use": metrics.MCPUseMetric(**own),
        "conversational_g_eval": metrics.ConversationalGEval(
            name="g",
            criteria="Good?",
            evaluation_steps=["Look"],
            evaluation_params=[MultiTurnParams.CONTENT, MultiTurnParams.ROLE],
            model=judge,
            async_mode=False,
        ),
        "role_adherence": metrics.RoleAdherenceMetric(**own),
    }


def main(judge: OpenAIModel) -> None:
    global _talk, _metric
    values: dict[str, dict[str, float | None]] = {}
    written = talks.traces()
    for name, metric in made(judge).items():
        _metric = name
        for place, talk in enumerate(talks.talks()):
            _talk = talk
            servers = [MCPServer(server_name="server", available_tools=[])] if "mcp" in name else None
            case: Any = ConversationalTestCase(
                turns=[turn(one) for one in talk.said],
                chatbot_role="guide",
                expected_outcome=talk.reference,
                mcp_servers=servers,
            )
            if isinstance(metric, BaseMetric):
                whole = "\n".join(one.text for one in talk.said)
                case = LLMTestCase(
                    input=next((one.text for one in talk.said if one.role == "user"), "-"),
                    actual_output=whole,
                    tools_called=[tool(call) for call in talk.calls],
                    expected_tools=[tool(call) for call in talk.expected],
                    mcp_servers=servers,
                )
                loops = name == "agent_loop_detection"
                case._trace_dict = spans(talk, written.get(talk.id, []), place % 5 == 0) if loops else {"said": whole}
            values.setdefault(name, {})[talk.id] = measured(metric, case)
    exports = sorted(name for name in dir(metrics) if name.endswith(("Metric", "Eval")) and name[:4] != "Base")
    found = {"versions": {"deepeval": version("deepeval")}, "exports": exports, "values": values}
    print(json.dumps(found, indent=1, sort_keys=True))


with Server(said) as server:
    main(OpenAIModel(model="gpt-4o", base_url=server.url, api_key="none"))
