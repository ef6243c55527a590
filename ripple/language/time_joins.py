"""Temporal expressions found by a grammar, neighbouring ones joined into one.

The joins are the same for all languages: a weekday in a week, a date in its year, a clock time on a day, an
offset from a day ("two weeks before 9 June"), a range, "since".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from ripple.language import calendar
from ripple.language.calendar import Span
from ripple.language.time_pieces import (
    Clock,
    Context,
    Found,
    Joints,
    Piece,
    Rule,
    compiled,
    of_years,
)

__all__ = ["resolve", "without_overlaps"]

_NOON = 12 * 3600
_REACH = 48
"""Characters before and after an expression in which its prepositions and offsets are looked for."""


def resolve(context: Context, rules: Iterable[Rule], joints: Joints) -> list[Piece]:
    """Return the expressions that some rules of a language find in a text, in order, without overlaps."""
    pieces = _collect(context, rules)
    return _join(pieces, context, joints) if pieces else pieces


def _collect(context: Context, rules: Iterable[Rule]) -> list[Piece]:
    """Return the pieces that the rules find; where two overlap, the longer, then that of the earlier rule."""
    found: list[Piece] = []
    for rule in rules:
        for match in compiled(rule.pattern).finditer(context.text):
            try:
                built = rule.build(match, context)
            except (ValueError, OverflowError):
                built = Found(None, rule.grain)
            if built is not None:
                found.append(Piece(match.start(), match.end(), built))
    return without_overlaps(found)


def without_overlaps(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces in order; where two overlap, the longer, then the earlier, then the first given."""
    if len(pieces) < 2:
        return pieces
    kept: list[Piece] = []
    starts: list[int] = []
    for piece in sorted(pieces, key=lambda piece: (piece.start - piece.end, piece.start)):
        at = bisect_left(starts, piece.start)
        if (at == 0 or kept[at - 1].end <= piece.start) and (at == len(kept) or kept[at].start >= piece.end):
            kept.insert(at, piece)
            starts.insert(at, piece.start)
    return kept


def _join(pieces: list[Piece], context: Context, joints: Joints) -> list[Piece]:
    """Return the pieces after all joins, the weak ones that joined with nothing left out."""
    if len(pieces) > 1:
        pieces = _join_neighbours(pieces, context, joints)
        pieces = _join_ranges(pieces, context, joints, needs_prefix=True)
    pieces = _extend(pieces, context, joints)
    if len(pieces) > 1:
        pieces = _join_neighbours(pieces, context, joints)
        pieces = _join_ranges(pieces, context, joints, needs_prefix=False)
    return [piece for piece in pieces if not piece.found.is_weak]


def _join_neighbours(pieces: Sequence[Piece], context: Context, joints: Joints) -> list[Piece]:
    joined = [pieces[0]]
    for piece in pieces[1:]:
        last = joined[-1]
        pair = _pair(last.found, piece.found, context.text[last.end : piece.start], joints)
        if pair is None:
            joined.append(piece)
        else:
            joined[-1] = Piece(last.start, piece.end, pair)
    return joined


def _pair(first: Found, second: Found, gap: str, joints: Joints) -> Found | None:
    """Return what two neighbouring expressions mean together, or None."""
    try:
        if compiled(joints.date_gap).fullmatch(gap) is not None:
            framed = _with_frame(first, second) or _with_frame(second, first)
            if framed is not None:
                return framed
        if first.clock is None and second.clock is None:
            return None
        return _with_clock(first, second) if compiled(joints.clock_gap).fullmatch(gap) is not None else None
    except (ValueError, OverflowError):
        return Found(None, first.grain)


def _with_frame(inner: Found, frame: Found) -> Found | None:
    """Return a yearless date in its year, or a weekday in its week or on its date."""
    if inner.in_year is not None and frame.grain == "year" and frame.in_year is None:
        return Found(inner.in_year(frame.span.start.year) if frame.span is not None else None, inner.grain)
    if inner.weekday is not None and frame.weekday is None:
        if frame.grain == "week" and frame.span is not None:
            there = frame.span.start.date() + timedelta(days=inner.weekday)
            if inner.clock is not None:
                return Found(calendar.part_of_day(there, inner.clock.first, inner.clock.last), inner.grain)
            return Found(calendar.day(there), "day")
        if frame.grain == "day":
            return replace(frame, span=_on_weekday(frame, inner.weekday), is_weak=False)
    return None


def _on_weekday(found: Found, weekday: int) -> Span | None:
    """Return a date without a year in the near year where it falls on a weekday."""
    if found.span is None or found.in_year is None:
        return found.span
    for year in (found.span.start.year, found.span.start.year - 1, found.span.start.year + 1):
        span = found.in_year(year)
        if span.start.weekday() == weekday:
            return span
    return found.span


def _with_clock(first: Found, second: Found) -> Found | None:
    """Return a clock time or part of a day on a day, or a clock time in a part of a day."""
    day, timed = (second, first) if first.clock is not None else (first, second)
    if timed.clock is None or day.grain not in ("day", "part", "clock"):
        return None
    if day.grain != "day":  # "eight in the evening", "8am this morning"
        part, exact = (day, timed) if day.grain == "part" else (timed, day)
        if part.grain != "part" or exact.grain != "clock" or part.clock is None or exact.clock is None:
            return None
        clock = _in_part(exact.clock, part.clock)
        if part.span is None:
            return Found(None, "clock", clock=clock, is_weak=part.is_weak and exact.is_weak)
        return Found(calendar.part_of_day(part.span.start.date(), clock.first, clock.last), "minute")
    if timed.span is not None:  # "7月25日早间，7月25日": it has its day
        return None
    if day.span is None or not timed.clock.is_half_told:
        return replace(day, is_weak=False)  # the day is what is known
    span = calendar.part_of_day(day.span.start.date(), timed.clock.first, timed.clock.last)
    return Found(span, "part" if timed.grain == "part" else "minute", weekday=day.weekday, clock=timed.clock)


