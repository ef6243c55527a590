"""Requests to an OpenAI-compatible endpoint: deadlines, retries, and errors that tell no secrets.

The transport is the ``openai`` package, of which the connections, the authentication and the wire format are
used; its time-outs (600 s) and retries are off. One coroutine holds the logic; the blocking and the async way to
call it only wait differently.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import random
import re
import threading
import time
import weakref
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from ripple.errors import ConfigError, InvalidInputError, ModelError
from ripple.models.loop import THREAD_NAME, LoopThread, shared_loop

__all__ = ["Endpoint", "Exchange", "Failure", "read_json"]

Result = TypeVar("Result", covariant=True)
_log = logging.getLogger(__name__)

DEFAULT_URL = "https://api.openai.com/v1"
_RETRIED = frozenset({408, 409, 425, 429})  # and 5xx, but for those that say "never"
_NEVER = frozenset({501, 505})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})  # sent as 429, not over in a minute
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
# The words of a server that may be told: any other may be a piece of the prompt or the key.
_CODES = (
    _SPENT
    | _TOO_LONG
    | {
        "authentication_error",
        "billing_not_active",
        "content_filter",
        "content_policy_violation",
        "invalid_api_key",
        "invalid_json_schema",
        "invalid_request_error",
        "invalid_value",
        "model_not_found",
        "not_found_error",
        "permission_error",
        "rate_limit_exceeded",
        "server_error",
        "unsupported_parameter",
        "unsupported_value",
    }
)
_TELLS_TOO_LONG = re.compile(r"context (length|size|window)|maximum context|too many (input )?tokens")
_CONNECT_SECONDS = 5.0  # a try that is made again, where a reply may take the whole time
_PAUSE_MAX = 8.0
_GRACE_SECONDS = 0.25  # after the deadline, for the loop to cancel; then the caller goes without it
_CHUNK = 1 << 16
_TALKATIVE = ("openai._base_client", "httpx", "httpx2")  # requests (versions 1 and 2 of openai), whole addresses


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt gave nothing: what may be said of it, and in ``message`` what the server said, which may not."""

    reason: str
    what: str
    retryable: bool
    status: int | None = None
    retry_after: float | None = None
    message: str = field(default="", repr=False)


def read_json(body: bytes) -> Any:
    """Return decoded JSON, None when the bytes are none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


class Exchange(Protocol[Result]):
    """One call: what is asked, and how the answer is read."""

    @property
    def resource(self) -> str:
        """The API's part: ``"chat"`` or ``"embeddings"``."""
        ...

    @property
    def bytes_max(self) -> int:
        """A longer reply is not read to its end."""
        ...

    def body(self) -> dict[str, Any]:
        """Return the arguments of the next attempt."""
        ...

    def adapt(self, failure: Failure) -> bool:
        """Return whether the next attempt asks in another way than the one that failed."""
        ...

    def read(self, body: bytes) -> Result | Failure:
        """Return the result, or why there is none."""
        ...


