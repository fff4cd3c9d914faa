"""Export a checkpoint of the decision model to an int8 ONNX file that runs one pair at a time.

    python export.py --checkpoint CHECKPOINT --out OUT --items ITEMS [--fp32]

Writes OUT/model.onnx, tokenizer.json and config.json. Inputs: `input_ids` (1, t), `marker_pos`
(1, k), `qtype` (1), all int64; output `logits` (1, k) float32, no temperature applied. There is no
attention mask on purpose: one pair per run, so that a probability cannot depend on its neighbours.
The graph is the encoder's (`../bert_graph.py`), its last layer computed at the markers only.
With --items (the folder of build_data.py) the input channels with outliers are read off 64 items
of val.jsonl, and the differences to fp32 are printed on 500 items of test.jsonl.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from model import ANSWERABILITY, RELEVANCE, Sequences
from onnx import TensorProto, helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).parent.parent))
from bert_graph import (
    CONTRIB,
    HEADS,
    LAYERS,
    Array,
    BertGraph,
    quantise_columns,
)

OUTLIER = 4.0


@dataclass
class DecisionGraph(BertGraph):
    """The encoder's graph with the last layer at the markers, type embedding and scorer."""

    def build(self) -> onnx.ModelProto:
        """Inputs input_ids, marker_pos, qtype; output logits."""
        states = self._embeddings()
        for layer in range(LAYERS - 1):
            states = self._layer(layer, states)
        rows = self._last(LAYERS - 1, states)
        kind = self._op(
            "Gather", self._constant("type_emb", self.weights["type_emb.weight"]), "qtype"
        )
        rows = self._op("Add", rows, kind)
        rows = self._op(
            "LayerNormalization",
            rows,
            self._constant("scorer.0.weight", self.weights["scorer.0.weight"]),
            self._constant("scorer.0.bias", self.weights["scorer.0.bias"]),
            axis=-1,
            epsilon=1e-5,
        )
        for n in (1, 3):
            if n == 3:
                rows = self._op("Gelu", rows, domain=CONTRIB)
            rows = self._op(
                "MatMul",
                rows,
                self._constant(f"scorer.{n}.weight", self.weights[f"scorer.{n}.weight"].T),
            )
            rows = self._op(
                "Add", rows, self._constant(f"scorer.{n}.bias", self.weights[f"scorer.{n}.bias"])
            )
        axis = self._constant("last_axis", np.array([2], np.int64))
        self._op("Squeeze", rows, axis)
        self._nodes[-1].output[0] = "logits"
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "options"])]
        if not self.quantise:
            outputs += [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                for name in self.taps.values()
            ]
        graph = helper.make_graph(
            self._nodes,
            "decision",
            [
                helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"]),
                helper.make_tensor_value_info("marker_pos", TensorProto.INT64, [1, "options"]),
                helper.make_tensor_value_info("qtype", TensorProto.INT64, [1]),
            ],
            outputs,
            list(self._constants.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)],
            ir_version=10,
            producer_name="laya-mini",
        )

    def _linear(self, layer: int, kind: str, states: str, name: str) -> str:
        """A product of the last layer: int8 over all tokens, float32 over the few markers."""
        if kind == "attention":
            states, weight = self._scaled(kind, layer, states, self.weights[name + ".weight"].T)
            bias = self._constant(name + ".bias", self.weights[name + ".bias"])
            if self.quantise:
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
            product = self._op("MatMul", states, self._constant(name + ".weight", weight))
            return self._op("Add", product, bias)
        return self._product(kind, layer, states, name)

    def _last(self, layer: int, states: str) -> str:
        prefix = f"encoder.layer.{layer}."
        att = prefix + "attention.self."
        zero = self._constant("zero", np.array([0], np.int64))
        places = self._op("Squeeze", "marker_pos", zero)
        rows = self._op("Gather", states, places, axis=1)
        key = self._linear(layer, "attention", states, att + "key")
        value = self._linear(layer, "attention", states, att + "value")
        query = self._op(
            "Add",
            self._op(
                "MatMul",
                rows,
                self._constant(att + "query.weight", self.weights[att + "query.weight"].T),
            ),
            self._constant(att + "query.bias", self.weights[att + "query.bias"]),
        )
        context = self._op("MultiHeadAttention", query, key, value, domain=CONTRIB, num_heads=HEADS)
        attended = self._product("context", layer, context, prefix + "attention.output.dense")
        rows = self._normalise(attended, rows, prefix + "attention.output.LayerNorm")
        wide = self._product("feed_forward", layer, rows, prefix + "intermediate.dense")
        wide = self._op("Gelu", wide, domain=CONTRIB)
        narrow = self._product("expansion", layer, wide, prefix + "output.dense")
        return self._normalise(narrow, rows, prefix + "output.LayerNorm")