def _in_part(clock: Clock, part: Clock) -> Clock:
    """Return a clock time moved to the half of the day that a part tells."""
    if part.first >= _NOON and clock.first < _NOON and not clock.is_half_told:
        return Clock(clock.first + _NOON, clock.last + _NOON)
    return Clock(clock.first, clock.last)


def _extend(pieces: Sequence[Piece], context: Context, joints: Joints) -> list[Piece]:
    """Return the pieces with what stands right around them, and without those that this swallows.

    "Since the end of June" is two steps; four are no language.
    """
    extended: list[Piece] = []
    for piece in pieces:
        if extended and piece.start < extended[-1].end:
            continue
        for _ in range(3):
            if extended and _is_range_end(extended[-1], piece, context, joints):
                break  # "from April until June": the preposition belongs to the range
            grown = _extended_once(piece, context, joints)
            if grown is None:
                break
            piece = grown
        while extended and extended[-1].end > piece.start:
            extended.pop()
        extended.append(piece)
    return extended


def _is_range_end(first: Piece, second: Piece, context: Context, joints: Joints) -> bool:
    before = context.text[max(0, first.start - _REACH) : first.start]
    return (
        compiled(joints.range_gap).fullmatch(context.text, first.end, second.start) is not None
        and compiled(joints.range_prefix).search(before) is not None
    )


def _extended_once(piece: Piece, context: Context, joints: Joints) -> Piece | None:
    before = context.text[max(0, piece.start - _REACH) : piece.start]
    after = context.text[piece.end : piece.end + _REACH]
    for extensions, is_prefix in ((joints.prefixes, True), (joints.suffixes, False)):
        for pattern, build in extensions:
            match = compiled(pattern).search(before) if is_prefix else compiled(pattern).match(after)
            if match is None:
                continue
            try:
                found = build(match, piece.found, context)
            except (ValueError, OverflowError):
                found = Found(None, piece.found.grain)
            if found is not None:
                start = piece.start - len(match.group()) if is_prefix else piece.start
                return Piece(start, piece.end if is_prefix else piece.end + match.end(), found)
    return None


def _join_ranges(pieces: Sequence[Piece], context: Context, joints: Joints, *, needs_prefix: bool) -> list[Piece]:
    joined = [pieces[0]]
    for piece in pieces[1:]:
        first = joined[-1]
        if not (_may_bound(first.found) and _may_bound(piece.found)):
            joined.append(piece)
            continue
        gap = context.text[first.end : piece.start]
        before = context.text[max(0, first.start - _REACH) : first.start]
        prefix = compiled(joints.range_prefix).search(before)
        suffix = compiled(joints.range_suffix).match(context.text, piece.end)
        is_range = compiled(joints.range_gap).fullmatch(gap) is not None
        if needs_prefix and prefix is None:
            is_range = False
        if not is_range and compiled(joints.and_gap).fullmatch(gap) is not None:
            is_range = suffix is not None or compiled(joints.and_prefix).search(before) is not None
        if is_range:
            start = first.start - len(prefix.group()) if prefix is not None else first.start
            end = suffix.end() if suffix is not None else piece.end
            tense = context.tense(first.start, piece.end)
            joined[-1] = Piece(start, end, _ranged(first.found, piece.found, context, tense))
        else:
            joined.append(piece)
    return joined


def _may_bound(found: Found) -> bool:
    """Whether an expression may be an end of a range: a date, or a number that may be a year."""
    return found.is_date and not (found.is_weak and found.span is None and found.in_year is None)


def _ranged(first: Found, second: Found, context: Context, tense: int) -> Found:
    """Return the stretch from one date to another; an end without a year is put right after its start."""
    try:
        span = _bounded(first, second, context, tense)
    except (ValueError, OverflowError):
        span = None
    return Found(span, "range")


def _bounded(first: Found, second: Found, context: Context, tense: int) -> Span | None:
    if first.in_year is not None and second.in_year is not None and first.span is not None:
        return of_years(partial(_in_one_year, first, second), context, tense)
    start, end = first.span, second.span
    if first.in_year is not None and end is not None:
        start = first.in_year(end.start.year)
        if start.start > end.start:
            start = first.in_year(end.start.year - 1)
    elif second.in_year is not None and start is not None:
        end = second.in_year(start.start.year)
        if end.end < start.start:
            end = second.in_year(start.start.year + 1)
    if start is None or end is None or start.start > end.end:
        return None
    return Span(start.start, end.end)


def _in_one_year(first: Found, second: Found, year: int) -> Span:
    """Return the stretch that begins in a year; "June 5 to June 3" is never swapped."""
    assert first.in_year is not None and second.in_year is not None
    start, end = first.in_year(year).start, second.in_year(year).end
    if end < start:
        if end.month == start.month:
            raise ValueError("the range runs backwards")
        end = second.in_year(year + 1).end
    return Span(start, end)
