"""The weighted mean of two checkpoints' weights, one fine-tuned from the other.

    python average.py --first A --second B --share 0.6 --out OUT

OUT is B with each weight (1 - share) A + share B (model soups, Wortsman et al. 2022). What the
second run gained and what it forgot then meet half-way, often above both.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file


def main() -> None:
    """Read, average, write."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--first", type=Path, required=True)
    ap.add_argument("--second", type=Path, required=True)
    ap.add_argument("--share", type=float, default=0.5, help="weight of the second")
    ap.add_argument("--out", type=Path, required=True)
    args = ap.parse_args()
    first, second = (load_file(x / "model.safetensors") for x in (args.first, args.second))
    if first.keys() != second.keys():
        raise SystemExit("the two checkpoints do not have the same weights")
    shutil.copytree(args.second, args.out)
    mean = {
        name: ((1 - args.share) * first[name].float() + args.share * other.float()).to(other.dtype)
        for name, other in second.items()
    }
    save_file(mean, args.out / "model.safetensors")


if __name__ == "__main__":
    main()
