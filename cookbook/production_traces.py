"""How do I score a file of production traces?

`data/traces.jsonl` is what an export looks like: other field names than ours, documents as objects, an empty retrieval
with a refusal, a stream that the user closed. Offline, with the embedded judge.
"""

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from assay import evaluate

TRACES = Path(__file__).parent / "data" / "traces.jsonl"


def main() -> None:
    with TemporaryDirectory() as folder:
        # input, retrieved_documents and output are names that assay knows; trace_id is named here
        result = evaluate(TRACES, ["faithfulness", "context_utilization"], column_map={"id": "trace_id"}, store=folder)
        print(result)

        print("\nNot scored, and why:")
        for failure in result.errors:
            print(f"  {failure.id} {failure.metric}: {failure.cause}: {failure.message}")

        print("\nFaithfulness by model (a column of the export, kept as metadata):")
        by_model: dict[str, list[float]] = defaultdict(list)
        for scored in result:
            value = scored.values["faithfulness"]
            if value is not None:
                by_model[str(scored.sample.metadata["model"])].append(value)
        for model, values in sorted(by_model.items()):
            print(f"  {model}: {sum(values) / len(values):.3f} over {len(values)}")

        worst = result.worst("faithfulness")
        assert worst is not None
        print(f"\nThe least faithful one, {worst.scored.sample.id}:")
        print(result.explain(worst.number, "faithfulness"))
        result.store.close()


if __name__ == "__main__":
    main()
