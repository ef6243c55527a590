"""Windows of turns: a namespace's stream cut into pieces that a language model reads at once.

RippleMem cuts overlapping windows of a fixed number of turns. Here a window also ends where a session does or
after a gap, unless the rule says that it goes across them, and where its text gets long. The overlap is shown
as what was said before and is extracted with the window that it belongs to, so nothing is extracted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ripple.types import Turn, Windows

__all__ = ["WindowCutter", "context_of"]

_CHARACTERS_MAX = 24_000
"""Of a window of several turns; a single longer turn is a window of its own."""


class WindowCutter:
    """Holds the open turns of a stream and gives the windows that they fill.

    Parameters
    ----------
    rule : Windows
    before : sequence of Turn
        What was said before the open turns, as far as it may be shown with them.
    open_turns : sequence of Turn
        Turns that no window holds yet; none of them may fill one.
    """

    def __init__(self, rule: Windows, before: Sequence[Turn] = (), open_turns: Sequence[Turn] = ()) -> None:
        self._rule = rule
        self._open = list(open_turns)
        self._tail = list(before)

    def copy(self) -> WindowCutter:
        """Return a cutter that goes on from here by itself."""
        return WindowCutter(self._rule, self._tail, self._open)

    @property
    def open_turns(self) -> tuple[Turn, ...]:
        """The turns that wait for a window, in order."""
        return tuple(self._open)

    def add(self, turns: Sequence[Turn]) -> list[list[Turn]]:
        """Take further turns of the stream and return the windows that are full with them."""
        windows: list[list[Turn]] = []
        for turn in turns:
            last = self._open[-1] if self._open else None
            if last is not None and (not _continues(last, turn, self._rule) or self._is_long(turn)):
                windows.append(self.close())
            self._open.append(turn)
            if len(self._open) >= self._room():
                windows.append(self.close())
        return windows

    def close(self) -> list[Turn]:
        """Return the open turns as a window, empty when there are none."""
        window, self._open = self._open, []
        if window:
            self._tail = window
        return window

    def forget(self, turn_ids: Sequence[int]) -> None:
        """Take turns out of the stream."""
        gone = set(turn_ids)
        self._open = [turn for turn in self._open if turn.turn_id not in gone]
        self._tail = [turn for turn in self._tail if turn.turn_id not in gone]

    def _room(self) -> int:
        """Return how many turns of its own the open window takes beside what is shown before it."""
        return self._rule.turns - len(context_of(self._tail, self._open[0], self._rule))

    def _is_long(self, turn: Turn) -> bool:
        return sum(len(held.text) for held in self._open) + len(turn.text) > _CHARACTERS_MAX


def context_of(before: Sequence[Turn], first: Turn, rule: Windows) -> list[Turn]:
    """Return what is shown before a window that begins with ``first``: at most the overlap, of the same stretch."""
    shown: list[Turn] = []
    following = first
    for turn in reversed(before):
        if len(shown) == rule.overlap or not _continues(turn, following, rule):
            break
        shown.append(turn)
        following = turn
    return shown[::-1]


def _continues(turn: Turn, following: Turn, rule: Windows) -> bool:
    """Return whether two turns may share a window."""
    if rule.across_sessions:
        return True
    if turn.session != following.session:
        return False
    if turn.said_at is None or following.said_at is None:
        return True
    return abs(following.said_at - turn.said_at) <= timedelta(seconds=rule.gap_seconds)
