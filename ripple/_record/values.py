"""What the record takes and gives beside the words of ``ripple.types``: batches, images, reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from ripple.types import Thresholds, Turn, UnitDraft

__all__ = [
    "HAS_TIME_WORD",
    "HAS_VECTOR",
    "IS_QUESTION",
    "NO_TIME",
    "Batch",
    "Deleted",
    "Links",
    "NamespaceDeleted",
    "NamespaceImage",
    "NamespaceInfo",
    "RecordStats",
    "StoreSettings",
    "StoredUnit",
    "TurnsAdded",
    "Window",
    "WindowState",
]

# Not grounded: the bits of NumPy's NaT.
NO_TIME = -(2**63)

# Bits of a unit's flags.
IS_QUESTION = 1
HAS_TIME_WORD = 2
HAS_VECTOR = 4


class WindowState(StrEnum):
    """How far the turns of a window have come on their way to units."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """What belongs to a store for life: the embedder, its thresholds, the Unicode version of stored keys."""

    embedder_name: str
    dimension: int
    thresholds: Thresholds
    unicode_version: str

    def to_json(self) -> str:
        """Return the settings as they are stored."""
        return json.dumps(asdict(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> StoreSettings:
        """Return stored settings; raises KeyError, TypeError or ValueError for what are none."""
        fields = json.loads(text)
        return cls(**{**fields, "thresholds": Thresholds(**fields["thresholds"])})

    def described(self) -> str:
        """Return what may not change, in words."""
        return f"the embedder {self.embedder_name!r} of dimension {self.dimension} and Unicode {self.unicode_version}"


@dataclass(frozen=True, slots=True)
class NamespaceInfo:
    """A namespace: its number, never used again, what it holds, and the sequence of its last change."""

    number: int
    name: str
    units: int
    turns: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Window:
    """Turns that become units together; unique by its turns, applied once.

    ``sequence`` is that of the change that wrote it: pending windows of one call have one.
    """

    window_id: int
    state: WindowState
    turn_ids: tuple[int, ...]
    reason: str = ""
    attempts: int = 0
    prompt_version: str = ""
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class TurnsAdded:
    """What became of the messages of a call.

    ``turns`` stands beside the messages, None for a rejected one. ``repeated`` are the positions of messages
    that were stored before, ``rejected`` those whose message id belongs to a deleted message. ``windows`` are
    the new pending windows.
    """

    turns: tuple[Turn | None, ...]
    repeated: tuple[int, ...]
    rejected: tuple[int, ...]
    windows: tuple[Window, ...]
    sequence: int


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """A unit with its identity, the keys of its names and the digest under which repeats are looked up."""

    unit_id: int
    draft: UnitDraft
    participant_keys: tuple[str, ...] = ()
    location_keys: tuple[str, ...] = ()
    digest: bytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Edges as columns: ``src`` and ``dst`` unit ids (int64), ``kind`` (uint8), ``weight`` (float32)."""

    src: npt.NDArray[np.int64]
    dst: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    weight: npt.NDArray[np.float32]

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int, float]] = ()) -> Links:
        """Return the columns of (src, dst, kind, weight) rows."""
        listed = list(rows)
        return cls(
            np.array([row[0] for row in listed], dtype=np.int64),
            np.array([row[1] for row in listed], dtype=np.int64),
            np.array([row[2] for row in listed], dtype=np.uint8),
            np.array([row[3] for row in listed], dtype=np.float32),
        )

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What one transaction writes into a namespace.

    ``vectors`` is float32 (len(units), dimension); a row that is not finite means "no vector".
    ``new_sources`` are (unit_id, turn_id) pairs by which a unit gets further sources. Evicted edges leave
    before the added ones enter, so that an edge whose weight changed may stand in both. The units of
    ``windows_done`` were made under ``prompt_version``; with a ``failure`` they are what stands in for an
    extraction that failed for that reason, and the windows stay listed as failed.
    """

    units: Sequence[StoredUnit] = ()
    vectors: npt.NDArray[np.float32] | None = None
    new_sources: Sequence[tuple[int, int]] = ()
    edges_added: Links = field(default_factory=Links.of)
    edges_evicted: Links = field(default_factory=Links.of)
    windows_done: Sequence[int] = ()
    prompt_version: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class NamespaceImage:
    """All units and edges of a namespace as columns, by unit id up: what an engine is filled from.

    ``vectors`` is float32 (n, dimension) with rows of NaN where a unit has none; ``times`` int64 (n, 2) and
    ``said_at`` int64 (n,) in seconds UTC, ``NO_TIME`` where not known; ``flags`` uint8 of ``IS_QUESTION``,
    ``HAS_TIME_WORD`` and ``HAS_VECTOR``. ``sequence`` is that of the namespace's last change.
    """

    sequence: int
    unit_ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    contents: list[str]
    speakers: list[str | None]
    sessions: list[str]
    participants: list[tuple[str, ...]]
    locations: list[tuple[str, ...]]
    participant_keys: list[tuple[str, ...]]
    location_keys: list[tuple[str, ...]]
    times: npt.NDArray[np.int64]
    said_at: npt.NDArray[np.int64]
    flags: npt.NDArray[np.uint8]
    edges: Links


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion took, by id.

    ``turns_kept`` are turns that a deleted unit cited and that stay; ``units_shortened`` are units that lost
    a source and keep others. ``pending`` tells that a reader still holds the old bytes: they go at the next
    write, close or open.
    """

    units: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    edges: int = 0
    turns_kept: tuple[int, ...] = ()
    units_shortened: tuple[int, ...] = ()
    pending: bool = False
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class NamespaceDeleted:
    """How much went with a namespace; ``pending`` as in ``Deleted``."""

    units: int = 0
    turns: int = 0
    edges: int = 0
    pending: bool = False


@dataclass(frozen=True, slots=True)
class RecordStats:
    """Counts of a namespace or of the whole store; bytes are always those of the whole store."""

    units: int
    turns: int
    sources: int
    vectors: int
    edges: Mapping[str, int]
    windows: Mapping[str, int]
    file_bytes: int = 0
    log_bytes: int = 0
    sequence: int = 0
    erasure_pending: bool = False
