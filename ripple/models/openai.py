"""A language model behind an OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp, a proxy."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ripple.config import MODEL_SECONDS, model_endpoint, model_key, model_name
from ripple.errors import ConfigError
from ripple.models.base import ModelReply, ModelRequest
from ripple.models.budget import Price, check_price
from ripple.models.endpoint import Endpoint, Failure, read_json
from ripple.models.schema import without_surrogates

__all__ = ["OpenAIModel"]

_BODY_BYTES_MAX = 8 << 20  # a reply of 1 MiB with each character escaped, and room
_TOKENS_MAX = 10**9
_SPECIFIC = ("schema", "bare schema", "object", "text")
_REFUSALS = frozenset({400, 422, 500, 501})  # some servers fail at a schema that they cannot compile
_LIMITS = frozenset({"maxLength", "minLength", "maxItems", "minItems", "pattern", "minimum", "maximum"})
# What servers say when it is the format that they refuse: OpenAI, DeepSeek, vLLM, llama.cpp, Ollama, LM Studio, TGI.
_ABOUT_FORMAT = re.compile(
    r"response_?format|json_?schema|json_?object|schema|grammar|guided|structured[ _-]?outputs?|json mode"
)
_ABOUT_LIMITS = re.compile("|".join(sorted(each.lower() for each in _LIMITS)))
_NOT_KNOWN = re.compile(r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|instead")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What a server has been found to take."""

    format: str
    tokens: str
    sends_temperature: bool = True


class OpenAIModel:
    """A language model that is asked over the network, blocking or async.

    Parameters
    ----------
    model : str, optional
        Name that the endpoint knows; ``RIPPLE_MODEL`` when left out.
    base_url : str, optional
        Address with ``/v1``; else ``RIPPLE_BASE_URL``, ``OPENAI_BASE_URL``, OpenAI's own.
    api_key : str, optional
        Else ``RIPPLE_API_KEY``, ``OPENAI_API_KEY``; servers other than OpenAI's may need none.
    price : (float, float), optional
        US dollars for a million input and a million output tokens.
    concurrency : int, default 8
        Requests open at a time; further calls wait, and their time counts.
    timeout : float, default 60
        Seconds for one call with its retries and pauses, kept also where the server trickles or hangs.
    attempt_timeout : float, optional
        Seconds for one attempt, so that a hung one is tried again; what is left of the call when None.
    attempts : int, default 4
        The most attempts of one call. Tried again are 429 and 408 (``Retry-After`` kept, within the time), 5xx,
        connections that fail or break, unreadable replies and attempts that take too long.
    pause : float, default 0.5
        Seconds: the first pause is a random part of it; it doubles, to 8 s at most.
    temperature : float or None, default 0.0
        None leaves it to the server.
    extra_body : mapping, optional
        Further fields of each request, such as ``{"reasoning_effort": "low"}``.

    Raises
    ------
    ConfigError
        No model is named, the address is none, or OpenAI is asked without a key.

    Notes
    -----
    A reply's shape is asked for by the strictest way that the server takes: the JSON schema, the schema without
    its limits of length, any JSON object, plain text; for the last two the schema is added to the system text.
    What a server refuses is learnt once by an object and not asked again; so are ``max_tokens`` against
    ``max_completion_tokens``, and a temperature. Errors, logs and repr hold no key, prompt or reply.
    Safe for several threads and event loops; the connections live in a thread of the package.

    Examples
    --------
    >>> OpenAIModel("qwen3", base_url="http://127.0.0.1:8080/v1")
    OpenAIModel('qwen3' at 127.0.0.1:8080)
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        price: Price | None = None,
        concurrency: int = 8,
        timeout: float = MODEL_SECONDS,
        attempt_timeout: float | None = None,
        attempts: int = 4,
        pause: float = 0.5,
        temperature: float | None = 0.0,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        name = model or model_name()
        if not name:
            raise ConfigError("no language model is named: give one, such as 'gpt-4.1-mini', or set RIPPLE_MODEL")
        self._name = name
        self._price = check_price(price)
        self._endpoint = Endpoint(
            base_url=base_url or model_endpoint(),
            api_key=api_key or model_key(),
            timeout=timeout,
            attempt_timeout=attempt_timeout,
            attempts=attempts,
            concurrency=concurrency,
            pause=pause,
        )
        self._temperature = temperature
        self._extra = dict(extra_body or {})
        # Ollama passes over max_completion_tokens without a word; OpenAI's newer models refuse max_tokens.
        tokens = "max_completion_tokens" if self._endpoint.is_openai else "max_tokens"
        # Replaced in the loop's thread alone, so two calls that learn do not undo each other.
        self._dialect = _Dialect(_SPECIFIC[0], tokens)

    def __repr__(self) -> str:
        return f"OpenAIModel({self._name!r} at {self._endpoint.host})"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def price(self) -> Price | None:
        """US dollars for a million input and a million output tokens."""
        return self._price

    @property
    def timeout(self) -> float:
        """Seconds that a call may take."""
        return self._endpoint.timeout

    def complete(self, request: ModelRequest, *, timeout: float | None = None) -> ModelReply:
        """Return the reply, waiting for it.

        Parameters
        ----------
        request : ModelRequest
        timeout : float, optional
            Seconds in all, where that is less than the model's own.

        Raises
        ------
        ModelError
            There is no reply; ``retryable`` tells whether another time may give one, ``reason`` why.
        """
        return self._endpoint.call(_Chat(self, request), timeout)

    async def acomplete(self, request: ModelRequest, *, timeout: float | None = None) -> ModelReply:
        """Return the reply, as ``complete`` does, without holding up the event loop."""
        return await self._endpoint.acall(_Chat(self, request), timeout)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._endpoint.close()


class _Chat:
    """One call of the model: its body in the server's dialect, and the reading of the reply."""

    resource = "chat"
    bytes_max = _BODY_BYTES_MAX

    def __init__(self, model: OpenAIModel, request: ModelRequest) -> None:
        self._model = model
        self._request = request
        self._dialect = model._dialect
        self._tried: set[_Dialect] = set()
        self._started = time.monotonic()

    def body(self) -> dict[str, Any]:
        """Return the request in what is known of the server's dialect."""
        model, request, dialect = self._model, self._request, self._dialect
        self._tried.add(dialect)
        system = request.system
        more: dict[str, Any] = {dialect.tokens: request.max_output_tokens}
        if request.schema is not None:
            if dialect.format in ("object", "text"):
                shape = json.dumps(request.schema, ensure_ascii=False, separators=(",", ":"))
                system = f"{system}\n\nReply with one JSON object of this JSON schema and nothing else:\n{shape}"
            if dialect.format != "text":
                more["response_format"] = _response_format(request, dialect.format)
        if model._temperature is not None and dialect.sends_temperature:
            more["temperature"] = model._temperature
        messages = [{"role": "system", "content": system}, {"role": "user", "content": request.user}]
        for message in messages:
            message["content"] = without_surrogates(message["content"])
        return {"model": model._name, "messages": messages, "extra_body": {**more, **model._extra}}

    def adapt(self, failure: Failure) -> bool:
        """Return whether a refusal leaves a way to ask that this call has not tried."""
        if failure.status not in _REFUSALS or failure.reason == "too_long":
            return False
        learnt = self._model._dialect  # by another call, meanwhile
        if learnt in self._tried:
            learnt = _next_dialect(self._dialect, failure.message, self._request.schema)
        self._dialect = learnt
        return learnt not in self._tried

    def read(self, body: bytes) -> ModelReply | Failure:
        """Return what the first choice says."""
        value = read_json(body)
        if isinstance(value, dict) and isinstance(value.get("error"), dict) and not value.get("choices"):
            code = value["error"].get("code")  # some proxies send errors with status 200
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
            return self._model._endpoint.failure_of(status, value, {})
        try:
            choice = value["choices"][0]
            message = choice["message"]
            text = _text_of(message.get("content"))
            usage = value["usage"] if isinstance(value.get("usage"), dict) else {}
            reply = ModelReply(
                text=text,
                finish_reason=str(choice.get("finish_reason") or "stop"),
                refusal=_text_of(message.get("refusal")) or None,
                input_tokens=_count(usage.get("prompt_tokens")),
                output_tokens=_count(usage.get("completion_tokens")),
                seconds=time.monotonic() - self._started,
            )
        except (TypeError, LookupError, AttributeError):
            return Failure("unreadable", "sent what is no chat completion", True)
        # Learnt when it worked: a server that quotes the request names all of its fields in a refusal.
        self._model._dialect = _both(self._model._dialect, self._dialect)
        return reply


