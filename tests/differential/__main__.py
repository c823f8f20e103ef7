"""Makes the golden files again: what other packages give on the samples of `worlds`.

    python -m tests.differential ragas [--environments DIR]

Installs the packages into environments of their own (uv), runs `drive_NAME.py` there and writes `golden/NAME.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
#: Name of a driver -> what its environment holds.
PACKAGES: dict[str, tuple[str, ...]] = {
    "ragas": ("ragas==0.4.3", "langchain-community<0.4", "rapidfuzz", "sacrebleu", "rouge-score"),
    "langsmith": ("langsmith==0.15.0", "openevals==0.2.2", "langchain-openai"),
    "trulens": (
        "trulens-core==2.16.0",
        "trulens-feedback==2.16.0",
        "trulens-providers-openai==2.16.0",
        "trulens-providers-huggingface==2.16.0",
        "llama-index-core",
        "scikit-learn",
        "scipy",
        "pandas",
    ),
    "ragas02": ("ragas==0.2.15", "langchain-community<0.4", "langchain-openai<0.4"),
    "ragas0011": (
        *("ragas==0.0.11", "langchain==0.0.331", "openai==0.28.1", "numpy<2", "pyarrow<20", "datasets<3"),
        *("tiktoken", "setuptools<81"),
    ),
    "ragchecker": (
        *("--no-deps", "ragchecker==0.1.9", "numpy", "dataclasses-json", "marshmallow<4", "packaging"),
        *("typing-inspect", "typing-extensions", "mypy-extensions"),
    ),
    "llamaindex": (*("llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1"),),
    "langchain": ("langchain-classic==1.0.8", "langchain-openai", "rapidfuzz", "jsonschema", "tiktoken"),
    "openevals": ("openevals==0.2.2", "agentevals==0.0.9", "langchain-openai", "rapidfuzz"),
    "multimodal_ragas": ("ragas==0.4.3", "langchain-community<0.4", "rapidfuzz", "sacrebleu", "rouge-score"),
    "multimodal_llamaindex": ("llama-index-core==0.14.25", "llama-index-llms-openai-like", "pillow"),
    "multimodal_deepeval": ("deepeval==4.3.1",),
    "ragas0022": (
        *("ragas==0.0.22", "langchain==0.0.354", "langchain-community<0.1", "langchain-core<0.2", "openai<1.10"),
        *("numpy<2", "pyarrow<20", "datasets<3", "tiktoken", "setuptools<81", "httpx<0.28"),
    ),
    "deepeval_single": ("deepeval==4.3.1",),
    "multimodal_deepeval_rag": ("deepeval==4.3.1",),
    "deepeval_agents": ("deepeval==4.3.1",),
    "deepeval_conversations": ("deepeval==4.3.1",),
    "ragas_plain": (
        *("ragas==0.4.3", "langchain-community<0.4", "rapidfuzz", "sacrebleu", "rouge-score", "datacompy>=0.14,<1"),
    ),
}


def environment(name: str, directory: Path) -> Path:
    """The Python of an environment with the packages of a driver; made where it is not there."""
    python = directory / name / "bin" / "python"
    if not python.exists():
        subprocess.run(["uv", "venv", "-q", "--python", "3.11", str(directory / name)], check=True)
        subprocess.run(["uv", "pip", "install", "-q", "--python", str(python), *PACKAGES[name]], check=True)
    return python


def drive(name: str, directory: Path) -> None:
    """Run one driver and write its golden file."""
    quiet = {"RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "OPENAI_API_KEY": "none"}
    ran = subprocess.run(
        [str(environment(name, directory)), str(HERE / f"drive_{name}.py")],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, **quiet},
        cwd=HERE,
    )
    found = json.loads(ran.stdout)
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    (HERE / "golden" / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+", choices=sorted(PACKAGES))
    parser.add_argument("--environments", type=Path, default=Path(".differential"))
    given = parser.parse_args()
    for each in given.names:
        drive(each, given.environments.resolve())
