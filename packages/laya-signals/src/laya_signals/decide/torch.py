"""`decision.checkpoint`: any Laya checkpoint through torch and transformers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from laya_signals.component import Component, ComponentConfig
from laya_signals.decide.answer import probabilities
from laya_signals.decide.base import Decision, Questions, State
from laya_signals.decide.batch import Row, decide
from laya_signals.decide.checkpoint import CONFIG, ENCODER, WEIGHTS, Checkpoint, check_weights
from laya_signals.decide.hub import open_checkpoint
from laya_signals.decide.question import TypedQuestion
from laya_signals.decide.sequence import SequenceBuilder
from laya_signals.errors import ModelError
from laya_signals.model_source import ModelSource, import_runtime

HEAD_WIDTH = 64


class CheckpointSource(ModelSource):
    """Where a Laya checkpoint is and where it runs."""

    def open(self) -> Checkpoint:
        """Find and check the checkpoint; reads its configuration only."""
        return open_checkpoint(
            self.model, revision=self.revision, subfolder=self.subfolder, hashes=self.hashes
        )


class CheckpointDecisionConfig(CheckpointSource):
    """Settings of `CheckpointDecision`."""

    #: Questions in one forward pass. With more than one, shorter ones are padded, and the last
    #: digits of an answer depend on its neighbours; worth it on an accelerator.
    batch_size: int = Field(default=1, ge=1)


@dataclass(frozen=True)
class _Loaded:
    sequences: SequenceBuilder
    network: Network


class CheckpointDecision(Component[CheckpointDecisionConfig]):
    """A Laya checkpoint, from a folder or from the hub, as the reference implementation runs it.

    Needs the extra `models`; `MissingExtraError` says so where it is not installed. The checkpoint
    is read at the first state, in float32. `fingerprint` hashes its files, which takes seconds for
    a large one. With `batch_size` 1 no answer depends on its neighbours; the number of torch's
    threads may still move its last digits.
    """

    Config = CheckpointDecisionConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        self._loading = threading.Lock()
        self._checkpoint: Checkpoint | None = None
        self._digests: Mapping[str, str] | None = None
        self._loaded: _Loaded | None = None

    def __reduce__(self) -> tuple[type[CheckpointDecision], tuple[CheckpointDecisionConfig]]:
        return type(self), (self.config,)

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that the settings name; found, and its hashes checked, on first use."""
        if self._checkpoint is None:
            self._checkpoint = self.config.open()
        return self._checkpoint

    def fingerprint_extra(self) -> Any:
        """The hashes of the checkpoint's files."""
        if self._digests is None:
            self._digests = self.checkpoint.digests()
        return self._digests

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state, in order, with an answer to each question.

        Raises `QuestionError` (also a `ValueError`) for a question or a state that cannot be
        asked, before anything runs, and `ModelError` when the checkpoint cannot be loaded.
        """
        model = self._model()
        config = self.checkpoint.config

        def logits_of(rows: Sequence[Row]) -> list[NDArray[np.float32]]:
            # Rows of like length together: less padding.
            order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
            found: dict[int, NDArray[np.float32]] = {}
            for start in range(0, len(order), self.config.batch_size):
                chosen = order[start : start + self.config.batch_size]
                logits = model.network.logits([rows[i] for i in chosen])
                found.update(zip(chosen, logits, strict=True))
            return [found[i] for i in range(len(rows))]

        def chances_of(question: TypedQuestion, logits: NDArray[np.float32]) -> NDArray[np.float64]:
            return probabilities(logits, config.temperature_of(question.type, len(question.labels)))

        return decide(states, questions, model.sequences, logits_of, chances_of)

    def _model(self) -> _Loaded:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    network = load_network(self.checkpoint, self.config.device)
                    self._loaded = _Loaded(self.checkpoint.sequences(), network)
        return self._loaded


@dataclass(frozen=True)
class Network:
    """Encoder and head on a device, in float32."""

    encoder: Any
    type_emb: Any
    layers: Any
    scorer: Any
    device: str

    def states(self, ids: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """The encoder's hidden states `(n, t, d)`, and which of them are not padding `(n, t)`."""
        torch = import_runtime("torch")
        width = max(map(len, ids))
        # What stands at a padded position is never looked at, so any token will do.
        tokens = torch.zeros((len(ids), width), dtype=torch.long)
        present = torch.zeros((len(ids), width), dtype=torch.bool)
        for number, row in enumerate(ids):
            tokens[number, : len(row)] = torch.tensor(row)
            present[number, : len(row)] = True
        tokens, present = tokens.to(self.device), present.to(self.device)
        found = self.encoder(input_ids=tokens, attention_mask=present.long())
        return found.last_hidden_state, present

    def logits(self, rows: Sequence[Row]) -> list[NDArray[np.float32]]:
        """One forward pass: for each row `(k,)` float32, one logit for each marker."""
        torch = import_runtime("torch")
        with torch.inference_mode():
            states, present = self.states([row.ids for row in rows])
            kinds = torch.tensor([row.kind for row in rows], device=self.device)
            states = states + self.type_emb(kinds)[:, None, :]
            for layer in self.layers:
                states = layer(states, src_key_padding_mask=~present)
            found = []
            for number, row in enumerate(rows):
                places = torch.tensor(row.markers, device=self.device)
                scores = self.scorer(states[number, places]).squeeze(-1)
                found.append(scores.float().cpu().numpy())
        return found


