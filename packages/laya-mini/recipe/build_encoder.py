"""Make the embedded encoder: the original's float32 weights to one int8 ONNX file.

    python packages/laya-mini/recipe/build_encoder.py

Reads the pinned original (its package must be installed, or give `--source FOLDER`), and writes
`model.onnx`, `tokenizer.json` and `config.json` into `src/laya_mini/encoder/`, and their hashes
into `src/laya_mini/hashes.json`. Running it again gives the same bytes.

How the numbers get small: weights are int8 with one scale per output channel, word embeddings int8
with one scale per word, activations uint8 with one scale per text, found while running. A handful
of activation channels are so much larger than the rest (a known trait of BERT) that they would
take most of the uint8 range, so those are first divided by a power of two and their weight rows
multiplied by it (SmoothQuant, arXiv:2211.10438, restricted to outliers). Which channels these are
is read off `calibration.txt`; powers of two make the choice the same on any processor.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime
import source
from bert_graph import Array, BertGraph
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HERE = Path(__file__).parent
DATA = HERE.parent / "src" / "laya_mini"

#: A channel counts as an outlier when its largest value exceeds this many times the median of all
#: channels' largest values. Of 1.5, 2, 2.5, 3 and 4, four gave the highest mean cosine.
OUTLIER = 4.0


def main() -> None:
    """Build, write, print the hashes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, help="folder with the original's files")
    parser.add_argument("--output", type=Path, default=DATA, help="the laya_mini data folder")
    arguments = parser.parse_args()
    folder = arguments.source or source.installed_folder()
    weights = load_file(source.verified(folder, "model.safetensors"))
    tokenizer = plain_tokenizer(source.verified(folder, "tokenizer.json"))

    encoder = arguments.output / "encoder"
    encoder.mkdir(parents=True, exist_ok=True)
    model = BertGraph(weights, scales=outlier_scales(weights, tokenizer)).build()
    (encoder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    (encoder / "tokenizer.json").write_text(tokenizer.to_str() + "\n", encoding="utf-8")
    write_json(encoder / "config.json", description())
    print(write_hashes(arguments.output))


def plain_tokenizer(path: Path) -> Tokenizer:
    """The original's tokenizer without its cut at 128 tokens and its padding."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def outlier_scales(weights: dict[str, Array], tokenizer: Tokenizer) -> dict[tuple[str, int], Array]:
    """One power of two per input channel of each matrix product: 1 unless it is an outlier."""
    graph = BertGraph(weights, quantise=False)
    session = onnxruntime.InferenceSession(
        graph.build().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    largest: dict[tuple[str, int], Array] = {}
    for text in (HERE / "calibration.txt").read_text(encoding="utf-8").splitlines():
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        values = session.run(list(graph.taps.values()), {"input_ids": ids})
        for product, value in zip(graph.taps, values, strict=True):
            peak = np.abs(value[0]).max(axis=0)
            largest[product] = np.maximum(largest.get(product, 0), peak)
    return {
        product: np.exp2(
            np.maximum(0, np.ceil(np.log2(peak / (OUTLIER * np.median(peak)))))
        ).astype(np.float32)
        for product, peak in largest.items()
    }


def description() -> dict[str, object]:
    """What `config.json` says: how to use the model and where it comes from."""
    return {
        "dimension": 384,
        "max_tokens": 256,
        "max_tokens_limit": 512,
        "pooling": "mean",
        "normalise": True,
        "quantisation": "int8 weights per channel, uint8 activations per text",
        "source": {
            "model": source.MODEL,
            "package": source.PACKAGE,
            "license": source.LICENSE,
            "sha256": source.SHA256,
        },
    }


def write_hashes(folder: Path) -> str:
    """Write the SHA-256 of every data file below `folder`, and return what was written."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.glob("*/*")
        if path.suffix in {".onnx", ".json", ".safetensors"}
    )
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    return write_json(folder / "hashes.json", hashes)


def write_json(path: Path, content: object) -> str:
    """Write `content` as indented JSON and return the text."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")
    return text


if __name__ == "__main__":
    main()