def weights_of(checkpoint: Path) -> dict[str, Array]:
    """Float32 weights, the encoder's without their prefix."""
    raw = load_file(checkpoint / "model.safetensors")
    return {
        k.removeprefix("encoder.") if k.startswith("encoder.") else k: v.astype(np.float32)
        for k, v in raw.items()
    }


def feeds(seqs: Sequences, it: dict[str, str]) -> dict[str, np.ndarray]:
    """The inputs of one item."""
    ids, markers = seqs.build(it["t"], it["q"], it["d"])[:2]
    return {
        "input_ids": np.array([ids], np.int64),
        "marker_pos": np.array([markers], np.int64),
        "qtype": np.array([2], np.int64),
    }


def session(model: bytes | str, threads: int = 2) -> onnxruntime.InferenceSession:
    """A CPU session."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def outliers(
    weights: dict[str, Array], seqs: Sequences, items: list[dict[str, str]]
) -> dict[tuple[str, int], Array]:
    """One power of two per input channel of each product: 1 unless it is an outlier."""
    graph = DecisionGraph(weights, quantise=False)
    run = session(graph.build().SerializeToString())
    largest: dict[tuple[str, int], Array] = {}
    for it in items:
        values = run.run(list(graph.taps.values()), feeds(seqs, it))
        for product, value in zip(graph.taps, values, strict=True):
            peak = np.abs(value[0]).max(axis=0)
            largest[product] = np.maximum(largest.get(product, 0), peak)
    return {
        product: np.exp2(
            np.where(
                peak > OUTLIER * np.median(peak),
                np.ceil(np.log2(peak / np.median(peak) / OUTLIER)),
                0,
            )
        ).astype(np.float32)
        for product, peak in largest.items()
    }


def main() -> None:
    """Export, and compare with fp32."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--items", type=Path, required=True)
    ap.add_argument("--fp32", action="store_true", help="keep float32 (to compare)")
    ap.add_argument("--n", type=int, default=500)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    config = json.loads((args.checkpoint / "rl_agent_config.json").read_text())
    seqs = Sequences(args.checkpoint / "tokenizer" / "tokenizer.json")
    weights = weights_of(args.checkpoint)

    def some(name: str, n: int) -> list[dict[str, str]]:
        rows = [json.loads(x) for x in (args.items / f"{name}.jsonl").open(encoding="utf-8")]
        return random.Random(5).sample(rows, min(n, len(rows)))

    scales = outliers(weights, seqs, some("val", 64))
    graph = DecisionGraph(weights, quantise=not args.fp32, scales=scales).build()
    blob = graph.SerializeToString(deterministic=True)
    (args.out / "model.onnx").write_bytes(blob)
    tokenizer = Tokenizer.from_file(str(args.checkpoint / "tokenizer" / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    (args.out / "tokenizer.json").write_text(tokenizer.to_str() + "\n", encoding="utf-8")
    keys = ("max_len", "head_max_len", "temperature", "calibration", "thresholds")
    described = {k: config[k] for k in keys if k in config} | {
        "questions": {
            "relevance": {
                "type": "noul",
                "instructions": RELEVANCE,
                "state": ["query", "document"],
            },
            "answerability": {
                "type": "noul",
                "instructions": ANSWERABILITY,
                "state": ["query", "evidence"],
            },
        },
        "inputs": ["input_ids", "marker_pos", "qtype"],
        "output": "logits",
        "qtypes": {"choice": 0, "score": 1, "noul": 2},
    }
    (args.out / "config.json").write_text(json.dumps(described, indent=2) + "\n")

    # fp32 reference: the same graph without rounding, checked against torch elsewhere
    exact = session(DecisionGraph(weights, quantise=False).build().SerializeToString())
    quick, single = session(blob), session(blob, 1)
    t = max(config["temperature"][2], 1e-3)
    diffs, equal, spent = [], 0, 0.0
    for it in some("test", args.n):
        f = feeds(seqs, it)
        a = exact.run(["logits"], f)[0][0]
        begin = time.perf_counter()
        b = quick.run(["logits"], f)[0][0]
        spent += time.perf_counter() - begin
        equal += bool((single.run(["logits"], f)[0][0] == b).all())
        pa, pb = (1 / (1 + np.exp(-(x[1] - x[0]) / t)) for x in (a, b))
        diffs.append(abs(float(pa - pb)))
    d = np.array(diffs)
    print(
        json.dumps(
            {
                "bytes": len(blob),
                "items": len(d),
                "mean": round(float(d.mean()), 5),
                "p95": round(float(np.quantile(d, 0.95)), 5),
                "max": round(float(d.max()), 5),
                "one_and_two_threads_bit_equal": f"{equal}/{len(d)}",
                "ms_per_item": round(1000 * spent / len(d), 2),
            }
        )
    )


if __name__ == "__main__":
    main()
