"""The order of steps of a write: record, extract, embed, decide, stage, commit, reveal."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from ripple._columns import EdgeArrays, to_seconds
from ripple._engine import NamespaceEngine
from ripple.config import REPEAT_WINDOW
from ripple.language.known import NamesInUse
from ripple.language.names import name_key
from ripple.store import Batch, Links, Record, StoredUnit, TurnsAdded
from ripple.types import Message, Turn, UnitDraft
from ripple.write.extraction import extract_rules

__all__ = [
    "EmbedTexts",
    "FloatArray",
    "IngestReport",
    "Scope",
    "commit_drafts",
    "embed_texts",
    "ingest",
    "links_of",
    "new_turns",
    "record_turns",
    "stored_unit",
    "to_unit_rows",
    "write_drafts",
    "write_turns",
]

FloatArray = npt.NDArray[np.float32]
EmbedTexts = Callable[[Sequence[str]], FloatArray]

_NORM_MIN, _NORM_MAX = 1e-12, 1e12


@dataclass(slots=True)
class IngestReport:
    """What a write did so far; becomes the caller's AddResult."""

    turn_ids: list[int] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    unit_ids: list[int] = field(default_factory=list)
    decisions: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    rejected: int = 0
    edges_added: int = 0
    edges_evicted: int = 0
    done: int = 0  # windows
    waiting: set[int] = field(default_factory=set)  # windows that an attempt did not finish
    problems: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a write goes: one namespace of a record, its engine, embedder and names."""

    record: Record
    namespace: int
    engine: NamespaceEngine
    embed: EmbedTexts
    names: NamesInUse


def record_turns(messages: Sequence[Message], report: IngestReport, scope: Scope, *, with_windows: bool) -> TurnsAdded:
    """Commit the raw turns of messages, so that nothing later can lose them; note in the report what is known."""
    added = scope.record.add_turns(scope.namespace, messages, with_windows=with_windows)
    repeated, rejected = set(added.repeated), set(added.rejected)
    report.repeated += len(repeated)
    report.rejected += len(rejected)
    report.turn_ids.extend(turn.turn_id for turn in added.turns if turn is not None)
    for place, turn in enumerate(added.turns):
        is_old = place in repeated or turn is None
        report.outcomes.append("repeated" if turn is not None and is_old else "rejected" if is_old else "written")
    for message in messages:
        report.dropped.update(message.flags)
    return added


def new_turns(added: TurnsAdded) -> list[Turn]:
    """Return the turns that a call brought."""
    repeated = set(added.repeated)
    return [turn for place, turn in enumerate(added.turns) if turn is not None and place not in repeated]


def ingest(messages: Sequence[Message], report: IngestReport, scope: Scope) -> list[Turn]:
    """Write one batch of messages by rules and return its new turns; the caller holds the writer's lock."""
    first = len(report.outcomes)
    added = record_turns(messages, report, scope, with_windows=True)
    fresh = new_turns(added)
    empty = write_turns(fresh, report, scope, windows=[window.window_id for window in added.windows])
    for place, turn in enumerate(added.turns, first):
        if turn is not None and turn.turn_id in empty and report.outcomes[place] == "written":
            report.outcomes[place] = "empty"
    return fresh


def write_turns(
    turns: Sequence[Turn],
    report: IngestReport,
    scope: Scope,
    *,
    windows: Sequence[int],
    prompt_version: str = "",
    failure: str = "",
) -> set[int]:
    """Extract by rules, decide and commit recorded turns whose windows wait; return the turns without a unit.

    With a ``failure`` the units stand in for an extraction that failed for that reason, by the prompt of that
    version: the windows stay those of a model.
    """
    drafts = extract_rules(turns, scope.names.participants.resolve)
    cited = {turn_id for draft in drafts for turn_id in draft.turn_ids}
    empty = {turn.turn_id for turn in turns} - cited
    report.dropped["empty"] += len(empty)
    write_drafts(drafts, report, scope, windows=windows, prompt_version=prompt_version, failure=failure)
    return empty


def write_drafts(
    drafts: Sequence[UnitDraft],
    report: IngestReport,
    scope: Scope,
    *,
    vectors: FloatArray | None = None,
    windows: Sequence[int] = (),
    prompt_version: str = "",
    failure: str = "",
) -> None:
    """Unite repeats and commit the rest; ``vectors`` (len(drafts), dimension) are made here when not given."""
    fresh, kept, merges = _unite_repeats(drafts, scope.record, scope.namespace)
    report.decisions["merge"] += len(merges)
    report.unit_ids.extend(unit_id for unit_id, _ in merges)
    rows = embed_texts([draft.content for draft in fresh], scope.embed) if vectors is None else vectors[kept]
    batch = Batch(new_sources=list(merges), windows_done=list(windows), prompt_version=prompt_version, failure=failure)
    commit_drafts(fresh, rows, report, scope, batch)


