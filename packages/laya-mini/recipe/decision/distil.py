"""Soft labels for pairs that nobody labelled: a trained checkpoint and the encoder it came from.

    python distil.py --items ITEMS --data DATA --checkpoint CHECKPOINT

Writes ITEMS/distil.jsonl for `train.py --pool`. Fine-tuning on labelled pairs makes the model lose
some of what its encoder knew of natural questions: alone, the encoder's cosine orders WikiQA's
sentences better than the fine-tuned model does, and both together do better than either. So the
label is sigmoid(z + a (c - mean c)), z the checkpoint's logit after its temperature and c the
cosine of all-MiniLM-L6-v2, for single sentences and short passages: training questions of SQuAD
and MedQuAD, and questions made from 2WikiMultihop's passages (CC BY-SA 4.0), against sentences of
their own passage, of similar and of other ones. `a` was chosen on WikiQA's dev split.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import augment as aug
import torch
from build_data import SquadItems, item
from model import base_encoder, load, score
from sources import BM25, Squad, read_jsonl, seeded, sentence_spans, shingles
from tokenizers import Tokenizer
from torch import Tensor, nn

Item = dict[str, Any]
#: Weight of the cosine beside the logit, by question.
COSINE = {"ans": 8.0, "rel": 3.0}
LEAST, MOST = 0.02, 0.98


def sentences(text: str) -> list[str]:
    """The sentences that are long enough to say something."""
    return [text[a:b] for a, b in sentence_spans(text) if b - a >= 30]


def squad_pairs(squad: Squad, rng: random.Random) -> list[Item]:
    """Training questions, also unlabelled ones, against sentences and passages."""
    made = SquadItems(squad)
    asked = [(p["query"], p["passage"]) for p in squad.of("train")]
    for u in squad.unlabelled:
        if squad.split[u["group"]] == "train":
            asked += [(q, u["passage"]) for q in u["questions"]]
    out: list[Item] = []
    for q, d in asked:
        g = squad.group_of[d]
        own = sentences(d)
        if len(own) < 2:
            continue
        near, far = made.near(q, d, 2), made.far(q, d, "train", 2)
        best = own.pop(
            aug.best_sentence(q, "\n".join(s.replace("\n", " ") for s in own)) % len(own)
        )
        chosen = [best, *rng.sample(own, min(2, len(own)))]
        chosen += [rng.choice(sentences(other) or [other]) for other in (*near[:1], *far[:1])]
        if near:
            k = aug.best_sentence(q, near[0])
            chosen.append(aug.window(near[0], k, 1, rng)[0])
        out += [item("ans", q, s, 0.0, "soft squad", g) for s in chosen]
        k = aug.best_sentence(q, d)
        short = [aug.window(d, k, rng.randrange(1, 4), rng)[0]]
        short += [
            aug.window(x, aug.best_sentence(q, x), rng.randrange(1, 4), rng)[0]
            for x in (*near[:1], *far[:1])
        ]
        words = aug.keywords(q) if rng.random() < 0.2 else q
        out += [item("rel", words, s, 0.0, "soft squad", g) for s in short]
    return out


def wiki_pairs(data: Path, held: set[tuple[str, ...]], rng: random.Random) -> list[Item]:
    """Questions made from short encyclopedia passages, with sentences of it and of similar ones."""
    rows = read_jsonl(data / "2wiki_corpus_only" / "corpus.jsonl.gz")
    rows = [r for r in rows if len(shingles(r["text"]) & held) < 3]
    texts = [r["text"] for r in rows]
    bm25 = BM25(f"{r['title']} {r['text']}" for r in rows)
    out: list[Item] = []
    for n, r in enumerate(rows):
        made = aug.cloze(r["text"], rng)
        if made is None:
            continue
        q, start, _ = made
        own = sentences(r["text"])
        right = [s for s in own if r["text"].find(s) <= start < r["text"].find(s) + len(s)]
        others = [s for s in own if s not in right]
        near = [texts[i] for i in bm25.top(q, 4, {n})]
        chosen = right[:1] + rng.sample(others, min(2, len(others)))
        chosen += [rng.choice(sentences(x) or [x]) for x in near[:2]]
        out += [item("ans", q, s, 0.0, "soft wiki", r["title"]) for s in chosen]
        words = f"{r['title']} {aug.keywords(q)}" if rng.random() < 0.3 else q
        for x in (r["text"], *near[:2], rng.choice(texts)):
            out.append(item("rel", words, x[:700], 0.0, "soft wiki", r["title"]))
    return out


def health_pairs(items: Path, rng: random.Random) -> list[Item]:
    """MedQuAD's training questions against single sentences of their training passages."""
    out: list[Item] = []
    for line in (items / "train.jsonl").open(encoding="utf-8"):
        it = json.loads(line)
        if it["src"] not in ("medquad-yes", "medquad-aspect") or rng.random() < 0.5:
            continue
        for s in rng.sample(found, min(2, len(found))) if (found := sentences(it["d"])) else []:
            out.append(item("ans", it["q"], s, 0.0, "soft health", it["g"]))
    return out


