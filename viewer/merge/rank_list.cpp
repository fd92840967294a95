#include "merge/rank_list.hpp"

namespace reprise::trace {

std::vector<RankRun> rank_runs(const std::vector<std::uint32_t>& ranks) {
  std::vector<RankRun> runs;
  for (const std::uint32_t rank : ranks) {
    if (runs.empty() || runs.back().last + 1 != rank) runs.push_back({rank, rank});
    runs.back().last = rank;
  }
  return runs;
}

std::vector<RankRun> missing_runs(const std::vector<std::uint32_t>& present, std::uint32_t ranks) {
  std::vector<RankRun> missing;
  std::uint32_t next = 0;
  for (const std::uint32_t rank : present) {
    if (rank > next) missing.push_back({next, rank - 1});
    next = rank + 1;
  }
  if (next < ranks) missing.push_back({next, ranks - 1});
  return missing;
}

std::string ranks_text(const std::vector<RankRun>& runs) {
  constexpr std::size_t kMaxItems = 8;
  std::vector<std::string> items;
  for (const RankRun& run : runs) {
    items.push_back(std::to_string(run.first));
    if (run.last == run.first) continue;
    if (run.last - run.first == 1) {
      items.push_back(std::to_string(run.last));
    } else {
      items.back() += " to " + std::to_string(run.last);
    }
  }
  const bool is_one = runs.size() == 1 && runs[0].first == runs[0].last;
  if (items.size() > kMaxItems) {
    items.resize(kMaxItems);
    items.emplace_back("others");
  }
  std::string text = is_one ? "rank " : "ranks ";
  for (std::size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return text;
}

}  // namespace reprise::trace
