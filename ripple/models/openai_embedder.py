"""An embedder behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ripple.config import MODEL_SECONDS, model_endpoint, model_key
from ripple.errors import ConfigError, EmbeddingError, InvalidInputError
from ripple.models.endpoint import Endpoint, Failure, read_json
from ripple.models.schema import without_surrogates
from ripple.models.tokens import count_tokens

__all__ = ["OpenAIEmbedder"]

FloatArray = npt.NDArray[np.float32]
_BODY_BYTES_MAX = 64 << 20
_BATCH_CHARACTERS = 400_000  # OpenAI takes 300,000 tokens in a request


class OpenAIEmbedder:
    """Vectors from an endpoint's ``/v1/embeddings``.

    Parameters
    ----------
    model : str
        Name that the endpoint knows; it is also the embedder's name in a store.
    dimension : int, optional
        Asked of the endpoint, and what its vectors must have. When left out it is learnt by embedding one
        word when it is first asked for.
    base_url, api_key : str, optional
        As for OpenAIModel: else ``RIPPLE_BASE_URL``, ``OPENAI_BASE_URL``; ``RIPPLE_API_KEY``, ``OPENAI_API_KEY``.
    batch : int, default 256
        The most texts in one request.
    text_tokens : int, default 8,000
        A longer text, by ``count_tokens``, is embedded by its beginning; 8,191 is OpenAI's limit.
    timeout, attempt_timeout, attempts, concurrency, pause
        As for OpenAIModel; a call is one request of one batch, and batches go side by side.

    Raises
    ------
    ConfigError
        The address is none, or OpenAI is asked without a key.

    Notes
    -----
    Safe for several threads.
    """

    def __init__(
        self,
        model: str,
        *,
        dimension: int | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        batch: int = 256,
        text_tokens: int = 8_000,
        timeout: float = MODEL_SECONDS,
        attempt_timeout: float | None = None,
        attempts: int = 4,
        concurrency: int = 4,
        pause: float = 0.5,
    ) -> None:
        if not model:
            raise ConfigError("no embedding model is named: give one, such as 'text-embedding-3-small'")
        for name, value in (("dimension", dimension), ("batch", batch), ("text_tokens", text_tokens)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidInputError(f"{name} is {value!r}; give a whole number of 1 or more")
        self._name = model
        self._asked_dimension = self._dimension = dimension
        self._batch = batch
        self._text_tokens = text_tokens
        self._concurrency = concurrency
        self._sends_dimension = True
        self._endpoint = Endpoint(
            base_url=base_url or model_endpoint(),
            api_key=api_key or model_key(),
            timeout=timeout,
            attempt_timeout=attempt_timeout,
            attempts=attempts,
            concurrency=concurrency,
            pause=pause,
            error=EmbeddingError,
        )

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._name!r} at {self._endpoint.host})"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector; the first time, where it was not given, this asks the endpoint."""
        if self._dimension is None:
            self._dimension = int(self._embed_batches([["dimension"]])[0].shape[1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return one row a text; a row of NaN where a text holds nothing but white space.

        Parameters
        ----------
        texts : sequence of str
            Any number, also none.

        Returns
        -------
        numpy.ndarray
            float32 of shape (n, dimension), in the order of the texts, as the endpoint gives them.

        Raises
        ------
        EmbeddingError
            The endpoint failed, or gave fewer rows, rows of another length, or no numbers; nothing is
            returned of the other batches.
        """
        dimension = self.dimension
        rows = np.full((len(texts), dimension), np.nan, dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        if not filled:
            return rows
        vectors = np.concatenate(self._embed_batches(self._cut([texts[row] for row in filled])))
        if vectors.shape[1] != dimension:
            raise EmbeddingError(f"{self._name} gave vectors of length {vectors.shape[1]}; wanted {dimension}")
        rows[filled] = vectors
        return rows

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._endpoint.close()

    def _cut(self, texts: list[str]) -> list[list[str]]:
        """Return the texts in batches, each text and each batch within its size."""
        batches: list[list[str]] = [[]]
        characters = 0
        for text in texts:
            text = without_surrogates(text)
            tokens = count_tokens(text) if len(text) > self._text_tokens else 0
            if tokens > self._text_tokens:
                text = text[: len(text) * self._text_tokens // tokens]
            if len(batches[-1]) == self._batch or characters + len(text) > _BATCH_CHARACTERS:
                batches.append([])
                characters = 0
            batches[-1].append(text)
            characters += len(text)
        return [batch for batch in batches if batch]

    def _embed_batches(self, batches: list[list[str]]) -> list[FloatArray]:
        """Return the vectors of each batch, several requests open at a time."""
        if len(batches) == 1:
            return [self._endpoint.call(_Embeddings(self, batches[0]), None)]
        return self._endpoint.wait(self._gather(batches))

    async def _gather(self, batches: list[list[str]]) -> list[FloatArray]:
        room = asyncio.Semaphore(self._concurrency)  # a batch's time begins when it is sent

        async def one(batch: list[str]) -> FloatArray:
            async with room:
                return await self._endpoint.acall(_Embeddings(self, batch), None)

        tasks = [asyncio.ensure_future(one(batch)) for batch in batches]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()


class _Embeddings:
    """One request: a batch of texts."""

    resource = "embeddings"
    bytes_max = _BODY_BYTES_MAX

    def __init__(self, embedder: OpenAIEmbedder, texts: list[str]) -> None:
        self._embedder = embedder
        self._texts = texts
        self._sends_dimension = False

    def body(self) -> dict[str, Any]:
        """Return the request."""
        embedder = self._embedder
        self._sends_dimension = embedder._asked_dimension is not None and embedder._sends_dimension
        extra = {"dimensions": embedder._asked_dimension} if self._sends_dimension else {}
        return {"model": embedder._name, "input": self._texts, "encoding_format": "float", "extra_body": extra}

    def adapt(self, failure: Failure) -> bool:
        """Leave out the dimension where it is refused; the rows are checked for it all the same."""
        if not self._sends_dimension or failure.status not in (400, 422) or "dimension" not in failure.message:
            return False
        self._embedder._sends_dimension = False
        return True

    def read(self, body: bytes) -> FloatArray | Failure:
        """Return the rows in the order of the texts."""
        value = read_json(body)
        try:
            data = value["data"]
            by_index = {item.get("index", place): item["embedding"] for place, item in enumerate(data)}
        except (TypeError, LookupError, AttributeError):
            return Failure("unreadable", "sent what are no embeddings", True)
        wanted = len(self._texts)
        if len(data) != wanted or by_index.keys() != set(range(wanted)):
            return Failure("unreadable", f"sent {len(by_index)} of {wanted} embeddings", False)
        try:
            rows = np.array([by_index[index] for index in range(wanted)], dtype=np.float32)
        except (TypeError, ValueError, OverflowError):
            return Failure("unreadable", "sent embeddings that are not rows of numbers of one length", False)
        if rows.ndim != 2 or not rows.shape[1]:
            return Failure("unreadable", "sent embeddings that are not rows of numbers of one length", False)
        return rows
