// Lists of ranks as text. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::trace {

struct RankRun {
  std::uint32_t first = 0, last = 0;
};

// `ranks` are sorted and unique.
[[nodiscard]] std::vector<RankRun> rank_runs(const std::vector<std::uint32_t>& ranks);
// The ranks below `ranks` that are not in `present`.
[[nodiscard]] std::vector<RankRun> missing_runs(const std::vector<std::uint32_t>& present,
                                                std::uint32_t ranks);
// "rank 3", "ranks 3 and 5 to 7"; the first few runs of a long list.
[[nodiscard]] std::string ranks_text(const std::vector<RankRun>& runs);

}  // namespace reprise::trace
