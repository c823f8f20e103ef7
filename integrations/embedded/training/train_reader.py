"""Trains the reader, (claim, passage) to supported / contradicted / not mentioned, on CPU cores or a GPU, in a time.

    python train_reader.py --onnx PUBLISHED_INT8.onnx --pairs DIR/pairs.npz --out DIR --minutes 45

It starts from the ms-marco reranker, turned back to float. The embeddings and the lowest --freeze layers stay as they
are, so the shipped file needs them once. One process a core, each on its own pairs; weights are averaged every --sync
steps. The learning rate falls to 0 at the end of the time, so a run that is to be compared needs the same time, or with
--steps the same number of steps, whatever else the machine does.
With --layers and --soft a smaller reader learns from a larger one (soft_labels.py): it begins with these layers of
--start, and what it is to say is 0.7 of what the larger one says, 0.3 of the label.
Weights are kept in `last.pt` every two minutes; with --resume a run goes on from there. Stopping the processes
(SIGSTOP) does not use up the time. With --device cuda one process trains on the GPU, in bfloat16, with larger batches.
"""

from __future__ import annotations

import os
import sys

if os.environ.get("MALLOC_MMAP_MAX_") is None:  # else glibc returns every tensor to the kernel: half the time
    os.environ.update(
        MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_="8000000000", MALLOC_TOP_PAD_="200000000", HF_HUB_OFFLINE="1",
        OMP_NUM_THREADS="1", KMP_BLOCKTIME="0",
    )  # fmt: skip
    os.execv(sys.executable, [sys.executable, *sys.argv])

import argparse
import copy
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from export_reranker import read
from reader_parts import Top, Trunk

CLASSES = 3
SMOOTHING = 0.03
TYPICAL = 20  # rows of a batch: losses are summed and divided by this, so that a row weighs the same in any batch
SOFT = 0.7  # what the larger reader's word weighs beside the label
PAIRED = 0.5  # what a minimal pair weighs, compared, beside the two rows by themselves
LONGEST_STEP = 30.0  # seconds; what a step took beyond that, the process was stopped


def computes_bfloat16() -> bool:
    """Whether the CPU has instructions for bfloat16, as far as Linux says; AVX-512 alone is not enough."""
    cpus = Path("/proc/cpuinfo")
    return cpus.exists() and "avx512_bf16" in cpus.read_text(encoding="utf-8")


def build(published: Path, classes: int = CLASSES) -> Any:
    """The published encoder (ONNX, or `base.pt` of multilingual_base.py) as a PyTorch model, with a new last layer."""
    from transformers import BertConfig, BertForSequenceClassification

    floats = torch.load(published, weights_only=True)["model"] if published.suffix == ".pt" else read(published)[0]
    vocabulary, width = floats["bert.embeddings.word_embeddings.weight"].shape
    layers = len({name.split(".")[3] for name in floats if name.startswith("bert.encoder.layer.")})
    config = BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, num_attention_heads=12, num_labels=classes,
        intermediate_size=len(floats["bert.encoder.layer.0.intermediate.dense.bias"]),
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    state = {name: torch.from_numpy(np.array(value)) for name, value in floats.items() if "classifier" not in name}
    missing, unknown = model.load_state_dict(state, strict=False)
    new = {"bert.pooler.dense.weight", "bert.pooler.dense.bias", "classifier.weight", "classifier.bias"}
    if unknown or not set(missing) <= new:
        raise ValueError(f"weights do not fit: missing {missing}, unknown {unknown}")
    return model


def thinned(model: Any, layers: Sequence[int]) -> Any:
    """The model with these of its layers alone."""
    model.bert.encoder.layer = torch.nn.ModuleList([model.bert.encoder.layer[k] for k in layers])
    model.config.num_hidden_layers = len(layers)
    return model


def trained(published: Path, weights: Path) -> Any:
    """What this script wrote, of as many layers as it has."""
    state = torch.load(weights, weights_only=True)["model"]
    layers = {name.split(".")[3] for name in state if name.startswith("bert.encoder.layer.")}
    model = thinned(build(published), range(len(layers)))
    model.load_state_dict(state)
    return model


