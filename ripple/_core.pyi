"""
The native core of ripple. Private: use the package's public names.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing
__all__: list[str] = ['CueIndex', 'CueKind', 'DiffusionOptions', 'EdgeOptions', 'Engine', 'EngineOptions', 'Expanded', 'Expansion', 'FEATURES', 'FirstRecall', 'LexicalIndex', 'MemoryGraph', 'Plan', 'Query', 'QueryTerms', 'Ranking', 'RecallOptions', 'Recalled', 'RoaringBitmap', 'RowMask', 'Selection', 'StaticEmbedder', 'StopReason', 'TimeGrain', 'UNICODE_VERSION', 'UnitBatch', 'VectorIndex', 'Zone', 'collect_zone', 'count_tokens', 'dot', 'english_stem', 'is_stop_word', 'isa_level', 'normalize_key', 'select_nearest', 'select_support', 'structural_scores', 'tokenize']
class LexicalIndex:
    """
    BM25 over rows that are staged, revealed and removed. Bound for tests.
    """
    def __init__(self, *, k1: typing.SupportsFloat | typing.SupportsIndex = 0.8999999761581421, b: typing.SupportsFloat | typing.SupportsIndex = 0.4000000059604645) -> None:
        ...
    def __len__(self) -> int:
        """
        Live rows.
        """
    def add(self, row: typing.SupportsInt | typing.SupportsIndex, ids: numpy.typing.NDArray[numpy.uint32], counts: numpy.typing.NDArray[numpy.uint32]) -> None:
        """
        Adds a row, staged: not counted until reveal().
        """
    def df(self, term: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        Live rows that hold the term.
        """
    def idf(self, term: typing.SupportsInt | typing.SupportsIndex) -> float:
        """
        ln(1 + (N - df + 0.5) / (df + 0.5)).
        """
    def idf_unknown(self) -> float:
        """
        idf of a term that no live row holds.
        """
    def intern(self, text: str) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32]]:
        """
        Ids and counts of a text's terms; new ones enter the vocabulary.
        """
    def length(self, row: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        Tokens of a row.
        """
    def lookup(self, text: str) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], int]:
        """
        Ids and counts of a text's known terms, and how many tokens are unknown.
        """
    def postings(self, term: typing.SupportsInt | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32]]:
        """
        Rows that hold the term, ascending, staged ones included, and their counts.
        """
    def prune(self) -> None:
        """
        Drops terms that were interned and never added.
        """
    def remove(self, row: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Forgets a row and terms that only it held.
        """
    def reveal(self, row: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Counts a staged row.
        """
    def score(self, query: numpy.typing.NDArray[numpy.uint32], rows: numpy.typing.NDArray[numpy.uint32]) -> numpy.typing.NDArray[numpy.float32]:
        """
        BM25 of the given rows.
        """
    def score_windows(self, query: numpy.typing.NDArray[numpy.uint32], rows: numpy.typing.NDArray[numpy.uint32], previous: numpy.typing.NDArray[numpy.uint32], next: numpy.typing.NDArray[numpy.uint32], radius: typing.SupportsInt | typing.SupportsIndex, visible: numpy.typing.NDArray[numpy.uint32] | None = None) -> numpy.typing.NDArray[numpy.float32]:
        """
        Window scores of the given rows.
        """
    def search(self, query: numpy.typing.NDArray[numpy.uint32], k: typing.SupportsInt | typing.SupportsIndex, allowed: numpy.typing.NDArray[numpy.uint32] | None = None) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float32]]:
        """
        The k best of the allowed rows (None: all live ones) by BM25: rows and scores, score down then row up.
        """
    def search_windows(self, query: numpy.typing.NDArray[numpy.uint32], k: typing.SupportsInt | typing.SupportsIndex, previous: numpy.typing.NDArray[numpy.uint32], next: numpy.typing.NDArray[numpy.uint32], radius: typing.SupportsInt | typing.SupportsIndex, visible: numpy.typing.NDArray[numpy.uint32] | None = None, allowed: numpy.typing.NDArray[numpy.uint32] | None = None) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float32]]:
        """
        As search(), each row with its `radius` visible neighbours on both sides as one document.
        """
    def surface(self, term: typing.SupportsInt | typing.SupportsIndex) -> str:
        """
        The word as first written.
        """
    def term(self, term: typing.SupportsInt | typing.SupportsIndex) -> str:
        """
        The term; empty when not held.
        """
    def terms_of(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32]]:
        """
        Ids and counts of a row's terms.
        """
    @property
    def vocabulary_size(self) -> int:
        """
        Terms held.
        """
class StaticEmbedder:
    """
    The embedder inside the package: one vector a word piece, summed to unit length.
    """
    def __init__(self, path: str) -> None:
        """
        Read a model file; CorruptStoreError when it is damaged.
        """
    def embed(self, texts: list[str]) -> numpy.typing.NDArray[numpy.float32]:
        """
        Return float32 (n, dimension), unit-length rows; NaN where a text holds no known piece. The GIL is released; may be called from several threads.
        """
    def word_vectors(self, words: list[str]) -> numpy.typing.NDArray[numpy.float32]:
        """
        The same for single words.
        """
    @property
    def dimension(self) -> int:
        """
        Length of a vector.
        """
    @property
    def name(self) -> str:
        """
        Name that stands in the file.
        """
class EdgeOptions:
    """
    How edges are found, scored and capped (RippleMem 1.1).
    """
    def __init__(self) -> None:
        ...
    @property
    def cue_candidates(self) -> int:
        ...
    @cue_candidates.setter
    def cue_candidates(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def location_weight(self) -> float:
        ...
    @location_weight.setter
    def location_weight(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def longest_interval_seconds(self) -> int:
        ...
    @longest_interval_seconds.setter
    def longest_interval_seconds(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def participant_weight(self) -> float:
        ...
    @participant_weight.setter
    def participant_weight(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def participants_max(self) -> int:
        ...
    @participants_max.setter
    def participants_max(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def semantic_candidates(self) -> int:
        ...
    @semantic_candidates.setter
    def semantic_candidates(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def semantic_degree(self) -> int:
        ...
    @semantic_degree.setter
    def semantic_degree(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def semantic_threshold(self) -> float:
        ...
    @semantic_threshold.setter
    def semantic_threshold(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def sequence_weight(self) -> float:
        ...
    @sequence_weight.setter
    def sequence_weight(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def state_weight(self) -> float:
        ...
    @state_weight.setter
    def state_weight(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def structural_degree(self) -> int:
        ...
    @structural_degree.setter
    def structural_degree(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def structural_threshold(self) -> float:
        ...
    @structural_threshold.setter
    def structural_threshold(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def term_degree(self) -> int:
        ...
    @term_degree.setter
    def term_degree(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def term_units_max(self) -> int:
        ...
    @term_units_max.setter
    def term_units_max(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def term_units_min(self) -> int:
        ...
    @term_units_min.setter
    def term_units_min(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def term_weight(self) -> float:
        ...
    @term_weight.setter
    def term_weight(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def time_decay_seconds(self) -> int:
        ...
    @time_decay_seconds.setter
    def time_decay_seconds(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def time_weight(self) -> float:
        ...
    @time_weight.setter
    def time_weight(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
class DiffusionOptions:
    """
    How far and towards what recall expands (RippleMem 1.2).
    """
    def __init__(self) -> None:
        ...
    @property
    def first_hop_kinds(self) -> int:
        ...
    @first_hop_kinds.setter
    def first_hop_kinds(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def hops(self) -> int:
        ...
    @hops.setter
    def hops(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def near_tie(self) -> float:
        ...
    @near_tie.setter
    def near_tie(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def second_hop_kinds(self) -> int:
        ...
    @second_hop_kinds.setter
    def second_hop_kinds(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def top_k_per_channel(self) -> int:
        ...
    @top_k_per_channel.setter
    def top_k_per_channel(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def visited_max(self) -> int:
        ...
    @visited_max.setter
    def visited_max(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class MemoryGraph:
    """
    Typed edges of bounded degree; edges are (src, dst, kinds, weights).
    """
    def __init__(self, options: EdgeOptions = ...) -> None:
        ...
    def add_state(self, old_row: typing.SupportsInt | typing.SupportsIndex, new_row: typing.SupportsInt | typing.SupportsIndex, weight: typing.SupportsFloat | typing.SupportsIndex) -> bool:
        """
        Stages a state edge; False when the pair has one.
        """
    def compact(self) -> tuple:
        """
        A CSR copy: (indptr, indices, kinds, weights, outgoing).
        """
    def degree(self, row: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        The number of revealed edges of a row.
        """
    def discard(self) -> None:
        """
        Forgets the open batch.
        """
    def edge_count(self, kind: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        The number of revealed edges of a kind.
        """
    def edges(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """
        All revealed edges by src, dst, kind.
        """
    def grow(self, rows: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Makes room for rows 0 .. rows - 1.
        """
    def load(self, src: numpy.typing.NDArray[numpy.uint32], dst: numpy.typing.NDArray[numpy.uint32], kinds: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float32]) -> None:
        """
        Takes edges as they stand in the record, without caps.
        """
    def neighbors(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple:
        """
        The revealed (others, kinds, weights, outgoing) of a row, by other row, then kind.
        """
    def remove(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """
        Takes all edges of a row away and returns them.
        """
    def reveal(self) -> None:
        """
        Makes the open batch visible.
        """
    def stage(self, row: typing.SupportsInt | typing.SupportsIndex, others: numpy.typing.NDArray[numpy.uint32], kinds: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float32], *, sharing_units: numpy.typing.NDArray[numpy.uint32] | None = None, said_at: numpy.typing.NDArray[numpy.int64] | None = None) -> None:
        """
        Adds what the caps let in to the open batch. Edges of equal weight go by the larger sharing_units of their two rows, then the said_at gap, both given per row.
        """
    def staged(self) -> tuple[tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray], tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]]:
        """
        The edges (added, evicted) by the open batch.
        """
    @property
    def has_staged(self) -> bool:
        """
        Whether a batch is open.
        """
    @property
    def rows(self) -> int:
        """
        The number of rows.
        """
class RowMask:
    """
    A set of rows.
    """
    def __init__(self, rows: numpy.typing.NDArray[numpy.uint32]) -> None:
        ...
class Zone:
    """
    The rows around some anchors, parallel arrays.
    """
    def __init__(self, rows: numpy.typing.NDArray[numpy.uint32], hops: numpy.typing.NDArray[numpy.uint8], strengths: numpy.typing.NDArray[numpy.float32]) -> None:
        ...
    @property
    def anchors(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        uint32 (n,): where the best path starts
        """
    @property
    def hops(self) -> numpy.typing.NDArray[numpy.uint8]:
        """
        uint8 (n,): edges from the nearest anchor
        """
    @property
    def kinds(self) -> numpy.typing.NDArray[numpy.uint8]:
        """
        uint8 (n,): kind of the path's last edge
        """
    @property
    def parents(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        uint32 (n,): the row before on the best path
        """
    @property
    def rows(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        uint32 (n,)
        """
    @property
    def strengths(self) -> numpy.typing.NDArray[numpy.float32]:
        """
        float32 (n,): product of the edge weights
        """
class RoaringBitmap:
    """
    A compressed set of rows.
    """
    __hash__: typing.ClassVar[None] = None
    @staticmethod
    def deserialise(data: str) -> RoaringBitmap:
        """
        The bitmap of these bytes; CorruptStoreError unless they are exactly one.
        """
    def __and__(self, other: RoaringBitmap) -> RoaringBitmap:
        ...
    def __contains__(self, row: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    def __eq__(self, other: RoaringBitmap) -> bool:
        ...
    def __init__(self) -> None:
        ...
    def __len__(self) -> int:
        ...
    def __or__(self, other: RoaringBitmap) -> RoaringBitmap:
        ...
    def add(self, row: typing.SupportsInt | typing.SupportsIndex) -> bool:
        """
        Adds a row; tells whether it was new.
        """
    def intersects(self, other: RoaringBitmap) -> bool:
        """
        Whether a row is in both.
        """
    def remove(self, row: typing.SupportsInt | typing.SupportsIndex) -> bool:
        """
        Removes a row; tells whether it was there.
        """
    def rows(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        The rows, uint32 (n,), ascending.
        """
    def serialise(self) -> bytes:
        """
        The portable format of Roaring, as pyroaring reads it.
        """
class VectorIndex:
    """
    Unit vectors by row: exact scan below a size, HNSW above it. Not locked.
    """
    def __contains__(self, row: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    def __init__(self, dimension: typing.SupportsInt | typing.SupportsIndex, *, exact_below: typing.SupportsInt | typing.SupportsIndex = 20000, max_links: typing.SupportsInt | typing.SupportsIndex = 16, ef_construction: typing.SupportsInt | typing.SupportsIndex = 100, ef_search: typing.SupportsInt | typing.SupportsIndex = 96, rebuild_at_deleted: typing.SupportsFloat | typing.SupportsIndex = 0.25, seed: typing.SupportsInt | typing.SupportsIndex = 20260423) -> None:
        ...
    def __len__(self) -> int:
        ...
    def add(self, row: typing.SupportsInt | typing.SupportsIndex, vector: numpy.typing.NDArray[numpy.float32]) -> None:
        """
        Copies float32 (d,) and scales it to unit length. Raises before any change.
        """
    def adopt_graph(self) -> None:
        """
        Puts the built graph in place of the old one.
        """
    def build_step(self, rows: typing.SupportsInt | typing.SupportsIndex) -> bool:
        """
        Adds up to so many vectors to the graph being built; True when it covers everything.
        """
    def dot(self, query: numpy.typing.NDArray[numpy.float32], row: typing.SupportsInt | typing.SupportsIndex) -> float:
        """
        0 when the row is not held.
        """
    def has_graph(self) -> bool:
        ...
    def remove(self, row: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Nothing happens when the row is not held.
        """
    def search(self, query: numpy.typing.NDArray[numpy.float32], k: typing.SupportsInt | typing.SupportsIndex, allowed: RowMask) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float32]]:
        """
        The k allowed rows nearest to the query, by the graph where it pays: (row, score) in order.
        """
    def search_exact(self, query: numpy.typing.NDArray[numpy.float32], k: typing.SupportsInt | typing.SupportsIndex, allowed: RowMask) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float32]]:
        """
        As search, by comparing every allowed row.
        """
    def self_recall(self, sample: typing.SupportsInt | typing.SupportsIndex) -> float:
        """
        Share of so many evenly spread vectors that the graph finds among the 10 nearest to themselves.
        """
    def stats(self) -> dict:
        """
        Counts: rows, distinct vectors, entries of the graph and those deleted.
        """
    def vector(self, row: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float32]:
        """
        A copy, float32 (d,), of unit length; (0,) when the row is not held.
        """
    def wants_graph(self) -> bool:
        """
        Whether a graph should be built, or built anew.
        """
class CueIndex:
    """
    Participants, locations and time by row. Not locked. Cue kinds: 0 participant, 1 location.
    """
    def __contains__(self, row: typing.SupportsInt | typing.SupportsIndex) -> bool:
        ...
    def __init__(self, *, time_decay_seconds: typing.SupportsInt | typing.SupportsIndex = 604800, longest_interval_seconds: typing.SupportsInt | typing.SupportsIndex = 3162240000) -> None:
        ...
    def __len__(self) -> int:
        ...
    def add(self, row: typing.SupportsInt | typing.SupportsIndex, participants: numpy.typing.NDArray[numpy.uint32], locations: numpy.typing.NDArray[numpy.uint32], time: numpy.typing.NDArray[numpy.int64], said_at: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Ids uint32, ascending without repeats; time int64 (2,). Raises before any change.
        """
    def candidates(self, participants: numpy.typing.NDArray[numpy.uint32], locations: numpy.typing.NDArray[numpy.uint32], time: numpy.typing.NDArray[numpy.int64], said_at: typing.SupportsInt | typing.SupportsIndex, allowed: RowMask, self_row: typing.SupportsInt | typing.SupportsIndex = 4294967295, *, candidates: typing.SupportsInt | typing.SupportsIndex = 20, steps_max: typing.SupportsInt | typing.SupportsIndex = 512) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Rows that may share a structural edge with such a unit, the likeliest first.
        """
    def count(self, kind: typing.SupportsInt | typing.SupportsIndex, id: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        How many rows have the cue.
        """
    def cues(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64]]:
        """
        Participants, locations, time of a row.
        """
    def postings(self, kind: typing.SupportsInt | typing.SupportsIndex, id: typing.SupportsInt | typing.SupportsIndex) -> bytes:
        """
        The rows with a cue as portable Roaring bytes.
        """
    def remove(self, row: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        Nothing happens when the row is not held.
        """
    def said_at(self, row: typing.SupportsInt | typing.SupportsIndex) -> int:
        ...
    def search(self, participants: numpy.typing.NDArray[numpy.uint32], locations: numpy.typing.NDArray[numpy.uint32], time: numpy.typing.NDArray[numpy.int64], k: typing.SupportsInt | typing.SupportsIndex, allowed: RowMask) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.float32]]:
        """
        The k allowed rows whose cues match best.
        """
class CueKind:
    """
    Members:
    
      PARTICIPANT
    
      LOCATION
    """
    LOCATION: typing.ClassVar[CueKind]
    PARTICIPANT: typing.ClassVar[CueKind]
    __members__: typing.ClassVar[dict[str, CueKind]]
    @typing.overload
    def __eq__(self, other: CueKind) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: CueKind) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class TimeGrain:
    """
    Members:
    
      NONE
    
      DAY
    
      WEEK
    
      MONTH
    
      YEAR
    """
    DAY: typing.ClassVar[TimeGrain]
    MONTH: typing.ClassVar[TimeGrain]
    NONE: typing.ClassVar[TimeGrain]
    WEEK: typing.ClassVar[TimeGrain]
    YEAR: typing.ClassVar[TimeGrain]
    __members__: typing.ClassVar[dict[str, TimeGrain]]
    @typing.overload
    def __eq__(self, other: TimeGrain) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: TimeGrain) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class Expansion:
    """
    Members:
    
      NONE
    
      UNDIRECTED
    
      TARGETED
    """
    NONE: typing.ClassVar[Expansion]
    TARGETED: typing.ClassVar[Expansion]
    UNDIRECTED: typing.ClassVar[Expansion]
    __members__: typing.ClassVar[dict[str, Expansion]]
    @typing.overload
    def __eq__(self, other: Expansion) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: Expansion) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class Ranking:
    """
    Members:
    
      FITTED
    
      PAPER
    """
    FITTED: typing.ClassVar[Ranking]
    PAPER: typing.ClassVar[Ranking]
    __members__: typing.ClassVar[dict[str, Ranking]]
    @typing.overload
    def __eq__(self, other: Ranking) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: Ranking) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class StopReason:
    """
    Members:
    
      NONE
    
      NO_EVIDENCE
    
      COVERED
    
      NO_TARGET
    
      NO_SUPPORT
    
      DISABLED
    """
    COVERED: typing.ClassVar[StopReason]
    DISABLED: typing.ClassVar[StopReason]
    NONE: typing.ClassVar[StopReason]
    NO_EVIDENCE: typing.ClassVar[StopReason]
    NO_SUPPORT: typing.ClassVar[StopReason]
    NO_TARGET: typing.ClassVar[StopReason]
    __members__: typing.ClassVar[dict[str, StopReason]]
    @typing.overload
    def __eq__(self, other: StopReason) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: StopReason) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class EngineOptions:
    """
    Settings of one namespace's engine; defaults from params.hpp.
    """
    is_english: bool
    def __init__(self) -> None:
        ...
    @property
    def dimension(self) -> int:
        ...
    @dimension.setter
    def dimension(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def exact_below(self) -> int:
        ...
    @exact_below.setter
    def exact_below(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def semantic_threshold(self) -> float:
        ...
    @semantic_threshold.setter
    def semantic_threshold(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
class RecallOptions:
    """
    Settings of one recall; defaults from engine.hpp.
    """
    expansion: Expansion
    ranking: Ranking
    def __init__(self, is_static: bool) -> None:
        """
        With the weights of the static embedder, or of any other.
        """
    @property
    def edge_kinds(self) -> int:
        ...
    @edge_kinds.setter
    def edge_kinds(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def first(self) -> int:
        ...
    @first.setter
    def first(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def pool(self) -> int:
        ...
    @pool.setter
    def pool(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def top_k(self) -> int:
        ...
    @top_k.setter
    def top_k(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def views(self) -> int:
        ...
    @views.setter
    def views(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def weights(self) -> typing.Annotated[list[float], "FixedSize(11)"]:
        ...
    @weights.setter
    def weights(self, arg1: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(11)"]) -> None:
        ...
class QueryTerms:
    """
    The words of a question, known and unknown.
    """
    @property
    def ids(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def unknown_count(self) -> int:
        ...
class Query:
    """
    What a question asks by, as arrays; see ripple::Query.
    """
    def __init__(self, *, vector: numpy.typing.NDArray[numpy.float32], terms: QueryTerms, participants: numpy.typing.NDArray[numpy.uint32], locations: numpy.typing.NDArray[numpy.uint32], start: typing.SupportsInt | typing.SupportsIndex = -9223372036854775808, end: typing.SupportsInt | typing.SupportsIndex = -9223372036854775808, grain: TimeGrain = ..., months: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex] = (-9223372036854775808, -9223372036854775808), asks_when: bool = False) -> None:
        ...
class Selection:
    """
    Which units may be returned, as arrays; see ripple::Selection.
    """
    def __init__(self, *, participants: numpy.typing.NDArray[numpy.uint32], locations: numpy.typing.NDArray[numpy.uint32], sessions: numpy.typing.NDArray[numpy.uint32], rows: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32] | None = None, time: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex] = (-9223372036854775808, -9223372036854775808), said: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex] = (-9223372036854775808, -9223372036854775808), with_superseded: bool = True) -> None:
        ...
class UnitBatch:
    """
    Units to write, as arrays; see ripple::UnitBatch.
    """
    def __init__(self, *, vectors: numpy.typing.NDArray[numpy.float32], term_indptr: numpy.typing.NDArray[numpy.int64], terms: numpy.typing.NDArray[numpy.uint32], term_counts: numpy.typing.NDArray[numpy.uint32], speakers: numpy.typing.NDArray[numpy.uint32], participant_indptr: numpy.typing.NDArray[numpy.int64], participants: numpy.typing.NDArray[numpy.uint32], location_indptr: numpy.typing.NDArray[numpy.int64], locations: numpy.typing.NDArray[numpy.uint32], times: numpy.typing.NDArray[numpy.int64], said_at: numpy.typing.NDArray[numpy.int64], sessions: numpy.typing.NDArray[numpy.uint32], flags: numpy.typing.NDArray[numpy.uint8]) -> None:
        ...
class FirstRecall:
    """
    The pool of all views, ranked: score down, then row up.
    """
    @property
    def found_by(self) -> numpy.typing.NDArray[numpy.uint8]:
        ...
    @property
    def parts(self) -> numpy.typing.NDArray[numpy.float32]:
        ...
    @property
    def rows(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32]:
        ...
    @property
    def support(self) -> float:
        ...
class Plan:
    """
    What is missing and from where to look for it; see planning.hpp.
    """
    def __init__(self, *, reason: StopReason, anchors: numpy.typing.NDArray[numpy.uint32], participants: numpy.typing.NDArray[numpy.uint32], locations: numpy.typing.NDArray[numpy.uint32], start: typing.SupportsInt | typing.SupportsIndex = -9223372036854775808, end: typing.SupportsInt | typing.SupportsIndex = -9223372036854775808, terms: numpy.typing.NDArray[numpy.uint32]) -> None:
        ...
    @property
    def anchors(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def locations(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def new_terms(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def participants(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def reason(self) -> StopReason:
        ...
    @property
    def time(self) -> tuple[int, int]:
        ...
    @property
    def uncovered(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
class Expanded:
    """
    What expansion reached, best first.
    """
    @property
    def anchors(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def hops(self) -> numpy.typing.NDArray[numpy.uint8]:
        ...
    @property
    def kinds(self) -> numpy.typing.NDArray[numpy.uint8]:
        ...
    @property
    def parents(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def rows(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32]:
        ...
    @property
    def strengths(self) -> numpy.typing.NDArray[numpy.float32]:
        ...
class Recalled:
    """
    The evidence, score down, then row up, and how it came about.
    """
    @property
    def expanded(self) -> Expanded:
        ...
    @property
    def first(self) -> FirstRecall:
        ...
    @property
    def found_by(self) -> numpy.typing.NDArray[numpy.uint8]:
        ...
    @property
    def hops(self) -> numpy.typing.NDArray[numpy.uint8]:
        ...
    @property
    def parents(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def parts(self) -> numpy.typing.NDArray[numpy.float32]:
        ...
    @property
    def plan(self) -> Plan:
        ...
    @property
    def rows(self) -> numpy.typing.NDArray[numpy.uint32]:
        ...
    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32]:
        ...
    @property
    def support(self) -> float:
        ...
    @property
    def support_signals(self) -> typing.Annotated[list[float], "FixedSize(3)"]:
        ...
    @property
    def target(self) -> str:
        ...
class Engine:
    """
    Owns all of one namespace. Many readers beside one writer.
    """
    def __init__(self, options: EngineOptions, words: StaticEmbedder = None) -> None:
        ...
    def adopt_graph(self) -> None:
        """
        Take the built vector graph into use.
        """
    def build_graph_step(self, rows: typing.SupportsInt | typing.SupportsIndex) -> bool:
        """
        Build on the vector graph beside readers; true when adopt_graph may follow.
        """
    def cue_name(self, kind: CueKind, id: typing.SupportsInt | typing.SupportsIndex) -> str:
        """
        A name as first written.
        """
    def discard(self) -> None:
        """
        Forget the staged batch.
        """
    def edge_count(self, kind: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        Edges of a kind.
        """
    def expand(self, query: Query, first: FirstRecall, plan: Plan, target_vector: numpy.typing.NDArray[numpy.float32], selection: Selection, options: RecallOptions) -> Recalled:
        """
        Expansion towards a target, union and ranking.
        """
    def expand_more(self, query: Query, so_far: Recalled, plan: Plan, target_vector: numpy.typing.NDArray[numpy.float32], selection: Selection, options: RecallOptions) -> Recalled:
        """
        One round of expansion more, union and ranking.
        """
    def find(self, kind: CueKind, names: collections.abc.Sequence[str]) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Ids of names, 2^32 - 1 where unknown.
        """
    def find_terms(self, text: str) -> QueryTerms:
        """
        The words of a question.
        """
    def first_recall(self, query: Query, selection: Selection, options: RecallOptions) -> FirstRecall:
        """
        All views, pooled and ranked.
        """
    def index_texts(self, texts: collections.abc.Sequence[str]) -> tuple:
        """
        Words of texts, new ones entered: (indptr, ids, counts).
        """
    def intern(self, kind: CueKind, names: collections.abc.Sequence[str]) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Ids of names, new ones entered; 2^32 - 1 where nothing is left to name.
        """
    def load(self, batch: UnitBatch, src: numpy.typing.NDArray[numpy.uint32], dst: numpy.typing.NDArray[numpy.uint32], kinds: numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float32]) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Add units and their recorded edges as they are; their rows.
        """
    def neighbors(self, row: typing.SupportsInt | typing.SupportsIndex) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """
        Edges of a unit.
        """
    def plan(self, query: Query, first: FirstRecall, options: RecallOptions) -> Plan:
        """
        The rule planner's decision.
        """
    def recall(self, query: Query, selection: Selection, options: RecallOptions) -> Recalled:
        """
        First recall, plan, expansion and ranking.
        """
    def remove(self, rows: numpy.typing.NDArray[numpy.uint32]) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """
        Remove units from every index; the edges that went.
        """
    def restatement(self, plan: Plan) -> str:
        """
        The target's words, to be embedded.
        """
    def reveal(self) -> None:
        """
        Show the staged batch to readers.
        """
    def select(self, selection: Selection) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Rows that a selection lets through, ascending.
        """
    def self_recall(self, sample: typing.SupportsInt | typing.SupportsIndex) -> float:
        """
        Share of sampled vectors that find themselves.
        """
    def stage(self, batch: UnitBatch) -> tuple[numpy.typing.NDArray[numpy.uint32], tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray], tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]]:
        """
        Add units hidden from readers; (rows, edges added, edges evicted).
        """
    def stage_link(self, old_row: typing.SupportsInt | typing.SupportsIndex, new_row: typing.SupportsInt | typing.SupportsIndex) -> tuple[tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray], tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]]:
        """
        Stage a state edge old -> new; (edges added, edges evicted).
        """
    @property
    def dimension(self) -> int:
        ...
    @property
    def has_graph(self) -> bool:
        ...
    @property
    def size(self) -> int:
        ...
    @property
    def wants_graph(self) -> bool:
        ...
