"""A BERT encoder written out as an ONNX graph, with int8 or float32 matrix products.

The graph is built node by node rather than exported, so that its bytes depend on the weights and on
this file alone, and no exporter's version, path or comment ends up in it. It has one input,
`input_ids` `(batch, tokens)` int64, and no attention mask on purpose: padding is not supported, so
what a text gets cannot depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float32]

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
CONTRIB = "com.microsoft"

#: The four matrix products of a layer, by the name of what goes in.
PRODUCTS = ("attention", "context", "feed_forward", "expansion")


@dataclass
class BertGraph:
    """Builds the graph from `weights`, named as in the original checkpoint.

    `scales` maps `(product, layer)` to one positive factor per input channel: activations are
    divided by it and weight rows multiplied by it before both are rounded to int8, which leaves the
    exact product as it was. With `quantise=False` everything stays float32 and the inputs of all
    products become outputs (`taps`) for calibration.
    """

    weights: Mapping[str, Array]
    quantise: bool = True
    scales: Mapping[tuple[str, int], Array] = field(default_factory=dict)
    taps: dict[tuple[str, int], str] = field(default_factory=dict)
    _nodes: list[onnx.NodeProto] = field(default_factory=list)
    _constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def build(self) -> onnx.ModelProto:
        """The model; its first output is `token_states` `(batch, tokens, dimension)` float32."""
        states = self._embeddings()
        for layer in range(LAYERS):
            states = self._layer(layer, states)
        self._nodes[-1].output[0] = "token_states"
        outputs = [
            helper.make_tensor_value_info(
                "token_states", TensorProto.FLOAT, ["batch", "tokens", 384]
            )
        ]
        if not self.quantise:
            outputs += [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                for name in self.taps.values()
            ]
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
            outputs,
            list(self._constants.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)],
            ir_version=10,
            producer_name="laya-mini",
        )

    def _embeddings(self) -> str:
        words = self.weights["embeddings.word_embeddings.weight"]
        if self.quantise:
            rounded, scale = quantise_columns(words.T)
            codes = self._op("Gather", self._constant("words", rounded.T), "input_ids")
            factor = self._op("Gather", self._constant("words.scale", scale[:, None]), "input_ids")
            word = self._op("Mul", self._op("Cast", codes, to=TensorProto.FLOAT), factor)
        else:
            word = self._op("Gather", self._constant("words", words), "input_ids")
        # Every text is one segment, so the segment embedding is a constant added to each position.
        table = (
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        zero = self._constant("zero", np.array([0], np.int64))
        length = self._op("Shape", "input_ids", start=1, end=2)
        position = self._op("Slice", self._constant("positions", table), zero, length, zero)
        return self._normalise(word, self._op("Unsqueeze", position, zero), "embeddings.LayerNorm")

    def _layer(self, layer: int, states: str) -> str:
        prefix = f"encoder.layer.{layer}."
        context = self._attention(layer, states, prefix + "attention.self.")
        attended = self._product("context", layer, context, prefix + "attention.output.dense")
        states = self._normalise(attended, states, prefix + "attention.output.LayerNorm")
        wide = self._product("feed_forward", layer, states, prefix + "intermediate.dense")
        wide = self._op("Gelu", wide, domain=CONTRIB)
        narrow = self._product("expansion", layer, wide, prefix + "output.dense")
        return self._normalise(narrow, states, prefix + "output.LayerNorm")

    def _attention(self, layer: int, states: str, prefix: str) -> str:
        parts = ("query", "key", "value")
        weight = np.concatenate(
            [self.weights[f"{prefix}{part}.weight"].T for part in parts], axis=1
        )
        bias = np.concatenate([self.weights[f"{prefix}{part}.bias"] for part in parts])
        states, weight = self._scaled("attention", layer, states, weight)
        if not self.quantise:
            return self._op(
                "Attention",
                states,
                self._constant(prefix + "weight", weight),
                self._constant(prefix + "bias", bias),
                domain=CONTRIB,
                num_heads=HEADS,
            )
        rounded, scale = quantise_columns(weight)
        codes, code_scale, code_zero = self._ops("DynamicQuantizeLinear", 3, states)
        return self._op(
            "QAttention",
            codes,
            self._constant(prefix + "weight", rounded),
            self._constant(prefix + "bias", bias),
            code_scale,
            self._constant(prefix + "scale", scale),
            "",
            code_zero,
            self._constant(prefix + "zero", np.zeros(scale.shape, np.int8)),
            domain=CONTRIB,
            num_heads=HEADS,
        )

    def _product(self, kind: str, layer: int, states: str, name: str) -> str:
        states, weight = self._scaled(kind, layer, states, self.weights[name + ".weight"].T)
        bias = self._constant(name + ".bias", self.weights[name + ".bias"])
        if not self.quantise:
            product = self._op("MatMul", states, self._constant(name + ".weight", weight))
            return self._op("Add", product, bias)
        rounded, scale = quantise_columns(weight)
        return self._op(
            "DynamicQuantizeMatMul",
            states,
            self._constant(name + ".weight", rounded),
            self._constant(name + ".scale", scale),
            self._constant(name + ".zero", np.zeros(scale.shape, np.int8)),
            bias,
            domain=CONTRIB,
        )

    def _scaled(self, kind: str, layer: int, states: str, weight: Array) -> tuple[str, Array]:
        self.taps[kind, layer] = states
        factor = self.scales.get((kind, layer))
        if factor is None or bool((factor == 1).all()):
            return states, weight
        inverse = self._constant(f"layer.{layer}.{kind}.factor", (1 / factor).astype(np.float32))
        return self._op("Mul", states, inverse), weight * factor[:, None]

    def _normalise(self, states: str, residual: str, name: str) -> str:
        return self._op(
            "SkipLayerNormalization",
            states,
            residual,
            self._constant(name + ".weight", self.weights[name + ".weight"]),
            self._constant(name + ".bias", self.weights[name + ".bias"]),
            domain=CONTRIB,
            epsilon=EPSILON,
        )

    def _constant(self, name: str, values: NDArray[np.generic]) -> str:
        self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def _op(self, kind: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        return self._ops(kind, 1, *inputs, domain=domain, **attributes)[0]

    def _ops(
        self, kind: str, count: int, *inputs: str, domain: str = "", **attributes: object
    ) -> list[str]:
        name = f"{kind}.{len(self._nodes)}"
        outputs = [name if index == 0 else f"{name}.{index}" for index in range(count)]
        self._nodes.append(
            helper.make_node(kind, inputs, outputs, name=name, domain=domain, **attributes)
        )
        return outputs


def quantise_columns(weight: Array) -> tuple[NDArray[np.int8], Array]:
    """Symmetric int8 codes of `(k, n)` weights and one float32 scale for each of the n columns."""
    scale = np.abs(weight).max(axis=0).astype(np.float32) / np.float32(127)
    scale[scale == 0] = 1
    return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), scale