class Rows:
    """The pairs of one npz file, less those whose source begins with one of `without`.

    Those whose source begins with one of `of` stay in any case, and with `share` they are that share of all: repeated
    or thinned out, in a fixed order.
    """

    def __init__(
        self, path: Path, without: tuple[str, ...] = (), of: tuple[str, ...] = (), share: float | None = None
    ) -> None:
        data = np.load(path)
        self.soft: torch.Tensor | None = None
        self.ids, self.starts, self.firsts = data["ids"], data["starts"], data["firsts"]
        self.labels = torch.tensor(data["labels"], dtype=torch.long)
        self.sizes = np.diff(self.starts)
        sources = data["sources"].tolist()
        special = [i for i, source in enumerate(sources) if source.startswith(of)]
        self.used = [i for i, source in enumerate(sources) if not source.startswith((*of, *without))]
        if share is not None:
            if not special or not 0 < share < 1:
                raise ValueError(
                    f"--share {share} wants a number between 0 and 1, and --of sources that there are: {of}"
                )
            count = round(len(self.used) * share / (1 - share))
            special = random.Random(0).sample(special * -(-count // len(special)), count)
        self.used += special
        twins = data["twins"].tolist() if "twins" in data else [-1] * len(sources)
        units: dict[int, list[int]] = {}
        for i in self.used:  # a row without a twin is a unit by itself
            units.setdefault(twins[i] if twins[i] >= 0 else -1 - i, []).append(i)
        self.units = list(units.values())
        self.twins = torch.tensor(twins)

    def batch(self, chosen: list[int]) -> dict[str, torch.Tensor]:
        """Token ids, mask and segments of these rows, each [rows, tokens], on the CPU."""
        longest = int(self.sizes[chosen].max())
        out = {
            k: torch.zeros(len(chosen), longest, dtype=torch.long)
            for k in ("input_ids", "attention_mask", "token_type_ids")
        }
        for row, i in enumerate(chosen):
            size, first = int(self.sizes[i]), int(self.firsts[i])
            out["input_ids"][row, :size] = torch.from_numpy(
                self.ids[self.starts[i] : self.starts[i + 1]].astype(np.int64)
            )
            out["attention_mask"][row, :size] = 1
            out["token_type_ids"][row, first:size] = 1
        return out

    def keep_part(self, part: int, parts: int) -> None:
        """Leaves one part of the units, the same in every run; the parts are about alike."""
        self.units = self.units[part::parts]

    def batches(self, tokens: int, seed: int) -> list[list[int]]:
        """Rows of similar length together, up to `tokens` with padding, twins side by side; in random order."""
        rng = random.Random(seed)
        order = list(self.units)
        rng.shuffle(order)
        out: list[list[int]] = []
        for start in range(0, len(order), 2048):
            pool = sorted(order[start : start + 2048], key=lambda unit: max(self.sizes[i] for i in unit))
            found: list[list[int]] = [[]]
            for unit in pool:
                if found[-1] and (len(found[-1]) + len(unit)) * max(self.sizes[i] for i in unit) > tokens:
                    found.append([])
                found[-1] += unit
            rng.shuffle(found)
            out += found
        return out


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy; where only "not supported" is known, of the sum of the two other classes."""
    logp = torch.log_softmax(logits.float(), -1)
    yes, no = logp[:, 0], torch.logsumexp(logp[:, 1:], -1)
    said = torch.where(labels == 3, no, logp.gather(1, labels.clamp(max=2)[:, None])[:, 0])
    other = torch.where(labels == 0, no, yes)
    return -((1 - SMOOTHING) * said + SMOOTHING * other).sum() / TYPICAL


def loss_of_twins(logits: torch.Tensor, labels: torch.Tensor, twins: torch.Tensor) -> torch.Tensor:
    """Of neighbours that are the halves of a minimal pair: the true one is to have the larger log-odds of supported."""
    logits = logits.float()
    margins = logits[:, 0] - torch.logsumexp(logits[:, 1:], -1)
    beside = (twins[:-1] == twins[1:]) & (twins[:-1] >= 0)
    sign = torch.where(labels[:-1] == 0, 1.0, -1.0)
    lost = torch.nn.functional.softplus(-sign * (margins[:-1] - margins[1:]))
    return PAIRED * (lost * beside).sum() / TYPICAL


def loss_beside(logits: torch.Tensor, labels: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
    """Mostly of what the larger reader says: its probabilities, against those of `logits`."""
    said = -(torch.softmax(soft.float(), -1) * torch.log_softmax(logits.float(), -1)).sum() / TYPICAL
    return SOFT * said + (1 - SOFT) * loss_of(logits, labels)


def mean_of_workers(parameters: list[torch.nn.Parameter], workers: int) -> None:
    with torch.no_grad():
        flat = torch.cat([p.reshape(-1) for p in parameters])
        dist.all_reduce(flat)
        flat /= workers
        start = 0
        for p in parameters:
            p.copy_(flat[start : start + p.numel()].view_as(p))
            start += p.numel()


def renew(copies: Sequence[torch.nn.Parameter], parameters: Sequence[torch.nn.Parameter]) -> None:
    """Writes the exact weights, which are trained, over the rounded ones, which read; nothing where both are one."""
    with torch.no_grad():
        for copied, p in zip(copies, parameters, strict=True):
            if copied is not p:
                copied.copy_(p)


def planned(rows: Rows, tokens: int, seed: int) -> Iterator[list[int]]:
    """The batches of one worker without end: all its rows again and again, each time in another order."""
    for turn in itertools.count():
        yield from rows.batches(tokens, seed + turn)


class FrozenLayers:
    """Hidden states above the layers that are not trained: computed when a row is read first, then taken from memory.

    A row takes 768 bytes a token (384 numbers of half precision).
    """

    def __init__(self, trunk: Trunk, rows: Rows, device: torch.device) -> None:
        self._trunk, self._rows, self._device = trunk, rows, device
        self._states: dict[int, torch.Tensor] = {}

    def __call__(self, chosen: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """The hidden states of these rows [rows, tokens, width], and their attention mask [rows, tokens]."""
        if all(i in self._states for i in chosen):
            found = [self._states[i].float() for i in chosen]
            mask = [torch.ones(len(one), dtype=torch.long) for one in found]
            padded = torch.nn.utils.rnn.pad_sequence
            return padded(found, batch_first=True), padded(mask, batch_first=True)
        batch = {name: value.to(self._device) for name, value in self._rows.batch(chosen).items()}
        with torch.no_grad():
            hidden = self._trunk(**batch)
        if self._device.type == "cpu":  # a GPU computes them faster than they are fetched
            for state, i in zip(hidden, chosen, strict=True):
                self._states[i] = state[: self._rows.sizes[i]].half()
        return hidden, batch["attention_mask"]


def worker(rank: int, given: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(given.port)}
    dist.init_process_group("gloo", rank=rank, world_size=given.workers)
    torch.manual_seed(given.seed)
    model = build(given.onnx)
    if given.start:
        model.load_state_dict(torch.load(given.start, weights_only=True)["model"])
    if given.layers:
        model = thinned(model, given.layers)
    device = torch.device(given.device)
    model.to(device)
    trunk = Trunk(model, given.freeze).requires_grad_(False)
    if device.type == "cpu":
        model.set_attn_implementation("eager")  # the fused one's backward pass takes two fifths of the time on a CPU
    reader = copy.deepcopy(model).to(torch.bfloat16) if given.bf16 else model
    dtype = torch.bfloat16 if given.bf16 else torch.float32
    copies = [p for p in reader.parameters() if p.requires_grad]
    top = Top(reader, given.freeze)
    step_of = torch.compile(top, dynamic=True) if given.compile else top
    head = [p for n, p in model.named_parameters() if p.requires_grad and n.startswith("classifier")]
    body = [p for n, p in model.named_parameters() if p.requires_grad and not n.startswith("classifier")]
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": head, "factor": 5.0}, {"params": body, "factor": 1.0}], lr=given.lr, weight_decay=0.01, foreach=True
    )
    rows = Rows(given.pairs, tuple(given.without), tuple(given.of), given.share)
    rows.keep_part(rank, given.workers)
    frozen = FrozenLayers(trunk, rows, device)
    if given.soft:
        rows.soft = torch.from_numpy(np.load(given.soft))
    spent, step, seen = 0.0, 0, 0
    last = given.out / "last.pt"
    if given.resume:
        kept = torch.load(last, weights_only=True, map_location=device)
        model.load_state_dict(kept["model"])
        optimiser.load_state_dict(kept["optimiser"])
        renew(copies, parameters)
        spent, step, seen = kept["spent"], kept["step"], kept["seen"]
    budget, saved, losses = given.minutes * 60, spent, []
    plan = itertools.islice(planned(rows, given.tokens, given.seed), step, None)
    before = time.monotonic()
    model.train()
    while True:
        if step % given.sync == 0:
            if step and given.workers > 1:
                mean_of_workers(parameters, given.workers)
                renew(copies, parameters)
            flag = torch.tensor([spent])
            dist.broadcast(flag, 0)
            spent = float(flag)
            progress = step / given.steps if given.steps else spent / budget
            if progress >= 1:
                break
            if rank == 0 and step % (given.sync * 4) == 0:
                print(f"step {step} {spent:.0f} s, loss of a row {np.mean(losses[-300:]) if losses else 0:.4f}, "
                      f"{seen * given.workers / max(1.0, spent):.1f} pairs/s", flush=True)  # fmt: skip
            if rank == 0 and spent - saved > 120:
                saved = spent
                torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "spent": spent,
                            "step": step, "seen": seen, "freeze": given.freeze},
                           last.with_suffix(".new"))  # fmt: skip
                last.with_suffix(".new").rename(last)
        rate = given.lr * min(1.0, (step + 1) / 100, max(0.01, (1 - progress) / (1 - given.flat)))
        for part in optimiser.param_groups:
            part["lr"] = rate * part["factor"]
        chosen = next(plan)
        hidden, mask = frozen(chosen)
        logits = step_of(hidden.to(dtype), mask)
        labels = rows.labels[chosen].to(device)
        if rows.soft is None:
            loss = loss_of(logits, labels) + loss_of_twins(logits, labels, rows.twins[chosen].to(device))
        else:
            loss = loss_beside(logits, labels, rows.soft[chosen].to(device))
        for p in copies:
            p.grad = None
        loss.backward()
        if reader is not model:
            for p, copied in zip(parameters, copies, strict=True):
                p.grad = copied.grad.float()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        renew(copies, parameters)
        losses.append(loss.item() * TYPICAL / len(chosen))
        seen += len(chosen)
        step += 1
        now = time.monotonic()
        spent += min(LONGEST_STEP, now - before)
        before = now
    if rank == 0:
        model.cpu()
        found = {"model": model.state_dict(), "freeze": given.freeze, "step": step, "pairs_seen": seen * given.workers}
        torch.save(found, given.out / "final.pt")
        print(f"done: {step} steps, about {seen * given.workers} pairs, loss {np.mean(losses[-300:]):.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--onnx", type=Path, required=True, help="the published model, or base.pt of multilingual_base.py")
    ask.add_argument("--pairs", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--minutes", type=float, default=45)
    ask.add_argument("--steps", type=int, help="of each worker, in place of a time; a multiple of --sync")
    ask.add_argument("--without", nargs="*", default=[], help="beginnings of the names of sources to leave out")
    ask.add_argument("--of", nargs="*", default=[], help="beginnings of the names of sources to keep in any case")
    ask.add_argument("--share", type=float, help="share that the sources of --of are to have")
    ask.add_argument("--workers", type=int, default=2)
    ask.add_argument("--tokens", type=int, default=2048, help="of a batch of one worker")
    ask.add_argument("--lr", type=float, default=1e-4)
    ask.add_argument("--flat", type=float, default=0.1, help="share of the time before the learning rate falls")
    ask.add_argument("--freeze", type=int, default=4)
    ask.add_argument("--sync", type=int, default=10)
    ask.add_argument("--seed", type=int, default=23)
    ask.add_argument("--port", type=int, default=29517)
    ask.add_argument("--start", type=Path, help="weights of an earlier run to start from")
    ask.add_argument("--layers", type=int, nargs="+", help="of --start, those that a smaller reader begins with")
    ask.add_argument("--soft", type=Path, help="what a larger reader says of the pairs, of soft_labels.py")
    ask.add_argument("--resume", action="store_true")
    ask.add_argument(
        "--bf16", action=argparse.BooleanOptionalAction,
        default=computes_bfloat16(),
        help="bfloat16, by default where the CPU computes with it; elsewhere it is many times slower than float32",
    )  # fmt: skip
    ask.add_argument("--compile", action="store_true", help="a quarter faster after two minutes; needs a C++ compiler")
    ask.add_argument("--device", default="cpu", help="cpu or cuda; a GPU takes one worker")
    given = ask.parse_args()
    if given.device != "cpu":
        given.workers, given.bf16 = 1, True
    given.out.mkdir(parents=True, exist_ok=True)
    mp.spawn(worker, args=(given,), nprocs=given.workers)


if __name__ == "__main__":
    main()