def collect_zone(graph: MemoryGraph, anchors: numpy.typing.NDArray[numpy.uint32], exclude: RowMask, allowed: RowMask, options: DiffusionOptions = ...) -> Zone:
    """
    The units around the anchors, by hop, path strength down, row.
    """
def count_tokens(text: str) -> int:
    """
    How many tokens tokenize() gives, without handing them out.
    """
def dot(a: numpy.typing.NDArray[numpy.float32], b: numpy.typing.NDArray[numpy.float32]) -> float:
    """
    The dot product of two float32 (d,).
    """
def english_stem(word: str) -> str:
    """
    The Porter2 stem of a folded word.
    """
def is_stop_word(folded: str) -> bool:
    """
    True for English function words.
    """
def isa_level() -> str:
    """
    The instructions in use: scalar, avx2 or avx512 (RIPPLE_ISA forces one).
    """
def normalize_key(text: str) -> str:
    """
    The key under which a name is matched: NFKC_Casefold without invisible characters, white space
    collapsed, at most 4,096 bytes. `text` is str, or bytes that are read as UTF-8.
    """
def select_nearest(zone: Zone, k: typing.SupportsInt | typing.SupportsIndex) -> tuple:
    """
    The first k of a zone without a target: (rows, scores, channels, zone_index).
    """
