// Every constant that comes from a paper or from tuning, as option structs with the source beside it.
// Defaults live here only; the binding exports them to Python.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ripple {

// BM25 (Robertson). k1 and b fitted on conversation turns: short texts, little length normalisation.
struct Bm25Options {
  float k1 = 0.9F;
  float b = 0.4F;
};

// HNSW (Malkov & Yashunin) through hnswlib, and the size below which an exact scan is used.
struct VectorIndexOptions {
  std::size_t exact_below = 20'000;  // rows; a scan of 20k x 256 takes 2 to 3 ms (bench_vector_index)
  std::size_t max_links = 16;        // hnswlib's M
  std::size_t ef_construction = 100;
  std::size_t ef_search = 96;        // never below max(k, 64): hnswlib cannot return k results otherwise
  float rebuild_at_deleted = 0.25F;  // share of dead entries at which the graph is built anew
  std::uint64_t seed = 20260423;
};

// RippleMem 1.1: how edges are found and scored when a unit is written.
struct EdgeOptions {
  float semantic_threshold =
      0.85F;  // the paper's, for its encoder; calibrated per embedder, kept with the store
  float structural_threshold = 0.60F;  // tested with >= in exact arithmetic
  double participant_weight = 0.50;
  double location_weight = 0.20;
  double time_weight = 0.30;
  std::int64_t time_decay_seconds = 7LL * 86'400;                // tau
  std::int64_t longest_interval_seconds = 100LL * 366 * 86'400;  // longer intervals give no temporal weight
  std::uint32_t semantic_degree = 6;                             // cap on both ends
  std::uint32_t structural_degree = 6;                           // cap on both ends
  std::uint32_t term_degree = 6;                                 // cap on both ends
  std::uint32_t semantic_candidates = 20;
  std::uint32_t cue_candidates = 20;
  std::uint32_t term_units_min = 2;  // a rare term is one that stands in 2 to 6 units
  std::uint32_t term_units_max = 6;
  float sequence_weight = 0.6F;
  float term_weight = 0.6F;
  float state_weight = 0.9F;
  std::uint32_t participants_max = 64;  // cues of a unit beyond this are not compared
};

// The bounded, time-near-first walk that gives cue candidates.
struct CueWalkOptions {
  std::uint32_t candidates = 20;
  std::uint32_t steps_max = 512;  // postings looked at in all, whatever the size of a hub
};

// RippleMem 1.2: anchor-local diffusion towards a target.
struct DiffusionOptions {
  std::uint32_t hops = 2;
  std::uint8_t first_hop_kinds = 0b11111;   // bit i = EdgeKind i
  std::uint8_t second_hop_kinds = 0b00111;  // sequence and term edges are walked one hop only
  std::uint32_t top_k_per_channel = 5;
  float near_tie = 0.01F;  // scores this close go to the unit nearer an anchor, then to the stronger path
  std::uint32_t visited_max = 4'096;
};

// The rule planner (ours; the paper's planner is a model).
struct PlannerOptions {
  std::uint32_t evidence = 20;  // recalled units that it reads, as many as the paper shows its model
  std::uint32_t anchors_max = 3;
  double anchor_gain_min = 0.5;  // an anchor holds at least this share of what the best anchor holds
  std::uint32_t target_terms_max = 8;
  double lone_term_weight = 0.5;  // a word that stands in the anchor alone can only be met by meaning
};

}  // namespace ripple