def load_network(checkpoint: Checkpoint, device: str) -> Network:
    """Read a checkpoint's weights into an encoder and a head.

    Raises `MissingExtraError` without the extra `models`, and `ModelError`, naming the file, when a
    tensor is missing, has another shape, or has no place.
    """
    torch, transformers = import_runtime("torch"), import_runtime("transformers")
    safetensors = import_runtime("safetensors.torch")
    config = checkpoint.config
    path = checkpoint.folder / WEIGHTS
    checkpoint.encoder_config()  # names the file when it is missing or no JSON
    try:
        encoder = _encoder(transformers, checkpoint)
    except Exception as error:
        raise ModelError(f"{checkpoint.folder / ENCODER} makes no encoder: {error}") from error
    positions = getattr(encoder.config, "max_position_embeddings", None)
    if isinstance(positions, int) and config.max_len > positions:
        raise ModelError(
            f"{checkpoint.folder / CONFIG}: max_len is {config.max_len}, but the encoder has "
            f"{positions} positions"
        )
    d = encoder.config.hidden_size
    nn = torch.nn
    modules = {
        "encoder": encoder,
        "type_emb": nn.Embedding(3, d),
        "head.layers": nn.ModuleList(
            nn.TransformerEncoderLayer(
                d, max(1, d // HEAD_WIDTH), 4 * d, dropout=0.0, batch_first=True, norm_first=True
            )
            for _ in range(config.head_layers)
        ),
        "scorer": nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, 1)),
    }
    try:
        weights = safetensors.load_file(path)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    except Exception as error:
        raise ModelError(f"{path} is no safetensors file: {error}") from error
    shapes = {
        f"{prefix}.{name}": tuple(value.shape)
        for prefix, module in modules.items()
        for name, value in module.state_dict().items()
    }
    check_weights(path, shapes, weights)
    for prefix, module in modules.items():
        start = f"{prefix}."
        part = {k.removeprefix(start): v for k, v in weights.items() if k.startswith(start)}
        module.load_state_dict({name: value.float() for name, value in part.items()})
        try:
            module.to(device).eval()
        except (RuntimeError, AssertionError) as error:
            raise ModelError(f"cannot use the device {device!r}: {error}") from error
    return Network(encoder, modules["type_emb"], modules["head.layers"], modules["scorer"], device)


def _encoder(transformers: Any, checkpoint: Checkpoint) -> Any:
    folder = (checkpoint.folder / ENCODER).parent
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    if hasattr(config, "reference_compile"):
        config.reference_compile = False  # compiling costs more than a few passes gain
    with _no_initial_weights():
        return transformers.AutoModel.from_config(config, attn_implementation="sdpa")


def _no_initial_weights() -> Any:
    """Skips drawing weights that are about to be read, where transformers offers it."""
    try:
        return import_module("transformers.initialization").no_init_weights()
    except (ImportError, AttributeError):
        return nullcontext()