class Endpoint:
    """A server that speaks OpenAI's API, with the rules by which it is called.

    Parameters
    ----------
    base_url : str or None
        With ``/v1``; OpenAI's when None.
    api_key : str or None
        May be None for any server but OpenAI's.
    timeout : float
        Seconds for one call with all its attempts and pauses.
    attempt_timeout : float or None
        Seconds for one attempt; None gives each what is left of the call.
    attempts : int
        The most requests for one call.
    concurrency : int
        The most requests that are open at a time.
    pause : float
        Seconds: the first pause between attempts is a random part of it, each further one of twice as much,
        8 s at most.
    error : type
        ModelError or a class below it: what calls raise.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        attempt_timeout: float | None,
        attempts: int,
        concurrency: int,
        pause: float,
        error: type[ModelError] = ModelError,
    ) -> None:
        self._url = base_url or DEFAULT_URL
        self.host = _host_of(self._url)
        self._key = (api_key or "").strip()
        if not re.fullmatch(r"[!-~]*", self._key):
            raise ConfigError("the API key holds characters that no key has; check for quotes and line breaks")
        if not self._key and self.is_openai:
            raise ConfigError("OpenAI needs a key: give api_key, or set RIPPLE_API_KEY or OPENAI_API_KEY")
        for name, value, least in (("attempts", attempts, 1), ("concurrency", concurrency, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInputError(f"{name} is {value!r}; give a whole number of {least} or more")
        for name, seconds in (("timeout", timeout), ("attempt_timeout", attempt_timeout), ("pause", pause)):
            if seconds is not None and not 0 < seconds < 1e6:
                raise InvalidInputError(f"{name} is {seconds!r}; give seconds above 0")
        self.timeout = timeout
        self._attempt_timeout = attempt_timeout
        self._attempts = attempts
        self._concurrency = concurrency
        self._pause = pause
        self._error = error
        self._client: _Client | None = None
        self._slots = asyncio.Semaphore(concurrency)
        # Here, not in the first call: loading takes a second, which is not the call's.
        self._package = _load_package()
        self._connect()

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI's own server."""
        return self.host == "api.openai.com"

    def call(self, exchange: Exchange[Result], timeout: float | None) -> Result:
        """Return what the exchange reads from the reply, waiting for it; see ``acall``."""
        limit = self._limit(timeout)
        future = self._connect().loop.submit(self._request(exchange, limit))
        try:
            return future.result(limit + _GRACE_SECONDS)
        except TimeoutError:
            failed = self._late(limit)
        except CancelledError:
            failed = self._error(
                "the interpreter is ending, and with it all calls", retryable=True, reason="connection"
            )
        finally:
            future.cancel()
        raise failed

    async def acall(self, exchange: Exchange[Result], timeout: float | None) -> Result:
        """Return what the exchange reads from the reply.

        Parameters
        ----------
        exchange : Exchange
            What is asked, and how the answer is read.
        timeout : float or None
            Seconds for the call; the endpoint's own where that is shorter or this is None.

        Raises
        ------
        ModelError
            There is no reply.
        """
        limit = self._limit(timeout)
        future = self._connect().loop.submit(self._request(exchange, limit))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), limit + _GRACE_SECONDS)
        except TimeoutError:
            pass
        raise self._late(limit)

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of several calls, made by a coroutine in the loop of the connections."""
        future = self._connect().loop.submit(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Leave the connections, which close with their last user; a later call opens new ones."""
        self._client = None

    def _limit(self, timeout: float | None) -> float:
        return self.timeout if timeout is None else max(min(timeout, self.timeout), 0.0)

    def _connect(self) -> _Client:
        """Return the client of this process, made anew after a fork or ``close``."""
        loop = shared_loop()
        if self._client is None or self._client.loop is not loop:
            self._slots = asyncio.Semaphore(self._concurrency)
            self._client = _client_for(loop, self._package, self._url, self._key)
        return self._client

    async def _request(self, exchange: Exchange[Result], limit: float) -> Result:
        """Return the reply of the first attempt that has one; runs in the shared loop."""
        deadline = time.monotonic() + limit
        failure: Failure | None = None
        attempt, is_late = 0, False
        try:
            async with asyncio.timeout(limit):
                while attempt < self._attempts:
                    answer = await self._attempt(exchange, deadline)
                    if not isinstance(answer, Failure):
                        return answer
                    if exchange.adapt(answer):  # asked in another way, which is no second try
                        continue
                    failure = answer
                    attempt += 1
                    pause = self._pause_after(failure, attempt)
                    if not failure.retryable or attempt == self._attempts or pause > deadline - time.monotonic():
                        break
                    _log.info("attempt %d at %s: %s; next in %.2f s", attempt, self.host, failure.what, pause)
                    await asyncio.sleep(pause)
        except TimeoutError:
            is_late = True
        # Outside of the except clauses: the error carries no other, whose text might hold what it must not.
        if is_late or failure is None:
            raise self._late(limit, failure)
        raise self._error(
            f"{self.host} {failure.what}" + (f", {attempt} attempts" if attempt > 1 else ""),
            retryable=failure.retryable,
            reason=failure.reason,
        )

    async def _attempt(self, exchange: Exchange[Result], deadline: float) -> Result | Failure:
        client = self._connect()
        async with self._slots:
            left = max(deadline - time.monotonic(), 0.001)
            seconds = min(left, self._attempt_timeout or left)
            try:
                async with asyncio.timeout(seconds):
                    answer = await self._send(client, exchange, seconds)
            except TimeoutError:
                answer = Failure("timeout", f"did not answer within {seconds:.3g} s", True)
        return answer if isinstance(answer, Failure) else exchange.read(answer)

    async def _send(self, client: _Client, exchange: Exchange[Any], seconds: float) -> bytes | Failure:
        """Return the body of a reply of status 200."""
        package = self._package
        resource = client.resources[exchange.resource]
        timeout = package.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        data = bytearray()
        try:
            async with resource.create(**exchange.body(), timeout=timeout) as response:
                try:
                    async for chunk in response.iter_bytes(_CHUNK):
                        data += chunk
                        if len(data) > exchange.bytes_max:
                            return Failure("unreadable", f"sent more than {exchange.bytes_max} bytes", False)
                except Exception as error:  # the transport's own classes, which change with the package's version
                    return Failure("connection", f"broke off its reply ({type(error).__name__})", True)
        except package.APIStatusError as error:
            return self._status_failure(error)
        except package.APITimeoutError:
            return Failure("timeout", "did not answer in time", True)
        except package.APIConnectionError as error:
            cause = type(error.__cause__).__name__ if error.__cause__ else "no reason given"
            return Failure("connection", f"could not be reached ({cause})", True)
        except package.OpenAIError as error:
            return Failure("refused", f"could not be asked ({type(error).__name__})", False)
        return bytes(data)

    def _status_failure(self, error: Any) -> Failure:
        return self.failure_of(error.status_code, error.body, error.response.headers, str(error.message))

    def failure_of(self, status: int, body: Any, headers: Mapping[str, str], message: str = "") -> Failure:
        """Return what an error status means; of the server's words only a code that is surely one is told."""
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            body = body["error"]
        told = [body.get("code"), body.get("type")] if isinstance(body, dict) else []
        codes = [code for code in told if isinstance(code, str) and code in _CODES]
        what = f"answered with status {status}" + (f" ({codes[0]})" if codes else "")
        if isinstance(body, dict):
            message = f"{message} {body.get('message', '')} param={body.get('param', '')}"
        message = message.lower()
        retryable = status in _RETRIED or (status >= 500 and status not in _NEVER)
        if _TOO_LONG & set(codes) or (status not in _RETRIED and _TELLS_TOO_LONG.search(message)):
            reason, retryable = "too_long", False  # llama.cpp says so with 500
        elif status == 429:
            reason, retryable = "rate_limit", not _SPENT & set(codes)
        else:
            reason = "server" if status >= 500 else "timeout" if status == 408 else "refused"
        return Failure(reason, what, retryable, status, _retry_after(headers), message)

    def _pause_after(self, failure: Failure, attempt: int) -> float:
        """Return a random part of the pause that doubles, after the time that the server asked for."""
        pause = random.uniform(0, min(self._pause * 2 ** (attempt - 1), _PAUSE_MAX))
        return pause if failure.retry_after is None else failure.retry_after + pause / 4

    def _late(self, limit: float, failure: Failure | None = None) -> ModelError:
        before = "" if failure is None else f"; before that it {failure.what}"
        return self._error(f"{self.host} did not answer within {limit:.3g} s{before}", retryable=True, reason="timeout")


