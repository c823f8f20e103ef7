"""Helpers around ONNX files, shared by the exports: PyTorch to ONNX, and ways to make the file small and quick."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17  # the first with a LayerNormalization operator of its own
SEVEN_BITS = 63  # the largest weight of integer arithmetic: 255 * 63 * 2 fits the 16 bits that some CPUs add in
BIG = 10_000  # a constant with fewer values than this stays float: biases, norms, the last layer


def export(module: Any, example: Mapping[str, Any], out: Path, result: str) -> None:
    """Write `module` as float ONNX; every input is [batch, tokens], and so is free in both."""
    import torch

    names = list(example)
    free: dict[str, dict[int, str]] = {name: {0: "batch", 1: "tokens"} for name in names}
    free[result] = {0: "batch"}
    torch.onnx.export(
        module.eval(), tuple(example.values()), str(out), input_names=names, output_names=[result],
        dynamic_axes=free, opset_version=OPSET, dynamo=False,
    )  # fmt: skip


def dynamic_int8(source: Path, out: Path) -> None:
    """int8 weights and int8 activations, the latter scaled anew for every tensor of every call.

    Without `reduce_range` the products saturate on CPUs that have no VNNI.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(source), str(out), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True,
        op_types_to_quantize=["MatMul", "Gather", "Gemm"], extra_options={"MatMulConstBOnly": True},
    )  # fmt: skip


def blockwise_int8(source: Path, out: Path, block: int = 64) -> None:
    """int8 weights by blocks (MatMulNBits), activations scaled by row and block: independent of the batch."""
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    settings = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=True, accuracy_level=4, bits=8)
    quantiser = MatMulNBitsQuantizer(onnx.load(str(source)), algo_config=settings)
    quantiser.process()
    onnx.save(quantiser.model.model, str(out))


def stored_int8(
    source: Path, out: Path, rebuild: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, int] | None] = lambda _: None
) -> None:
    """int8 in the file, float in the arithmetic: every large constant becomes `Mul(Cast(int8), scale)`.

    onnxruntime folds that back into one float constant when it loads the file, so results are those of float
    arithmetic, whatever else is in the batch. An embedding table stays int8 in memory: its rows are looked up first.
    Scales are one per output column (per row for embeddings). `rebuild` may return the (int8, scale, zero point)
    that a constant was made from, which keeps its values exactly.
    """
    model = onnx.load(str(source))
    graph = model.graph
    constants = {t.name: t for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT}
    ahead: list[onnx.NodeProto] = []
    nodes: list[onnx.NodeProto] = []
    done: dict[str, str] = {}

    def put(name: str, values: np.ndarray) -> str:
        graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    for node in graph.node:
        if node.op_type == "Gather" and node.input[0] in constants:
            name = node.input[0]
            q, scale, zero = _int8(numpy_helper.to_array(constants[name]), axis=1, rebuild=rebuild)
            scale = np.broadcast_to(scale, (q.shape[0], 1)).astype(np.float32)
            where, result = node.input[1], node.output[0]
            stem = result + "/int8"
            nodes += [
                helper.make_node("Gather", [put(name + "_q", q), where], [stem]),
                helper.make_node("Gather", [put(name + "_scale", scale), where], [stem + "_scale"]),
                *_float_again(stem, stem + "_scale", zero, result, put),
            ]
            done[name] = ""
            continue
        for place, name in enumerate(node.input):
            if name not in constants or node.op_type not in ("MatMul", "Gemm"):
                continue
            weights = numpy_helper.to_array(constants[name])
            if weights.size < BIG:
                continue
            if name not in done:
                turned = node.op_type == "Gemm" and any(a.name == "transB" and a.i for a in node.attribute)
                q, scale, zero = _int8(weights, axis=1 if turned else 0, rebuild=rebuild)
                done[name] = name + "_float"
                ahead += _float_again(put(name + "_q", q), put(name + "_scale", scale), zero, done[name], put)
            node.input[place] = done[name]
        nodes.append(node)
    kept = [t for t in graph.initializer if t.name not in done]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    del graph.node[:]
    graph.node.extend(ahead + nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(out))


