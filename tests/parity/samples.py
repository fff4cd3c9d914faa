"""Random checkpoints, and what they are asked; read by `compare.py` and `serve.py`.

These files run in an isolated environment that has the reference implementation, PyPI `laya`. It
must never be installed into the workspace's environment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import laya_mini
import torch
from laya.common import DecisionModel as ReferenceModel
from laya_signals.decide.checkpoint import CheckpointConfig, write_checkpoint
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoModel, BertConfig, ModernBertConfig

TURNS = [
    {"role": "user" if turn % 2 == 0 else "agent", "text": f"turn {turn}: the parcel is late again"}
    for turn in range(60)
]
#: One state of every kind: short, mapping, long, list, long list, non-ASCII, tokens in the text, no
#: text at all.
STATES: list[Any] = [
    "The cat sat on the mat.",
    {"query": "Where did the cat sit?", "document": "On the mat, says the report of 2024."},
    " ".join(f"Sentence {n} says that river bank {n * 7} was flooded." for n in range(80)),
    TURNS[:3],
    TURNS,
    {"frage": "Wo liegt Köln?", "答え": "東京の北西、ケルンではない。", "emoji": "🙂 naïve café"},
    "A [MASK] in a text, a <mask> too, a [SEP] and [CLS]; </s> <eos>.",
    "",
]
#: The checkpoint that is exported to ONNX as well.
EXPORTED = "bert-0"
SHARPER = 8.0
LONG = "a description that goes on and on about tariffs, parcels and the weather " * 8
#: All three types; with and without criteria and labels; 1 to 20 options; long ones.
QUESTIONS: dict[str, dict[str, Any]] = {
    "holds": {"type": "noul", "instructions": "The evidence contains the answer to the query."},
    "criteria": {
        "type": "noul",
        "instructions": "Is it [MASK] urgent?",
        "criteria": {"true": "someone waits", "false": "it can wait"},
    },
    "labels": {
        "type": "noul",
        "instructions": "Ist das wahr?",
        "labels": {"false": "nein", "true": "ja"},
    },
    "intent": {
        "type": "choice",
        "instructions": "What does the user want?",
        "criteria": {"refund": "money back", "track": "find the parcel", "other": None},
    },
    "twenty": {
        "type": "choice",
        "instructions": "Which topic?",
        "criteria": [f"topic {n} über Ökologie" for n in range(20)],
    },
    "wordy": {
        "type": "choice",
        "instructions": "Pick. " + LONG,
        "criteria": {"short": "few words", "long": LONG, "other": "[MASK] something else"},
    },
    "crowded": {
        "type": "choice",
        "instructions": "Pick one of many.",
        "criteria": {f"label {n}": LONG[n:] for n in range(20)},
    },
    "alone": {"type": "choice", "instructions": "Only one.", "criteria": ["solo"]},
    "level": {
        "type": "score",
        "instructions": "How angry is the user?",
        "criteria": ["calm", "annoyed", "angry", "furious", {"desc": "beyond words"}],
    },
}


def make_checkpoints(folder: Path) -> dict[str, Path]:
    """Tiny random checkpoints by name: BERT-like and ModernBERT-like, with 0 and 2 head layers."""
    brackets = byte_pairs("[CLS]", "[SEP]", "[MASK]", "[PAD]")
    gemma = byte_pairs("<bos>", "<eos>", "<mask>", "<pad>")
    for name, encoder, tokenizer, layers in (
        ("bert-0", tiny_bert(), word_pieces(), 0),
        ("bert-2", tiny_bert(), word_pieces(), 2),
        ("modernbert-0", tiny_modernbert(), brackets, 0),
        ("modernbert-2", tiny_modernbert(), gemma, 2),
    ):
        # The recipe's export carries one temperature for each type.
        buckets = {} if name == EXPORTED else {"choice:11+": 0.1, "choice:3-5": 2.0}
        write(folder / name, encoder, tokenizer, layers, buckets)
    return {path.name: path for path in sorted(folder.iterdir())}


def write(
    folder: Path,
    encoder: Any,
    tokenizer: dict[str, bytes],
    layers: int,
    buckets: dict[str, float],
) -> None:
    """A random model of the reference's own class, through our writer."""
    torch.manual_seed(layers + 1)
    model = ReferenceModel(AutoModel.from_config(encoder), head_layers=layers, n_act=3)
    with torch.no_grad():
        model.scorer[3].weight.mul_(4)  # otherwise every probability is near to a guess
        for key, value in model.encoder.named_parameters():
            # Otherwise BERT's attention is nearly uniform, and all states look the same.
            if key.endswith(("query.weight", "key.weight", "value.weight")):
                value.mul_(SHARPER if "value" not in key else SHARPER / 2)
    config = CheckpointConfig(
        encoder="random",
        head_layers=layers,
        max_len=384,
        head_max_len=192,
        temperature=(1.3, 0.2, 1.7),
        temperature_by_options=buckets,
        act_costs={"abstain": 0.1, "escalate": 0.5},
    )
    write_checkpoint(
        folder,
        config=config,
        weights={name: value.numpy() for name, value in model.state_dict().items()},
        encoder=encoder.to_dict(),
        tokenizer=tokenizer,
    )


def tiny_bert() -> BertConfig:
    """Six layers of twelve heads, which is what the recipe's export is written for."""
    return BertConfig(
        vocab_size=30522,
        hidden_size=96,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=192,
        architectures=["BertModel"],
    )


def tiny_modernbert() -> ModernBertConfig:
    """Three layers, one of them with global attention."""
    return ModernBertConfig(
        vocab_size=700,
        hidden_size=128,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=160,
        local_attention=32,
        initializer_range=0.2,  # lets the words of a state reach the markers, as training would
        max_position_embeddings=1024,
        **dict.fromkeys(("cls_token_id", "bos_token_id"), 0),
        **dict.fromkeys(("sep_token_id", "eos_token_id"), 1),
        pad_token_id=3,
        architectures=["ModernBertModel"],
    )


def word_pieces() -> dict[str, bytes]:
    """The vocabulary of the embedded encoder."""
    content = (laya_mini.data_folder() / "encoder" / "tokenizer.json").read_bytes()
    special = {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
    }
    return {"tokenizer.json": content, "tokenizer_config.json": _described(special)}


def byte_pairs(cls: str, sep: str, mask: str, pad: str) -> dict[str, bytes]:
    """Byte pairs with special tokens of the given names, the mask one eating blanks on its left."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=690,
        special_tokens=[cls, sep, AddedToken(mask, lstrip=True, special=True), pad],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = [json.dumps([STATES, QUESTIONS], ensure_ascii=False)]
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        special_tokens=[(cls, tokenizer.token_to_id(cls)), (sep, tokenizer.token_to_id(sep))],
    )
    names = {"cls_token": cls, "sep_token": sep, "mask_token": mask, "pad_token": pad}
    return {
        "tokenizer.json": tokenizer.to_str().encode(),
        "tokenizer_config.json": _described(names),
    }


def _described(names: dict[str, str]) -> bytes:
    described = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1024, **names}
    return json.dumps(described).encode()