def _response_format(request: ModelRequest, kind: str) -> dict[str, Any]:
    if kind == "object":
        return {"type": "json_object"}
    schema = request.schema if kind == "schema" else _without_limits(request.schema)
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", request.stage)[:64] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def _without_limits(schema: Any) -> Any:
    """Return the schema without limits of length and value, which some strict servers refuse."""
    if isinstance(schema, Mapping):
        # A property may be called as a limit is: its value is a schema then, no number or text.
        return {
            key: _without_limits(value)
            for key, value in schema.items()
            if key not in _LIMITS or isinstance(value, Mapping)
        }
    return [_without_limits(each) for each in schema] if isinstance(schema, (list, tuple)) else schema


def _next_dialect(sent: _Dialect, message: str, schema: Mapping[str, Any] | None) -> _Dialect:
    """Return what a refusal of a request in ``sent`` leaves to try, ``sent`` itself when it is about nothing known."""
    if "temperature" in message and sent.sends_temperature:
        return replace(sent, sends_temperature=False)
    if sent.tokens in message and _NOT_KNOWN.search(message):
        other = "max_tokens" if sent.tokens == "max_completion_tokens" else "max_completion_tokens"
        return replace(sent, tokens=other)
    is_about_limits = _ABOUT_LIMITS.search(message) is not None
    if schema is not None and sent.format != "text" and (is_about_limits or _ABOUT_FORMAT.search(message)):
        below = _SPECIFIC[_SPECIFIC.index(sent.format) + 1]
        if below == "bare schema" and not is_about_limits:
            below = "object"  # not the limits but the schema is refused
        return replace(sent, format=below)
    return sent


def _both(known: _Dialect, found: _Dialect) -> _Dialect:
    """Return the dialect that leaves out what either does."""
    return _Dialect(
        max(known.format, found.format, key=_SPECIFIC.index),
        found.tokens,
        known.sends_temperature and found.sends_temperature,
    )


def _text_of(content: Any) -> str:
    """Return a message's text; a list of parts is joined, and what is no text is none."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(value: Any) -> int:
    """Return a count of tokens, 0 where the server gives nonsense."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _TOKENS_MAX else 0