def commit_drafts(
    drafts: Sequence[UnitDraft],
    vectors: FloatArray,
    report: IngestReport,
    scope: Scope,
    batch: Batch,
    *,
    supersedes: int | None = None,
) -> None:
    """Stage, commit and reveal units; nothing of them is seen when any step fails.

    ``batch`` holds what else belongs to the transaction; ``supersedes`` is the stored unit that the first of
    the drafts replaces.
    """
    record, engine = scope.record, scope.engine
    unit_ids = record.reserve_unit_ids(scope.namespace, len(drafts))
    ids = np.arange(unit_ids.start, unit_ids.stop, dtype=np.int64)
    try:
        added, evicted = engine.stage(ids, drafts, vectors)
        if supersedes is not None:
            added, evicted = engine.stage_link(supersedes, unit_ids[0])
        units = [stored_unit(unit_id, draft) for unit_id, draft in zip(unit_ids, drafts, strict=True)]
        record.apply(
            scope.namespace,
            replace(
                batch,
                units=units,
                vectors=vectors,
                edges_added=links_of(added),
                edges_evicted=links_of(evicted),
            ),
        )
    except BaseException:
        engine.discard()
        raise
    engine.reveal()
    scope.names.learn(drafts)
    report.dropped["vector"] += int(np.isnan(vectors[:, 0]).sum()) if len(vectors) else 0
    report.decisions["add"] += len(drafts)
    report.unit_ids.extend(unit_ids)
    report.edges_added += len(added)
    report.edges_evicted += len(evicted)


def stored_unit(unit_id: int, draft: UnitDraft) -> StoredUnit:
    """Return a draft with its identity, as the record takes it."""
    return StoredUnit(
        unit_id=unit_id,
        draft=draft,
        participant_keys=tuple(name_key(name) for name in draft.participants),
        location_keys=tuple(name_key(name) for name in draft.locations),
        digest=_digest(draft),
    )


def links_of(edges: EdgeArrays) -> Links:
    """Return edges as the record takes them."""
    return Links(edges.src, edges.dst, edges.kind, edges.weight)


def embed_texts(texts: Sequence[str], embed: EmbedTexts) -> FloatArray:
    """Return unit-length vectors; a row of NaN where the embedder gave none that can be used."""
    return to_unit_rows(embed(texts))


def to_unit_rows(vectors: FloatArray) -> FloatArray:
    """Return the rows scaled to unit length; NaN in place of one without a direction that can be trusted."""
    rows = vectors.astype(np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    is_usable = (norms >= _NORM_MIN) & (norms <= _NORM_MAX)
    unit: FloatArray = np.divide(rows, norms, out=np.full_like(rows, np.nan), where=is_usable).astype(np.float32)
    return unit


def _digest(draft: UnitDraft) -> bytes:
    """Return a key that two units share when they say the same: words, people, places, grounded time."""
    time = (to_seconds(draft.time.start), to_seconds(draft.time.end)) if draft.time else None
    key = (
        name_key(draft.text),
        sorted(name_key(name) for name in draft.participants),
        sorted(name_key(name) for name in draft.locations),
        time,
    )
    return hashlib.blake2b(repr(key).encode("utf-8", "replace"), digest_size=16).digest()


def _unite_repeats(
    drafts: Sequence[UnitDraft], record: Record, namespace: int
) -> tuple[list[UnitDraft], list[int], list[tuple[int, int]]]:
    """Return the drafts that are new, repeats inside the call united, their places, and (unit, turn) for others."""
    digests = [_digest(draft) for draft in drafts]
    stored = record.units_by_digest(namespace, digests)
    fresh: list[UnitDraft] = []
    kept: list[int] = []
    place: dict[bytes, int] = {}
    merges: list[tuple[int, int]] = []
    for at, (draft, digest) in enumerate(zip(drafts, digests, strict=True)):
        known = next(
            (unit_id for unit_id, said_at in stored.get(digest, ()) if _is_repeat(draft, draft.said_at, said_at)),
            None,
        )
        if known is not None:
            merges.extend((known, turn_id) for turn_id in draft.turn_ids)
            continue
        before = place.get(digest)
        if before is not None and _is_repeat(draft, draft.said_at, _seconds_or_none(fresh[before].said_at)):
            fresh[before] = _with_sources(fresh[before], draft.turn_ids)
            continue
        place[digest] = len(fresh)
        fresh.append(draft)
        kept.append(at)
    return fresh, kept, list(dict.fromkeys(merges))


def _seconds_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else to_seconds(moment)


def _is_repeat(draft: UnitDraft, said_at: datetime | None, other: int | None) -> bool:
    """Return whether equal words are the same memory: with a grounded time always, else within a day."""
    if draft.time is not None or (said_at is None and other is None):
        return True
    if said_at is None or other is None:
        return False
    return abs(to_seconds(said_at) - other) <= REPEAT_WINDOW.total_seconds()


def _with_sources(draft: UnitDraft, turn_ids: Sequence[int]) -> UnitDraft:
    return replace(draft, turn_ids=tuple(dict.fromkeys((*draft.turn_ids, *turn_ids))))
