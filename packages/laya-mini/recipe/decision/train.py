"""Train the decision model on CPU.

    python train.py --items ITEMS --out OUT [--steps 5000] [--hours 0] [--init CHECKPOINT]

ITEMS is the folder build_data.py wrote. Full fine-tune without any dropout, bf16 autocast, word
embeddings frozen, batches bucketed by length, a short warm-up phase on easy relevance pairs, and
an auxiliary loss that must find the answer's characters from the states before the last layer
(its head is thrown away). Keeps an average of the weights; the best checkpoint by validation is
OUT/best, the newest OUT/last. With --hours the schedule ends by the clock if that comes first.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from metrics import auc
from model import NOUL, Decision, Sequences, base_encoder, load, pad, save, score
from torch import Tensor, nn

Item = dict[str, Any]
# Shares of the plentiful, easier kinds that a run sees, so that its time goes to the hard ones.
SHARES = {
    "broad": {
        "rel": 0.6,
        "ans medquad": 0.5,
        "ans chunking": 0.6,
        "ans pubmedqa": 0.6,
        "ans near": 0.7,
        "ans far": 0.7,
        "ans sentence-no": 0.75,
        "ans inserted": 0.4,
    },
    # Between the two: topical relevance and claims again, single sentences more often.
    "even": {
        "rel claim": 1.0,
        "rel pubmedqa": 0.6,
        "rel": 0.45,
        "ans window": 0.6,
        "ans inserted": 0.4,
        "ans removed": 0.5,
        "ans sentence-no": 0.6,
        "ans multi": 0.6,
        "ans near": 0.35,
        "ans far": 0.2,
        "ans cloze": 0.4,
        "ans medquad": 0.55,
        "ans pubmedqa": 0.5,
        "ans chunking": 0.6,
    },
    # Single sentences above all.
    "sentences": {
        "ans soft health": 0.0,
        "ans soft": 1.0,
        "rel soft": 0.2,
        "rel": 0.1,
        "ans": 0.12,
    },
    # Beside the soft labels of distil.py, after the others: a little of everything.
    "settle": {
        "rel soft": 1.0,
        "ans soft": 1.0,
        "rel claim": 0.6,
        "rel pubmedqa": 0.4,
        "rel": 0.4,
        "ans window": 0.3,
        "ans inserted": 0.25,
        "ans removed": 0.3,
        "ans edited": 0.4,
        "ans sentence-no": 0.3,
        "ans multi": 0.35,
        "ans near": 0.3,
        "ans far": 0.15,
        "ans cloze": 0.2,
        "ans medquad": 0.3,
        "ans pubmedqa": 0.3,
        "ans chunking": 0.35,
    },
    "hard": {
        "rel": 0.22,
        "ans window": 0.5,
        "ans inserted": 0.4,
        "ans removed": 0.4,
        "ans sentence-yes": 0.5,
        "ans sentence-no": 0.25,
        "ans multi": 0.4,
        "ans near": 0.2,
        "ans far": 0.15,
        "ans cloze": 0.3,
        "ans medquad": 0.4,
        "ans pubmedqa": 0.3,
        "ans chunking": 0.4,
    },
}


def read(path: Path) -> list[Item]:
    """Items of a JSON-lines file."""
    with path.open(encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def batches(
    items: list[Item], seqs: Sequences, size: int, max_len: int, rng: random.Random
) -> Iterator[list[tuple[Item, tuple[Any, ...]]]]:
    """One pass: chunks of 32 batches, sorted by length inside a chunk, batches shuffled."""
    items = items[:]
    rng.shuffle(items)
    chunk = size * 32
    for at in range(0, len(items), chunk):
        part = [
            (it, seqs.build(it["t"], it["q"], it["d"], it["span"], max_len))
            for it in items[at : at + chunk]
        ]
        part.sort(key=lambda x: len(x[1][0]))
        groups = [part[i : i + size] for i in range(0, len(part), size)]
        rng.shuffle(groups)
        yield from (g for g in groups if len(g) == size)


class SpanHead(nn.Module):
    """Start and end scores of every position; position 0 stands for 'no answer here'."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.out = nn.Linear(d, 2)

    def loss(self, x: Tensor, keep: Tensor, first: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Cross-entropy over the state's positions and position 0; start -1: not counted."""
        scores = self.out(x).float()
        pos = torch.arange(x.shape[1])[None, :]
        ok = (keep & (pos >= first[:, None])) | (pos == 0)
        scores = scores.masked_fill(~ok[:, :, None], -1e4)
        return 0.5 * (
            F.cross_entropy(scores[:, :, 0], start, ignore_index=-1)
            + F.cross_entropy(scores[:, :, 1], end, ignore_index=-1)
        )


def validate(model: Decision, seqs: Sequences, val: list[Item]) -> dict[str, float]:
    """Quick ROC-AUC figures on the validation split."""
    z = score(model, seqs, val, max_len=384, bf16=True).tolist()
    rows = list(zip(val, z, strict=True))

    def part(t: str, *srcs: str) -> float:
        kept = [(it["y"], s) for it, s in rows if it["t"] == t and it["src"] in srcs]
        return auc([y for y, _ in kept], [s for _, s in kept])

    out = {
        "hard": part("ans", "squad/own-yes", "squad/own-no"),
        "all": part("ans", "squad/own-yes", "squad/own-no", "squad/near"),
        "near": part("ans", "squad/own-yes", "squad/near"),
        "aspect": part("ans", "medquad/own", "medquad/aspect"),
        "rel": part("rel", "squad/own", "squad/near", "squad/far", "squad/random"),
        "rel_near": part("rel", "squad/own", "squad/near"),
        "claim": part("rel", "pubmedqa/claim", "pubmedqa/claim-bm25"),
    }
    out["score"] = 2 * out["hard"] + out["all"] + 0.5 * out["aspect"] + out["rel"]
    return out


def main() -> None:
    """Train and keep checkpoints."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--items", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--init", type=Path, help="continue from this checkpoint folder")
    ap.add_argument("--pool", type=Path, action="append", help="items instead of train.jsonl")
    ap.add_argument("--steps", type=int, default=5000)
    ap.add_argument("--warm", type=int, default=200, help="steps of easy relevance pairs first")
    ap.add_argument("--hours", type=float, default=0.0)
    ap.add_argument("--lr", type=float, default=7e-5)
    ap.add_argument("--head-lr", type=float, default=2e-4)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--max-len", type=int, default=320)
    ap.add_argument("--span-weight", type=float, default=0.5)
    ap.add_argument("--weight-decay", type=float, default=0.03)
    ap.add_argument("--ema", type=float, default=0.997)
    ap.add_argument("--eval-every", type=int, default=400)
    ap.add_argument("--shares", choices=sorted(SHARES), default="broad")
    ap.add_argument(
        "--drop-tokens",
        type=float,
        default=0.06,
        help="share of the state's tokens shown as [UNK], against learning by heart",
    )
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "pid").write_text(str(os.getpid()))
    log = (args.out / "log.jsonl").open("a")

    encoder, base = base_encoder()
    if args.init:
        model, seqs, _ = load(args.init)
    else:
        model, seqs = Decision(encoder), Sequences(base / "tokenizer.json")
        nn.init.normal_(model.type_emb.weight, std=0.02)
    model.train()  # nothing in the forward pass drops out
    model.encoder.embeddings.word_embeddings.weight.requires_grad_(False)
    span_head = SpanHead(model.encoder.config.hidden_size)
    if args.init and (args.init / "span_head.pt").exists():
        span_head.load_state_dict(torch.load(args.init / "span_head.pt"))
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    named = [*model.named_parameters(), *span_head.named_parameters()]
    for name, p in named:
        if p.requires_grad and not name.startswith(("act_head", "encoder.pooler")):
            head = not name.startswith("encoder")
            groups.setdefault((head, p.ndim >= 2), []).append(p)
    opt = torch.optim.AdamW(
        [
            {
                "params": ps,
                "lr": args.head_lr if head else args.lr,
                "base": args.head_lr if head else args.lr,
                "weight_decay": args.weight_decay if decay else 0.0,
            }
            for (head, decay), ps in groups.items()
        ],
        betas=(0.9, 0.98),
        fused=True,
    )
    live = [p for ps in groups.values() for p in ps]
    shadow = [p.detach().clone() for p in live]

    val = read(args.items / "val.jsonl")
    rng_val = random.Random(0)  # a fixed part is enough to choose a checkpoint
    val = [v for v in val if v["src"].startswith("squad/own-") or rng_val.random() < 0.4]
    pools = args.pool or [args.items / "train.jsonl"]
    train = [it for p in pools for it in read(p)]
    thin = random.Random(args.seed + 1)

    def wanted(it: Item) -> bool:
        name = it["t"] + " " + it["src"]
        return thin.random() < next(
            (v for k, v in SHARES[args.shares].items() if name.startswith(k)), 1.0
        )

    train = [it for it in train if wanted(it)]
    print(json.dumps({"train_items": len(train)}), flush=True)
    warm = read(args.items / "warm.jsonl")
    stream = batches(warm, seqs, args.batch, args.max_len, rng)
    begun, paused, best = time.time(), 0.0, -1.0
    tokens = step = 0
    sums: dict[str, list[float]] = {}
    total = args.steps
    while True:
        done = step / total
        if args.hours:
            done = max(done, (time.time() - begun - paused) / 3600 / args.hours)
        if done >= 1:
            break
        if step == args.warm or (args.warm == 0 and step == 0):
            stream = batches(train, seqs, args.batch, args.max_len, rng)
        group = next(stream, None)
        if group is None:
            stream = batches(train, seqs, args.batch, args.max_len, rng)
            continue
        lead = min(1.0, (step + 1) / 80)
        # linear rise, then cosine to 4 %
        factor = lead * (0.04 + 0.96 * 0.5 * (1 + float(torch.cos(torch.tensor(done * 3.14159)))))
        for g in opt.param_groups:
            g["lr"] = g["base"] * factor
        rows = [b[0] for _, b in group]
        ids, mask = pad(rows)
        keep = torch.zeros(ids.shape, dtype=torch.bool)
        for i, r in enumerate(rows):
            keep[i, : len(r) - 1] = True
        if args.drop_tokens:
            first = torch.tensor([b[2] for _, b in group])[:, None]
            gone = torch.rand(ids.shape) < args.drop_tokens
            ids[gone & keep & (torch.arange(ids.shape[1])[None, :] >= first)] = seqs.unk
        markers = torch.tensor([b[1] for _, b in group])
        y = torch.tensor([float(it["y"]) for it, _ in group])
        start, end = [], []
        for it, (_, _, _, s, e) in group:
            if it["t"] == "ans" and it["y"] < 0.3 and not it["src"].startswith("soft"):
                s = e = 0
            start.append(s)
            end.append(e)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, x = model(ids, mask, markers, NOUL)
            loss = F.cross_entropy(logits, torch.stack([1 - y, y], -1))
            main_loss = float(loss.detach())
            if max(start) >= 0 and args.span_weight > 0:
                aux = span_head.loss(
                    x,
                    keep,
                    torch.tensor([b[2] for _, b in group]),
                    torch.tensor(start),
                    torch.tensor(end),
                )
                share = sum(s >= 0 for s in start) / len(start)
                sums.setdefault("span", []).append(float(aux.detach()))
                loss = loss + args.span_weight * share * aux
        loss.backward()
        torch.nn.utils.clip_grad_norm_(live, 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        step += 1
        tokens += ids.numel()
        decay = min(args.ema, (1 + step) / (10 + step))
        torch._foreach_lerp_(shadow, [p.detach() for p in live], 1 - decay)
        with torch.no_grad():
            ok = ((logits[:, 1] > logits[:, 0]).float() == (y > 0.5).float()).float()
        for i, (it, _) in enumerate(group):
            sums.setdefault("acc " + it["t"] + " " + it["src"], []).append(float(ok[i]))
        sums.setdefault("loss", []).append(main_loss)
        if step % 25 == 0 or step == 5:
            took = time.time() - begun
            line = {
                "step": step,
                "done": round(done, 3),
                "s": round(took),
                "tok_s": round(tokens / took),
                "loss": round(sum(sums["loss"][-25:]) / 25, 4),
                "span": round(sum(sums.get("span", [0])[-25:]) / 25, 3),
            }
            print(json.dumps(line), flush=True)
        if step % args.eval_every == 0 or step == total:
            backup = [p.detach().clone() for p in live]
            with torch.no_grad():
                for p, s in zip(live, shadow, strict=True):
                    p.copy_(s)
            model.eval()
            figures = {k: round(v, 4) for k, v in validate(model, seqs, val).items()}
            accs = {k: round(sum(v) / len(v), 3) for k, v in sorted(sums.items())}
            sums = {}
            print(json.dumps({"step": step, **figures}), flush=True)
            log.write(
                json.dumps(
                    {"step": step, "s": round(time.time() - begun), **figures, "train": accs}
                )
                + "\n"
            )
            log.flush()
            targets = ["last"]
            if figures["score"] > best:
                best = figures["score"]
                targets.append("best")
            for name in targets:
                save(model, base, args.out / name, {"step": step})
                torch.save(span_head.state_dict(), args.out / name / "span_head.pt")
            model.train()
            with torch.no_grad():
                for p, b in zip(live, backup, strict=True):
                    p.copy_(b)
    with torch.no_grad():
        for p, s in zip(live, shadow, strict=True):
            p.copy_(s)
    model.eval()
    figures = {k: round(v, 4) for k, v in validate(model, seqs, val).items()}
    print(json.dumps({"step": step, "final": True, **figures}), flush=True)
    names = ["last"] + (["best"] if figures["score"] > best else [])
    for name in names:
        save(model, base, args.out / name, {"step": step})
        torch.save(span_head.state_dict(), args.out / name / "span_head.pt")


if __name__ == "__main__":
    main()
