"""The embedders that ripple brings: the static model inside the package and, as an extra, MiniLM."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ripple._engine import NativeStaticEmbedder, load_static_embedder
from ripple.errors import ConfigError, EmbeddingError

__all__ = ["MiniLMEmbedder", "StaticEmbedder"]

_STATIC_MODEL = "static-en-1.bin"
_BATCH = 16
_MAX_TOKENS = 256


class StaticEmbedder:
    """The default: one vector a word piece, summed to unit length, in the native core; English, 256-d.

    It knows no word order and little negation: two texts of the same words have cosine 1. So it ranks
    well and decides nothing alone.

    Parameters
    ----------
    path : str or Path, optional
        A model file; the packaged ``static-en-1`` when left out.

    Raises
    ------
    CorruptStoreError
        The file is damaged or missing.

    Notes
    -----
    Loading takes about 20 ms, a text about 10 us. ``embed`` may be called from several threads and runs
    without the interpreter lock.

    Examples
    --------
    >>> embedder = StaticEmbedder()
    >>> embedder.embed(["Maya is allergic to seafood."]).shape
    (1, 256)
    """

    def __init__(self, path: str | Path | None = None) -> None:
        if path is None:
            with resources.as_file(resources.files("ripple.data").joinpath(_STATIC_MODEL)) as file:
                self._native = load_static_embedder(file)
        else:
            self._native = load_static_embedder(path)

    @property
    def native(self) -> NativeStaticEmbedder:
        """The model in the core, where an engine takes its words from."""
        return self._native

    @property
    def name(self) -> str:
        """Identity of the model, as it stands in the file."""
        return self._native.name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._native.dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit-length row a text; a row of NaN where a text holds no known word piece.

        Parameters
        ----------
        texts : sequence of str
            Any number, also none.

        Returns
        -------
        numpy.ndarray
            float32 of shape (n, dimension), in the order of the texts.
        """
        return self._native.embed(list(texts))


class MiniLMEmbedder:
    """all-MiniLM-L6-v2, quantised to int8, on onnxruntime: 384 dimensions, closer to meaning, far slower.

    Parameters
    ----------
    path : str or Path
        Directory with ``model.onnx`` and ``tokenizer.json``, made by ``cpp/tools/build_minilm_onnx.py``.
    threads : int
        Threads of one call. Two on a busy machine were slower than one.

    Raises
    ------
    ConfigError
        The extra is not installed, or the directory lacks a file.

    Notes
    -----
    Texts are cut after 256 tokens. ``embed`` may be called from several threads.
    """

    def __init__(self, path: str | Path, *, threads: int = 1) -> None:
        try:
            onnxruntime: Any = import_module("onnxruntime")
            tokenizers: Any = import_module("tokenizers")
        except ImportError as error:
            raise ConfigError(
                f"MiniLMEmbedder needs {error.name}, which is not installed; pip install 'ripplemem[minilm]'"
            ) from error
        model, tokenizer = Path(path) / "model.onnx", Path(path) / "tokenizer.json"
        for file in (model, tokenizer):
            if not file.is_file():
                raise ConfigError(
                    f"{file} is missing; MiniLMEmbedder wants a directory with model.onnx and "
                    "tokenizer.json, made by cpp/tools/build_minilm_onnx.py"
                )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.encode_special_tokens = True
        self._dimension = int(self._session.get_outputs()[0].shape[1])
        special = {self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]", "[UNK]")}
        self._special = frozenset(special)

    @property
    def name(self) -> str:
        """Identity of the model."""
        return "all-MiniLM-L6-v2-int8"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit-length row a text; a row of NaN where a text holds no known token.

        Parameters
        ----------
        texts : sequence of str
            Any number, also none.

        Returns
        -------
        numpy.ndarray
            float32 of shape (n, dimension), in the order of the texts.

        Raises
        ------
        EmbeddingError
            onnxruntime failed.
        """
        encodings = self._tokenizer.encode_batch([" ".join(text.split()) for text in texts])
        ids = [encoding.ids for encoding in encodings]
        vectors = self.embed_ids(ids)
        empty = [row for row, tokens in enumerate(ids) if self._special.issuperset(tokens)]
        vectors[empty] = np.nan
        return vectors

    def embed_ids(self, ids: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        """Return one unit-length row a list of token ids; [CLS] and [SEP] are the caller's."""
        vectors = np.empty((len(ids), self._dimension), dtype=np.float32)
        # Texts of like length share a batch: little padding.
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            width = max(len(ids[row]) for row in rows)
            tokens = np.zeros((len(rows), width), dtype=np.int64)
            mask = np.zeros((len(rows), width), dtype=np.int64)
            for line, row in enumerate(rows):
                tokens[line, : len(ids[row])] = ids[row]
                mask[line, : len(ids[row])] = 1
            try:
                outputs = self._session.run(None, {"input_ids": tokens, "attention_mask": mask})
            except Exception as error:  # onnxruntime's errors share no public base class
                raise EmbeddingError(f"onnxruntime failed on {len(rows)} texts: {error}") from error
            vectors[rows] = outputs[0]
        return vectors