def select_support(zone: Zone, semantic: numpy.typing.NDArray[numpy.float32] | None, structural: numpy.typing.NDArray[numpy.float32] | None, options: DiffusionOptions = ...) -> tuple:
    """
    The units of a zone that answer a target best: (rows, scores, channels, zone_index).
    """
def structural_scores(participant_indptr: numpy.typing.NDArray[numpy.int64], participants: numpy.typing.NDArray[numpy.uint32], location_indptr: numpy.typing.NDArray[numpy.int64], locations: numpy.typing.NDArray[numpy.uint32], times: numpy.typing.NDArray[numpy.int64], left: numpy.typing.NDArray[numpy.uint32], right: numpy.typing.NDArray[numpy.uint32], options: EdgeOptions = ...) -> tuple:
    """
    The structural score of each pair of units (NaN where nothing is comparable) and whether it makes an edge: float64 (m,), uint8 (m,).
    """
def tokenize(text: str) -> list[tuple[str, str]]:
    """
    The (term, surface) pairs of a text in order, with repeats and without stop words.
    """
FEATURES: tuple = ('window', 'word_match', 'near_word_match', 'previous_question', 'context', 'dense', 'speaker', 'time', 'when', 'question', 'length', 'expansion', 'similarity', 'provenance', 'anchor')
UNICODE_VERSION: str = '14.0.0'
