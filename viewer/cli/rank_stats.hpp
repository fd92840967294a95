// The part of `reprise stats` about the ranks of a distributed job. Threads: pure functions.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/stats.hpp"

namespace reprise::cli {

// Longer tables show the ranks that others waited for most, unless --top 0 asks for all.
inline constexpr std::size_t kMaxRanks = 16;

// Whether the trace has several ranks, or collectives.
[[nodiscard]] bool has_rank_stats(const model::Document& document);
void print_ranks(const Stats& stats, const StatsOptions& options);
[[nodiscard]] nlohmann::ordered_json json_of_ranks(const Stats& stats);

}  // namespace reprise::cli