class _Client:
    """The package's client for one address and key, which its users share: making one takes a quarter of a second."""

    def __init__(self, loop: LoopThread, package: Any, url: str, key: str) -> None:
        self.loop = loop
        client = package.AsyncOpenAI(api_key=key or "none", base_url=url, max_retries=0)
        # The package makes its resources when they are first touched, which takes a second once.
        self.resources = {
            "chat": client.chat.completions.with_streaming_response,
            "embeddings": client.embeddings.with_streaming_response,
        }
        loop.adopt(self, client.close)


_clients: weakref.WeakValueDictionary[tuple[LoopThread, str, str], _Client] = weakref.WeakValueDictionary()
_clients_lock = threading.Lock()


def _client_for(loop: LoopThread, package: Any, url: str, key: str) -> _Client:
    with _clients_lock:
        client = _clients.get((loop, url, key))
        if client is None:
            client = _clients[loop, url, key] = _Client(loop, package, url, key)
        return client


def _host_of(url: str) -> str:
    """Return host and port of an address, which may be told: not its user, path or query."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigError("base_url must be an http or https address, such as http://127.0.0.1:8080/v1")
    return f"{host}:{port}" if port else host


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, None where it asks for nothing sensible."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            value = headers["retry-after"]
            try:
                seconds = float(value)
            except ValueError:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), 1e6)


def _load_package() -> Any:
    """Return the ``openai`` package, kept from writing prompts and addresses to logs where ripple calls it."""
    try:
        package = import_module("openai")
    except ImportError as error:
        raise ConfigError("the openai package is missing; install ripplemem with its dependencies") from error
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        if not any(isinstance(each, _OthersOnly) for each in logger.filters):
            logger.addFilter(_OthersOnly())
    return package


class _OthersOnly(logging.Filter):
    """Drops what the packages tell below a warning in ripple's own thread; their other users see all."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.INFO or record.threadName != THREAD_NAME
