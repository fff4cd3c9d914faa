"""Serve a tiny checkpoint with the reference's own `laya-serve`, and talk to it.

    python serve.py WORK

Prints what our client got from the server, and what the checkpoint says in this process, as JSON.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from laya_signals.decide import ServerError
from laya_signals.decide.systemone import SystemOneDecision
from laya_signals.decide.torch import CheckpointDecision
from samples import QUESTIONS, STATES, byte_pairs, tiny_modernbert, write

KEY = "key-of-the-parity-test"
#: The server refuses what cannot be told from nothing; the others are asked as they are.
ASKED = [state for state in STATES if state]


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(url: str, server: subprocess.Popen[bytes], seconds: float) -> None:
    """Ask for the server's health until it answers."""
    end = time.monotonic() + seconds
    while True:
        if server.poll() is not None:
            raise SystemExit(f"laya-serve ended with {server.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def main() -> None:
    """Start the server, ask, compare."""
    folder = Path(sys.argv[1]) / "served"
    tokenizer = byte_pairs("[CLS]", "[SEP]", "[MASK]", "[PAD]")
    write(folder, tiny_modernbert(), tokenizer, 0, {"choice:3-5": 2.0})
    url = f"http://127.0.0.1:{free_port()}"
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "NO_PROXY": "127.0.0.1",
        "LAYA_HOST": "127.0.0.1",
        "LAYA_PORT": url.rpartition(":")[2],
        "LAYA_PRELOAD": "0",
        "LAYA_DEVICE": "cpu",
        "LAYA_API_KEY": KEY,
        "LAYA_EXTRA_MODELS": json.dumps({"tiny": str(folder)}),
    }
    os.environ["NO_PROXY"] = "127.0.0.1"
    command = [sys.executable, "-m", "laya.serve"]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_until_up(url, server, 120)
        client = SystemOneDecision(url=url, api_key=KEY, model="tiny", batch_size=4)
        served = client.predict_batch(ASKED, QUESTIONS)
        alone = client.predict_batch(ASKED[:1], QUESTIONS)
        refusal = ""
        try:
            SystemOneDecision(url=url, api_key="wrong", model="tiny").predict_batch(
                ASKED[:1], QUESTIONS
            )
        except ServerError as error:
            refusal = str(error)
        too_many = dict(QUESTIONS["twenty"], criteria=[f"topic {n}" for n in range(101)])
        limit: Any = None
        try:
            client.predict_batch(ASKED[:1], {"many": too_many})
        except ServerError as error:
            limit = [error.status, str(error)]
    finally:
        server.terminate()
        server.wait(30)
    ours = CheckpointDecision(model=str(folder)).predict_batch(ASKED, QUESTIONS)
    worst = max(
        abs(one["answers"][name]["answer_confidence"] - other["answers"][name]["answer_confidence"])
        for one, other in zip(served, ours, strict=True)
        for name in QUESTIONS
    )
    report = {
        "states": len(served),
        "worst": worst,
        "alone": alone[0]["answers"] == served[0]["answers"],
        "truncated": [decision["usage"]["truncated"] for decision in served],
        "truncated_here": [decision["usage"]["truncated"] for decision in ours],
        "refusal": refusal,
        "limit": limit,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
