"""Ask the reference and our runtimes the same; print the differences as JSON.

    python compare.py WORK RECIPE

`WORK` is an empty folder, `RECIPE` the folder of the decision model's `export.py`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import laya
import numpy as np
from laya.shortlist import embed_fn_from_agent
from laya_signals.decide import by_id, parse_questions
from laya_signals.decide.onnx import OnnxDecisionModel
from laya_signals.decide.torch import CheckpointDecision
from laya_signals.encode.laya import LayaEncoder
from samples import EXPORTED, QUESTIONS, STATES, make_checkpoints


def numbers(answer: dict[str, Any]) -> list[float]:
    """An answer's probabilities, confidences and score, in an order of its own type."""
    if answer["type"] == "noul":
        return [answer["noul"], answer["confidence"], answer["answer_confidence"]]
    found = [*answer["probabilities"].values(), answer["confidence"], answer["answer_confidence"]]
    # A score is in levels; as a share of the highest it compares with a probability.
    top = max(1, len(answer["probabilities"]) - 1)
    return found + ([answer["score"] / top] if answer["type"] == "score" else [])


def pairs(left: list[Any], right: list[Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The answers of two models, side by side."""
    for one, other in zip(left, right, strict=True):
        assert set(one["answers"]) == set(other["answers"]) == set(QUESTIONS)
        for name in QUESTIONS:
            yield one["answers"][name], other["answers"][name]


def worst(left: list[Any], right: list[Any]) -> float:
    """The largest difference between two models' numbers."""
    return max(
        abs(a - b)
        for one, other in pairs(left, right)
        for a, b in zip(numbers(one), numbers(other), strict=True)
    )


def same_words(left: list[Any], right: list[Any]) -> bool:
    """Labels, legends and truncation agree; a choice too, unless its best two are a tie."""
    for one, other in pairs(left, right):
        if list(one.get("probabilities", ())) != list(other.get("probabilities", ())):
            return False
        if one.get("legend") != other.get("legend"):
            return False
        if one.get("choice") != other.get("choice"):
            best, second = sorted(one["probabilities"].values(), reverse=True)[:2]
            if best - second > 2e-4:
                return False
    keys = ("input_tokens", "state_tokens", "state_tokens_dropped", "truncated_questions")
    return all(
        one["usage"][key] == other["usage"][key]
        for one, other in zip(left, right, strict=True)
        for key in keys
    )


def same_ids(agent: Any, model: CheckpointDecision) -> tuple[int, int]:
    """How many sequences are equal, ids and markers, and how many there are."""
    internal = {name: agent._to_internal(definition) for name, definition in QUESTIONS.items()}
    builder = model.checkpoint.sequences()
    equal = total = 0
    for state in STATES:
        items = agent._encode_state(state, list(QUESTIONS), internal)
        for item, question in zip(items, parse_questions(QUESTIONS), strict=True):
            ours = builder.build(state, question)
            equal += (list(ours.ids), list(ours.markers)) == (item["ids"], item["markers"])
            total += 1
    return equal, total


def embedding_difference(agent: Any, folder: Path) -> float:
    """Our encoder against the reference's mean pooling, on texts without special tokens."""
    texts = [STATES[0], STATES[2], "東京 naïve café 🙂"]
    ours = LayaEncoder(model=str(folder)).encode_documents(texts)
    theirs = embed_fn_from_agent(agent, max_length=384)(texts)
    return float(np.abs(ours - theirs / np.linalg.norm(theirs, axis=1, keepdims=True)).max())


def exported(checkpoint: Path, out: Path, recipe: Path) -> OnnxDecisionModel:
    """The recipe's own export of a checkpoint, opened by our runtime."""
    items = out / "items"
    items.mkdir(parents=True)
    rows = [
        {"t": kind, "q": f"Where is parcel {n}?", "d": f"Parcel {n} is in the café {n * 3}."}
        for n in range(8)
        for kind in ("rel", "ans")
    ]
    for split in ("val", "test"):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (items / f"{split}.jsonl").write_text(text, encoding="utf-8")
    command = [sys.executable, str(recipe / "export.py"), "--checkpoint", str(checkpoint)]
    command += ["--out", str(out), "--items", str(items), "--n", "4"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    names = ("model.onnx", "tokenizer.json", "config.json")
    hashes = {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in names}
    return OnnxDecisionModel(out, hashes)


def main() -> None:
    """Compare all checkpoints."""
    work, recipe = Path(sys.argv[1]), Path(sys.argv[2])
    report: dict[str, Any] = {}
    for name, folder in make_checkpoints(work / "checkpoints").items():
        agent = laya.load(str(folder), device="cpu")
        theirs = agent.predict_batch(STATES, QUESTIONS)
        single = CheckpointDecision(model=str(folder))
        ours = single.predict_batch(STATES, QUESTIONS)
        padded = CheckpointDecision(model=str(folder), batch_size=8).predict_batch(
            STATES, QUESTIONS
        )
        nouls = [decision["answers"]["labels"]["noul"] for decision in theirs]
        equal, total = same_ids(agent, single)
        entry: dict[str, Any] = {
            "equal_ids": equal,
            "sequences": total,
            "torch": worst(theirs, ours),
            "torch_padded": worst(theirs, padded),
            "same_words": same_words(theirs, ours),
            "spread": max(nouls) - min(nouls),
            "encoder": embedding_difference(agent, folder),
            # Our own way of writing questions down reads the same to the reference.
            "by_id": agent.predict_batch(STATES, by_id(QUESTIONS)) == theirs,
            "one_state_alone": single.predict_batch(STATES[2:3], QUESTIONS) == ours[2:3],
        }
        if name == EXPORTED:
            # The export cuts where the checkpoint says, so both saw the same tokens.
            model = exported(folder, work / "export", recipe)
            quick = model.predict_batch(STATES, QUESTIONS)
            entry |= {"onnx": worst(theirs, quick), "onnx_same_words": same_words(theirs, quick)}
        report[name] = entry
    print(json.dumps(report))


if __name__ == "__main__":
    main()
