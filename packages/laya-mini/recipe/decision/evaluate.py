"""Every figure of the model card, on data that no step saw.

    python evaluate.py --checkpoint CHECKPOINT --items ITEMS --data DATA --out figures.json
        [--onnx FOLDER] [--only test,wikiqa,scifact] [--cap 500] [--bf16]

Answerability "all" pairs each held-out question with its own paragraph, and each answerable one
also with the paragraph of the same article that BM25 likes best (without the answer in it);
"hard" is the own paragraph only. Intervals are 95 %, by resampling articles' questions.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from metrics import accuracy, auc, bootstrap, brier, ece, risk_coverage
from model import load, score
from sources import BM25, doc_text, read_jsonl, read_qrels

Item = dict[str, Any]
Scorer = Callable[[list[Item]], list[float]]
ANSWERABILITY = {
    "squad hard": ("squad/own-yes", "squad/own-no"),
    "squad all": ("squad/own-yes", "squad/own-no", "squad/near"),
    "squad all + far": ("squad/own-yes", "squad/own-no", "squad/near", "squad/far"),
    "squad near": ("squad/own-yes", "squad/near"),
    "medquad aspect": ("medquad/own", "medquad/aspect"),
    "medquad entity": ("medquad/own", "medquad/entity"),
    "medquad": ("medquad/own", "medquad/aspect", "medquad/entity"),
    "pubmedqa": ("pubmedqa/own", "pubmedqa/bm25"),
    "anthropic_docs": ("anthropic_docs/own", "anthropic_docs/bm25"),
    "chunking_eval": ("chunking_eval/own", "chunking_eval/bm25"),
}
RELEVANCE = {
    "squad": ("squad/own", "squad/near", "squad/far", "squad/random"),
    "squad near": ("squad/own", "squad/near"),
    "squad far": ("squad/own", "squad/far"),
    "medquad": ("medquad/own", "medquad/entity"),
    "pubmedqa": ("pubmedqa/own", "pubmedqa/bm25"),
    "pubmedqa claims": ("pubmedqa/claim", "pubmedqa/claim-bm25"),
    "anthropic_docs": ("anthropic_docs/own", "anthropic_docs/bm25"),
    "chunking_eval": ("chunking_eval/own", "chunking_eval/bm25"),
}


def figures(y: list[float], p: list[float], interval: bool) -> dict[str, Any]:
    """All figures of one set of pairs."""
    out: dict[str, Any] = {
        "n": len(y),
        "positive": round(sum(y) / len(y), 3),
        "auc": round(auc(y, p), 4),
        "accuracy": round(accuracy(y, p), 4),
        "ece": round(ece(y, p), 4),
        "brier": round(brier(y, p), 4),
        "risk_coverage": {str(c): round(r, 4) for c, r in risk_coverage(y, p).items()},
    }
    if interval:
        lo, hi = bootstrap(lambda ix: auc([y[i] for i in ix], [p[i] for i in ix]), len(y))
        out["auc_95"] = [round(lo, 4), round(hi, 4)]
    return out


def ndcg(grades: list[int], ideal: list[int], k: int = 10) -> float:
    """NDCG at k."""

    def gain(g: list[int]) -> float:
        return sum(v / math.log2(i + 2) for i, v in enumerate(g[:k]))

    best = gain(sorted(ideal, reverse=True))
    return gain(grades) / best if best else 0.0


def wikiqa(data: Path, run: Scorer) -> dict[str, Any]:
    """MAP and MRR over the test questions that have a correct sentence (243 of them)."""
    rows = [r for r in read_jsonl(data / "wikiqa" / "pairs.jsonl.gz") if r["split"] == "test"]
    p = run([{"t": "ans", "q": r["query"], "d": r["passage"]} for r in rows])
    by: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for r, s in zip(rows, p, strict=True):
        by[r["query_id"]].append((s, r["relevant"]))
    aps, rrs = [], []
    for pairs in by.values():
        if not any(v for _, v in pairs):
            continue
        pairs.sort(key=lambda x: -x[0])
        hits, total, first = 0, 0.0, 0
        for i, (_, v) in enumerate(pairs, 1):
            if v:
                hits += 1
                total += hits / i
                first = first or i
        aps.append(total / hits)
        rrs.append(1 / first)
    lo, hi = bootstrap(lambda ix: sum(aps[i] for i in ix) / len(ix), len(aps))
    return {
        "questions": len(aps),
        "map": round(sum(aps) / len(aps), 4),
        "map_95": [round(lo, 4), round(hi, 4)],
        "mrr": round(sum(rrs) / len(rrs), 4),
        "pairs": figures([float(r["relevant"]) for r in rows], p, interval=False),
    }


def scifact(
    data: Path, run: Scorer, keep_at: dict[str, float], calibration: dict[str, float] | None
) -> dict[str, Any]:
    """BM25's top 20 of SciFact: what the filter keeps, and nDCG@10 when it reorders."""
    docs = read_jsonl(data / "scifact" / "corpus.jsonl.gz")
    queries = {q["_id"]: q["text"] for q in read_jsonl(data / "scifact" / "queries.jsonl.gz")}
    qrels = read_qrels(data / "scifact" / "qrels.tsv")
    texts = [doc_text(d["title"], d["text"]) for d in docs]
    ids = [d["_id"] for d in docs]
    bm25 = BM25(f"{d['title']} {d['text']}" for d in docs)
    tops = {q: bm25.top(queries[q], 20) for q in qrels}
    pairs = [{"t": "rel", "q": queries[q], "d": texts[i]} for q in qrels for i in tops[q]]
    p = iter([corrected(v, calibration) for v in run(pairs)])
    kept: dict[str, list[int]] = {k: [0, 0] for k in keep_at}
    total = 0
    base, mine, mixed = [], [], []
    ys: list[float] = []
    ps: list[float] = []
    for q in qrels:
        rel = qrels[q]
        rows = [(next(p), i, n) for n, i in enumerate(tops[q])]
        for s, i, _ in rows:
            hit = ids[i] in rel
            total += hit
            ys.append(float(hit))
            ps.append(s)
            for name, t in keep_at.items():
                if s >= t:
                    kept[name][0] += hit
                    kept[name][1] += 1
        ideal = list(rel.values())
        grade = {i: rel.get(ids[i], 0) for i in tops[q]}
        base.append(ndcg([grade[i] for i in tops[q]], ideal))
        mine.append(ndcg([grade[i] for _, i, _ in sorted(rows, key=lambda r: -r[0])], ideal))
        blend = sorted(rows, key=lambda r: -(r[0] + 1 / (1 + r[2] / 5)))
        mixed.append(ndcg([grade[i] for _, i, _ in blend], ideal))
    n = len(ys)
    return {
        "pairs": n,
        "relevant": total,
        "kept": {
            k: {
                "threshold": keep_at[k],
                "relevant_kept": round(v[0] / total, 4),
                "share_kept": round(v[1] / n, 4),
            }
            for k, v in kept.items()
        },
        "ndcg10_bm25": round(sum(base) / len(base), 4),
        "ndcg10_rerank": round(sum(mine) / len(mine), 4),
        "ndcg10_with_bm25_rank": round(sum(mixed) / len(mixed), 4),
        "figures": figures(ys, ps, interval=False),
    }


