"""Fit the temperature, the calibration and the relevance threshold on held-out articles.

    python calibrate.py --checkpoint CHECKPOINT --items ITEMS

Writes into CHECKPOINT/rl_agent_config.json: `temperature` (noul, clamped to [0.5, 5]; it is the
format's own and what PyPI `laya` applies), `calibration` (slope and offset on the logit after the
temperature, which a runtime that knows the question may apply) and `thresholds`. Fitted on the
calibration and the validation split together: one has a single large SQuAD article. Every
(question, data set) weighs the same, whatever its size, except for answerability's slope. That is
fitted on SQuAD's pairs of a question with its own paragraph or the nearest other one: there a
wrong passage looks right, as it does behind a search, and there the model is too sure of itself;
it has no offset, which on articles that no step saw did more harm than good.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from metrics import ece
from model import load, score
from torch import Tensor

NAMES = {"rel": "relevance", "ans": "answerability"}
HARD = ("squad/own-yes", "squad/own-no", "squad/near")


def fit(z: Tensor, y: Tensor, w: Tensor, offset: bool) -> tuple[float, float]:
    """Slope and offset that minimise the weighted log loss."""
    a = torch.zeros(1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    opt = torch.optim.LBFGS([a, b] if offset else [a], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        opt.zero_grad()
        loss = (F.binary_cross_entropy_with_logits(a.exp() * z + b, y, reduction="none") * w).sum()
        loss.backward()
        return loss

    opt.step(closure)
    return float(a.detach().exp()), float(b.detach())


def main() -> None:
    """Fit and write."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--items", type=Path, required=True)
    ap.add_argument("--bf16", action="store_true", help="quicker, for development")
    ap.add_argument("--keep", type=float, default=0.98, help="share of relevant ones to keep")
    args = ap.parse_args()
    torch.set_num_threads(2)
    items: list[dict[str, Any]] = [
        json.loads(x)
        for split in ("cal", "val")
        for x in (args.items / f"{split}.jsonl").open(encoding="utf-8")
    ]
    model, seqs, config = load(args.checkpoint)
    z = score(model, seqs, items, bf16=args.bf16)
    y = torch.tensor([float(it["y"]) for it in items])
    count: dict[tuple[str, str], int] = defaultdict(int)
    for it in items:
        count[it["t"], it["src"].split("/")[0]] += 1
    w = torch.tensor([1 / count[it["t"], it["src"].split("/")[0]] for it in items])
    w /= w.sum()
    slope, _ = fit(z, y, w, offset=False)
    temperature = min(5.0, max(0.5, 1 / slope))
    config["temperature"] = [1.0, 1.0, round(temperature, 4)]
    config["calibration"] = {}
    config["thresholds"] = {}
    report: dict[str, Any] = {"temperature": config["temperature"]}
    for t, name in NAMES.items():
        at = [i for i, it in enumerate(items) if it["t"] == t]
        zt, yt = z[at] / temperature, y[at]
        before = torch.sigmoid(zt)
        report[name] = {"ece_temperature": ece(yt.tolist(), before.tolist())}
        if t == "ans":
            hard = [k for k, i in enumerate(at) if items[i]["src"] in HARD]
            a, _ = fit(zt[hard], yt[hard], torch.full((len(hard),), 1 / len(hard)), offset=False)
            config["calibration"][name] = {"slope": round(a, 4), "offset": 0.0}
            after = torch.sigmoid(a * zt)
            report[name] |= {
                "slope": a,
                "ece_hard_temperature": ece(yt[hard].tolist(), before[hard].tolist()),
                "ece_hard_slope": ece(yt[hard].tolist(), after[hard].tolist()),
            }
        if t == "rel":
            wt = w[at] / w[at].sum()
            a, b = fit(zt, yt, wt, offset=True)
            config["calibration"][name] = {"slope": round(a, 4), "offset": round(b, 4)}
            after = torch.sigmoid(a * zt + b)
            report[name] |= {"slope": a, "offset": b, "ece": ece(yt.tolist(), after.tolist())}
            # claims and questions about abstracts are the hard case for a filter
            hit = sorted(
                float(p)
                for p, i in zip(after, at, strict=True)
                if items[i]["y"] > 0.5 and items[i]["src"].startswith(("squad", "pubmedqa"))
            )
            config["thresholds"]["relevance_keep"] = round(hit[int((1 - args.keep) * len(hit))], 4)
        config["thresholds"][name] = 0.5
    report["thresholds"] = config["thresholds"]
    path = args.checkpoint / "rl_agent_config.json"
    path.write_text(json.dumps(config, indent=2) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
