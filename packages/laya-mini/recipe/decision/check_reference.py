"""Check that PyPI `laya` loads a checkpoint and gives the same token ids and probabilities.

    python check_reference.py --checkpoint CHECKPOINT --items ITEMS [--n 60]

Run it where PyPI `laya` is installed, which is never the workspace's environment.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import laya
import torch
from laya.common import build_sequence
from model import INSTRUCTIONS, STATE_KEY, load, score


def main() -> None:
    """Compare and print the largest difference."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--items", type=Path, required=True)
    ap.add_argument("--n", type=int, default=60)
    args = ap.parse_args()
    model, seqs, config = load(args.checkpoint)
    agent = laya.load(str(args.checkpoint), device="cpu")
    rows = [json.loads(x) for x in (args.items / "test.jsonl").open(encoding="utf-8")]
    rows = random.Random(3).sample(rows, args.n)
    rows += [{"t": "ans", "q": 'Wo [MASK] liegt "Köln"?', "d": "Köln \\ 東京 \n\t" * 300}]
    ours = torch.sigmoid(score(model, seqs, rows) / config["temperature"][2]).tolist()
    worst = 0.0
    for it, p in zip(rows, ours, strict=True):
        state = {"query": it["q"], STATE_KEY[it["t"]]: it["d"]}
        ids, markers = build_sequence(
            agent.tok,
            state,
            {"t": "noul", "ins": INSTRUCTIONS[it["t"]]},
            config["max_len"],
            config["head_max_len"],
        )
        mine = seqs.build(it["t"], it["q"], it["d"])
        if (ids, markers) != (mine[0], mine[1]):
            raise SystemExit(f"different token ids: {it}")
        question = {"a": {"type": "noul", "instructions": INSTRUCTIONS[it["t"]]}}
        answer = agent.predict_batch([state], question)[0]["answers"]["a"]
        worst = max(worst, abs(answer["noul"] - p))
    print(json.dumps({"items": len(rows), "token_ids": "equal", "largest_difference": worst}))
    if worst > 1e-4:
        raise SystemExit("probabilities differ")


if __name__ == "__main__":
    main()
