"""What model calls cost, what they may cost, and the ledger that holds the one to the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from types import MappingProxyType

from ripple.errors import BudgetExceededError, ConfigError, InvalidInputError, ModelError
from ripple.types import Usage

__all__ = ["Budget", "Ledger", "Price", "Reservation", "check_price", "cost"]

Price = tuple[float, float]
"""US dollars for a million input tokens and a million output tokens."""

_ROUNDING = 1e-9  # ten calls at 0.1 dollars fit into one dollar


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What an operation may spend on model calls; None is no limit.

    Parameters
    ----------
    llm_calls : int, optional
        Calls, never exceeded.
    tokens : int, optional
        Input and output together. A call is made only if it fits when its reply takes all that it may, so
        the limit holds as far as the estimate of the input does.
    seconds : float, optional
        Wall-clock time from the start of the operation; no call goes on longer.
    usd : float, optional
        As ``tokens``, at the model's price; a model without ``price`` is refused.
    strict : bool, default False
        Raise BudgetExceededError when the budget is spent. Otherwise the operation goes on without the
        model, keeps what is done and says so in its report.

    Raises
    ------
    InvalidInputError
        A limit is negative or no number.
    """

    llm_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        for field in fields(self)[:-1]:
            limit = getattr(self, field.name)
            whole = field.name in ("llm_calls", "tokens")
            kinds = (int,) if whole else (int, float)
            if limit is None:
                continue
            if isinstance(limit, bool) or not isinstance(limit, kinds) or not isfinite(limit) or limit < 0:
                wanted = "a whole number" if whole else "a number"
                raise InvalidInputError(f"the budget's {field.name} is {limit!r}; give {wanted} of 0 or more, or None")


def check_price(price: Price | None) -> Price | None:
    """Return the price as two floats, or None; InvalidInputError when it is no such pair."""
    if price is None:
        return None
    try:
        input_price, output_price = map(float, price)
    except (TypeError, ValueError):
        input_price = output_price = -1.0
    if not (isfinite(input_price) and isfinite(output_price) and min(input_price, output_price) >= 0):
        raise InvalidInputError("price must be (input, output) in US dollars per million tokens, such as (0.4, 1.6)")
    return input_price, output_price


def cost(price: Price | None, input_tokens: int, output_tokens: int) -> float | None:
    """Return the US dollars of so many tokens, None where there is no price."""
    return None if price is None else (price[0] * input_tokens + price[1] * output_tokens) / 1e6


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call that may be made: the most that it can take, held until it is booked."""

    stage: str
    tokens: int
    usd: float | None
    price: Price | None


class Ledger:
    """Counts the calls of one operation and holds them to its budget.

    Parameters
    ----------
    budget : Budget, optional
        No limit when left out.
    clock : callable, optional
        Seconds that only go forward; the operation starts now.

    Notes
    -----
    Safe for several threads. What is reserved counts as spent until it is booked, so calls side by side
    never exceed the budget together.
    """

    def __init__(self, budget: Budget | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget = budget or Budget()
        self._clock = clock
        self._start = clock()
        self._lock = threading.Lock()
        self._stages: dict[str, Usage] = {}
        self._total = Usage()
        self._open_calls = 0
        self._open_tokens = 0
        self._open_usd = 0.0
        self._refused: dict[str, int] = {}

    @property
    def budget(self) -> Budget:
        """The limits."""
        return self._budget

    @property
    def seconds_left(self) -> float:
        """Seconds until the budget's time is over, at least 0; infinite without such a limit."""
        if self._budget.seconds is None:
            return float("inf")
        return max(self._start + self._budget.seconds - self._clock(), 0.0)

    def usage(self) -> Usage:
        """Return what has been booked."""
        with self._lock:
            return self._total

    def by_stage(self) -> Mapping[str, Usage]:
        """Return what has been booked, by the stage of the requests."""
        with self._lock:
            return MappingProxyType(dict(self._stages))

    def refused(self) -> Mapping[str, int]:
        """Return how many calls were refused, by the limit that refused them; empty while the budget lasts."""
        with self._lock:
            return MappingProxyType(dict(self._refused))

    def reserve(self, stage: str, *, input_tokens: int, output_tokens: int, price: Price | None = None) -> Reservation:
        """Return the right to make one call.

        Parameters
        ----------
        stage : str
            What the call is for.
        input_tokens, output_tokens : int
            Its input, estimated, and the most that its reply may take.
        price : (float, float), optional
            The model's.

        Returns
        -------
        Reservation
            To be given back to ``book``, whatever comes of the call.

        Raises
        ------
        ModelError
            The budget does not hold the call (``reason="budget"``) and is not strict.
        BudgetExceededError
            The same under a strict budget.
        ConfigError
            The budget is in dollars and the model has no price.
        """
        usd = cost(price, input_tokens, output_tokens)
        budget = self._budget
        if budget.usd is not None and usd is None:
            raise ConfigError("the budget limits usd, and the model has no price; give it price=(input, output)")
        tokens = input_tokens + output_tokens
        with self._lock:
            limit = self._limit_met(tokens, usd)
            if limit is None:
                self._open_calls += 1
                self._open_tokens += tokens
                self._open_usd += usd or 0.0
                return Reservation(stage, tokens, usd, price)
            self._refused[limit] = self._refused.get(limit, 0) + 1
        message = (
            f"the budget of {getattr(budget, limit)} {limit} has no room for a call of the stage {stage!r}; "
            "raise it, or go on later with a new one"
        )
        if budget.strict:
            raise BudgetExceededError(message)
        raise ModelError(message, retryable=True, reason="budget")

    def book(
        self,
        reservation: Reservation,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        seconds: float = 0.0,
    ) -> Usage:
        """Enter what a reserved call really took, zeros for one that failed; return it as usage."""
        usd = cost(reservation.price, input_tokens, output_tokens)
        usage = Usage(1, input_tokens, output_tokens, seconds, usd)
        with self._lock:
            self._open_calls -= 1
            self._open_tokens -= reservation.tokens
            # Nothing open is exactly nothing: sums of floats would leave a rest.
            self._open_usd = self._open_usd - (reservation.usd or 0.0) if self._open_calls else 0.0
            self._total += usage
            self._stages[reservation.stage] = self._stages.get(reservation.stage, Usage()) + usage
        return usage

    def _limit_met(self, tokens: int, usd: float | None) -> str | None:
        """Return the name of the first limit that has no room for one more call."""
        budget, total = self._budget, self._total
        if budget.llm_calls is not None and total.calls + self._open_calls + 1 > budget.llm_calls:
            return "llm_calls"
        spent = total.input_tokens + total.output_tokens + self._open_tokens
        if budget.tokens is not None and spent + tokens > budget.tokens:
            return "tokens"
        if budget.seconds is not None and self.seconds_left <= 0:
            return "seconds"
        if budget.usd is not None and (total.usd or 0.0) + self._open_usd + (usd or 0.0) > budget.usd + _ROUNDING:
            return "usd"
        return None