def integer_arithmetic(source: Path, out: Path) -> None:
    """Products of integers in place of floats, in a file that `stored_int8` wrote: 2.4 times as quick.

    Weights get 7 bits, one scale per output column: with 8, sums saturate on CPUs without VNNI. Activations get 8,
    with one scale for each product of each call (onnxruntime's DynamicQuantizeMatMul): a text that is read alone has
    the same one whatever else is asked. Sums of integers are exact on every CPU; what rounding is left of floats can
    turn a value into its neighbour, and move a probability by some hundredths.
    """
    model = onnx.load(str(source))
    graph = model.graph
    constants = {t.name: t for t in graph.initializer}
    maker = {name: node for node in graph.node for name in node.output}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        stored = maker.get(node.input[1]) if node.op_type in ("MatMul", "Gemm") else None
        if stored is None or stored.op_type != "Mul" or stored.input[1] not in constants:
            nodes.append(node)
            continue
        weights = _stored(stored, maker, constants)
        if node.op_type == "Gemm" and any(a.name == "transB" and a.i for a in node.attribute):
            weights = weights.T
        scale = np.maximum(np.abs(weights).max(axis=0), 1e-12).astype(np.float32) / np.float32(SEVEN_BITS)
        q = np.clip(np.rint(weights / scale), -SEVEN_BITS, SEVEN_BITS).astype(np.int8)
        name = node.output[0]
        inputs = [node.input[0], name + "_q", name + "_scale", "", *node.input[2:]]
        nodes.append(helper.make_node("DynamicQuantizeMatMul", inputs, [name], node.name, domain="com.microsoft"))
        graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(q), name + "_q"))
        graph.initializer.append(numpy_helper.from_array(scale, name + "_scale"))
    nodes = _needed(nodes, {result.name for result in graph.output})
    used = {name for node in nodes for name in node.input}
    kept = [t for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    del graph.node[:]
    graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, str(out))


def _stored(
    product: onnx.NodeProto, maker: Mapping[str, onnx.NodeProto], constants: Mapping[str, onnx.TensorProto]
) -> np.ndarray:
    """The float values of a constant that `stored_int8` has put as `(q - zero) * scale`."""
    before, zero = maker[product.input[0]], 0.0
    if before.op_type == "Sub":
        zero = float(numpy_helper.to_array(constants[before.input[1]]))
        before = maker[before.input[0]]
    q = numpy_helper.to_array(constants[before.input[0]]).astype(np.float32)
    values: np.ndarray = (q - np.float32(zero)) * numpy_helper.to_array(constants[product.input[1]])
    return values


def _needed(nodes: list[onnx.NodeProto], wanted: set[str]) -> list[onnx.NodeProto]:
    """The nodes, in order, without those that nothing which is wanted comes of."""
    kept: list[onnx.NodeProto] = []
    wanted = set(wanted)
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    return kept[::-1]


def _int8(
    weights: np.ndarray, axis: int, rebuild: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, int] | None]
) -> tuple[np.ndarray, np.ndarray, int]:
    known = rebuild(weights)
    if known is not None:
        return known
    scale = np.maximum(np.abs(weights).max(axis=axis, keepdims=True), 1e-12).astype(np.float32) / np.float32(127)
    return np.clip(np.rint(weights / scale), -127, 127).astype(np.int8), scale, 0


def _float_again(
    q: str, scale: str, zero: int, result: str, put: Callable[[str, np.ndarray], str]
) -> Iterable[onnx.NodeProto]:
    """Nodes that compute (q - zero) * scale; all constant when `q` is."""
    cast, less = result + "/cast", result + "/less"
    yield helper.make_node("Cast", [q], [cast], to=onnx.TensorProto.FLOAT)
    if zero:
        yield helper.make_node("Sub", [cast, put(result + "/zero", np.array(zero, np.float32))], [less])
    yield helper.make_node("Mul", [less if zero else cast, scale], [result])


def pack(path: Path) -> Path:
    """The file beside itself, as `.gz`, the same bytes each time."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    return packed


def megabytes(path: Path) -> str:
    """The size of a file, to read."""
    return f"{path.stat().st_size / 1e6:.1f} MB"