def embed(encoder: nn.Module, tok: Tokenizer, texts: list[str]) -> dict[str, Tensor]:
    """Unit vectors by text: the mean over the tokens, as all-MiniLM-L6-v2 is meant to be used."""
    out: dict[str, Tensor] = {}
    order = sorted(set(texts), key=lambda t: (len(t), t))
    for at in range(0, len(order), 64):
        part = order[at : at + 64]
        encoded = tok.encode_batch(part)
        width = max(len(e.ids) for e in encoded)
        ids = torch.tensor([e.ids + [0] * (width - len(e.ids)) for e in encoded])
        mask = torch.tensor([[1] * len(e.ids) + [0] * (width - len(e.ids)) for e in encoded])
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        out |= zip(part, nn.functional.normalize(mean, dim=-1), strict=True)
    return out


def main() -> None:
    """Build the pairs, label them, write them."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--items", type=Path, required=True)
    ap.add_argument("--data", type=Path, required=True)
    ap.add_argument("--checkpoint", type=Path, required=True)
    ap.add_argument("--cap", type=int, default=0, help="at most so many pairs, taken at random")
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    torch.set_num_threads(2)
    rng = seeded(args.seed, "distil")
    squad = Squad(args.data)
    pairs = squad_pairs(squad, rng)
    pairs += wiki_pairs(args.data, squad.held, rng) + health_pairs(args.items, rng)
    rng.shuffle(pairs)
    pairs = pairs[: args.cap or None]
    print(json.dumps({"pairs": len(pairs)}), flush=True)

    encoder, base = base_encoder()
    tok = Tokenizer.from_file(str(base / "tokenizer.json"))
    tok.no_padding()
    tok.enable_truncation(256)
    vectors = embed(encoder.eval(), tok, [t for it in pairs for t in (it["q"], it["d"])])
    cosine = torch.tensor([float(vectors[it["q"]] @ vectors[it["d"]]) for it in pairs])
    print("cosines done", flush=True)
    model, seqs, config = load(args.checkpoint)
    z = score(model, seqs, pairs, bf16=True) / float(config["temperature"][2])
    kinds = torch.tensor([it["t"] == "ans" for it in pairs])
    z[kinds] *= config.get("calibration", {}).get("answerability", {}).get("slope", 1.0)
    label = torch.empty(len(pairs))
    for t, mine in (("ans", kinds), ("rel", ~kinds)):
        label[mine] = torch.sigmoid(z[mine] + COSINE[t] * (cosine[mine] - cosine[mine].mean()))
    with (args.items / "distil.jsonl").open("w", encoding="utf-8") as handle:
        for it, y in zip(pairs, label.clamp(LEAST, MOST).tolist(), strict=True):
            handle.write(json.dumps({**it, "y": round(y, 4)}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