def corrected(p: float, calibration: dict[str, float] | None) -> float:
    """The probability after the question's own slope and offset, as the runtime applies them."""
    if not calibration:
        return p
    z = math.log(max(p, 1e-9) / max(1 - p, 1e-9))
    return 1 / (1 + math.exp(-(calibration["slope"] * z + calibration["offset"])))


def main() -> None:
    """Evaluate and print."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--items", type=Path, required=True)
    ap.add_argument("--data", type=Path, required=True)
    ap.add_argument("--out", type=Path)
    ap.add_argument("--onnx", type=Path, help="score with this export instead of torch")
    ap.add_argument("--only", default="test,wikiqa,scifact")
    ap.add_argument("--split", default="test")
    ap.add_argument("--cap", type=int, default=0, help="at most this many pairs of a kind")
    ap.add_argument("--bf16", action="store_true", help="torch in bf16: quicker, for development")
    args = ap.parse_args()
    torch.set_num_threads(2)
    model, seqs, config = load(args.checkpoint)
    temperature = float(config["temperature"][2])

    def run(items: list[Item]) -> list[float]:
        if args.onnx:
            from export import feeds, session

            ort = session(str(args.onnx / "model.onnx"))
            z = torch.tensor(
                [
                    float(x[1] - x[0])
                    for x in (ort.run(["logits"], feeds(seqs, it))[0][0] for it in items)
                ]
            )
        else:
            z = score(model, seqs, items, bf16=args.bf16)
        out: list[float] = torch.sigmoid(z / temperature).tolist()
        return out

    result: dict[str, Any] = {"temperature": temperature, "checkpoint_step": config.get("step")}
    calibration = config.get("calibration", {})
    if "test" in args.only:
        items = [json.loads(x) for x in (args.items / f"{args.split}.jsonl").open(encoding="utf-8")]
        if args.cap:  # the first ones of a fixed order; squad's own pairs are never thinned
            seen: dict[tuple[str, str], int] = defaultdict(int)
            order = random.Random(9).sample(range(len(items)), len(items))
            picked = []
            for i in order:
                key = (items[i]["t"], items[i]["src"])
                seen[key] += 1
                if seen[key] <= args.cap or key[1].startswith("squad/own-"):
                    picked.append(i)
            items = [items[i] for i in sorted(picked)]
        p = run(items)
        for t, name, sets in (
            ("ans", "answerability", ANSWERABILITY),
            ("rel", "relevance", RELEVANCE),
        ):
            result[name] = {}
            for label, srcs in sets.items():
                rows = [
                    (it, s)
                    for it, s in zip(items, p, strict=True)
                    if it["t"] == t and it["src"] in srcs
                ]
                if not rows:
                    continue
                y = [float(it["y"]) for it, _ in rows]
                s = [corrected(v, calibration.get(name)) for _, v in rows]
                result[name][label] = figures(y, s, interval=True)
                if label in ("squad hard", "squad all"):
                    result[name][label]["by_article"] = {
                        g: [
                            sum(it["g"] == g for it, _ in rows),
                            round(
                                auc(
                                    [v for v, (it, _) in zip(y, rows, strict=True) if it["g"] == g],
                                    [v for it, v in rows if it["g"] == g],
                                ),
                                4,
                            ),
                        ]
                        for g in sorted({it["g"] for it, _ in rows})
                    }
            every = [
                (float(it["y"]), corrected(s, calibration.get(name)))
                for it, s in zip(items, p, strict=True)
                if it["t"] == t
            ]
            result[name]["everything"] = figures(
                [a for a, _ in every], [b for _, b in every], False
            )
    if "wikiqa" in args.only:
        result["wikiqa"] = wikiqa(args.data, run)
    if "scifact" in args.only:
        cuts = {"at .5": 0.5, "at .3": 0.3, "at .2": 0.2, "at .1": 0.1}
        if "relevance_keep" in config.get("thresholds", {}):
            cuts["keep"] = config["thresholds"]["relevance_keep"]
        result["scifact"] = scifact(args.data, run, cuts, calibration.get("relevance"))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    for name in ("answerability", "relevance"):
        for label, f in result.get(name, {}).items():
            print(
                f"{name:14} {label:18} n {f['n']:5} pos {f['positive']:.2f} auc {f['auc']:.3f} "
                f"{f.get('auc_95', '')} acc {f['accuracy']:.3f} ece {f['ece']:.3f} "
                f"brier {f['brier']:.3f} "
                f"risk {f['risk_coverage']}"
            )
            if "by_article" in f:
                print("   ", f["by_article"])
    for name in ("wikiqa", "scifact"):
        if name in result:
            print(name, json.dumps(result[name]))


if __name__ == "__main__":
    main()
