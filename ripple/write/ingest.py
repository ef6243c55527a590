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
from ripple.store import Batch, Links, Record, StoredUnit
from ripple.types import Message, Turn, UnitDraft
from ripple.write.extraction import extract_rules

__all__ = [
    "IngestReport",
    "embed_texts",
    "ingest",
    "links_of",
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
    unit_ids: list[int] = field(default_factory=list)
    decisions: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    rejected: int = 0
    edges_added: int = 0
    edges_evicted: int = 0


def ingest(
    messages: Sequence[Message],
    report: IngestReport,
    *,
    record: Record,
    namespace: int,
    engine: NamespaceEngine,
    embed: EmbedTexts,
    names: NamesInUse,
) -> list[Turn]:
    """Write one batch of messages of one namespace and return its new turns; the caller holds its writer lock.

    The raw turns are committed first, so that nothing later can lose them.
    """
    added = record.add_turns(namespace, messages)
    repeated, rejected = set(added.repeated), set(added.rejected)
    report.repeated += len(repeated)
    report.rejected += len(rejected)
    report.turn_ids.extend(turn.turn_id for turn in added.turns if turn is not None)
    for message in messages:
        report.dropped.update(message.flags)
    fresh = [turn for index, turn in enumerate(added.turns) if turn is not None and index not in repeated]
    write_turns(
        fresh,
        report,
        record=record,
        namespace=namespace,
        engine=engine,
        embed=embed,
        names=names,
        windows=[window.window_id for window in added.windows],
    )
    return fresh


def write_turns(
    turns: Sequence[Turn],
    report: IngestReport,
    *,
    record: Record,
    namespace: int,
    engine: NamespaceEngine,
    embed: EmbedTexts,
    names: NamesInUse,
    windows: Sequence[int],
) -> None:
    """Extract, decide and commit recorded turns whose windows are pending."""
    drafts = extract_rules(turns, names.participants.resolve)
    cited = {turn_id for draft in drafts for turn_id in draft.turn_ids}
    report.dropped["empty"] += sum(turn.turn_id not in cited for turn in turns)
    fresh, merges = _unite_repeats(drafts, record, namespace)
    report.decisions["merge"] += len(merges)
    report.unit_ids.extend(unit_id for unit_id, _ in merges)
    write_drafts(
        fresh,
        report,
        record=record,
        namespace=namespace,
        engine=engine,
        embed=embed,
        names=names,
        windows=windows,
        merges=merges,
    )


def write_drafts(
    drafts: Sequence[UnitDraft],
    report: IngestReport,
    *,
    record: Record,
    namespace: int,
    engine: NamespaceEngine,
    embed: EmbedTexts,
    names: NamesInUse,
    windows: Sequence[int] = (),
    merges: Sequence[tuple[int, int]] = (),
    supersedes: int | None = None,
) -> None:
    """Embed, stage, commit and reveal units; nothing of them is seen when any step fails.

    ``supersedes`` is the stored unit that the first of them replaces.
    """
    vectors = embed_texts([draft.content for draft in drafts], embed, report)
    unit_ids = record.reserve_unit_ids(namespace, len(drafts))
    ids = np.arange(unit_ids.start, unit_ids.stop, dtype=np.int64)
    try:
        added, evicted = engine.stage(ids, drafts, vectors)
        if supersedes is not None:
            added, evicted = engine.stage_link(supersedes, unit_ids[0])
        record.apply(
            namespace,
            Batch(
                units=[stored_unit(unit_id, draft) for unit_id, draft in zip(unit_ids, drafts, strict=True)],
                vectors=vectors,
                new_sources=list(merges),
                edges_added=links_of(added),
                edges_evicted=links_of(evicted),
                windows_done=list(windows),
            ),
        )
    except BaseException:
        engine.discard()
        raise
    engine.reveal()
    names.learn(drafts)
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


def embed_texts(texts: Sequence[str], embed: EmbedTexts, report: IngestReport) -> FloatArray:
    """Return unit-length vectors; a row of NaN where the embedder gave none that can be used."""
    vectors = to_unit_rows(embed(texts))
    report.dropped["vector"] += int(np.isnan(vectors[:, 0]).sum())
    return vectors


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
) -> tuple[list[UnitDraft], list[tuple[int, int]]]:
    """Return the drafts that are new, repeats inside the call united, and (unit, turn) for stored ones."""
    digests = [_digest(draft) for draft in drafts]
    stored = record.units_by_digest(namespace, digests)
    fresh: list[UnitDraft] = []
    place: dict[bytes, int] = {}
    merges: list[tuple[int, int]] = []
    for draft, digest in zip(drafts, digests, strict=True):
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
    return fresh, list(dict.fromkeys(merges))


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
