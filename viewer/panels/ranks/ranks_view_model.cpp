#include "panels/ranks/ranks_view_model.hpp"

#include <algorithm>
#include <utility>

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

RanksViewModel ranks_view_model(std::shared_ptr<const model::Document> document) {
  RanksViewModel result;
  result.analysis = model::rank_analysis(*document);
  for (const model::CollectiveSummary& c : result.analysis.collectives) {
    result.late.push_back(c.has_late_rank() ? model::late_command(*document, c, c.last)
                                            : model::LateCommand{});
  }
  result.document = std::move(document);
  return result;
}

bool has_collectives(const model::Document& document) {
  return std::any_of(document.graphs.begin(), document.graphs.end(), [](const auto& graph) {
    return !graph.second.graph->record().collectives.empty();
  });
}

std::vector<RankBar> rank_bars(const model::CollectiveExecutions& all,
                               const model::CollectiveExecution& execution, std::size_t max_bars) {
  const model::Arrival* const first = all.arrivals.data() + execution.first;
  std::vector<model::Arrival> arrivals(first, first + execution.count);
  Time origin = 0;
  for (const model::Arrival& a : arrivals) {
    if (execution.last == kNone ? origin == 0 || a.started > origin : a.rank == execution.last)
      origin = a.started;
  }
  const bool is_folded = arrivals.size() > max_bars;
  if (is_folded) {
    std::stable_sort(
        arrivals.begin(), arrivals.end(),
        [](const model::Arrival& a, const model::Arrival& b) { return a.started > b.started; });
  }
  std::vector<RankBar> bars;
  const auto relative = [&](Time t) { return static_cast<double>(t - origin); };
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const model::Arrival& a = arrivals[i];
    const RankBar bar{.rank = a.rank,
                      .arrived = relative(a.started),
                      .last_arrived = relative(a.started),
                      .waited_until = relative(a.started + std::max<Time>(0, a.wait)),
                      .ended = relative(a.ended)};
    if (i <= max_bars) {
      bars.push_back(bar);
      continue;
    }
    RankBar& others = bars.back();
    others.rank = kNone;
    ++others.ranks;
    others.arrived = std::min(others.arrived, bar.arrived);
    others.waited_until = std::max(others.waited_until, bar.waited_until);
    others.ended = std::max(others.ended, bar.ended);
  }
  return bars;
}

std::optional<std::size_t> execution_in(const model::CollectiveExecutions& all,
                                        std::uint64_t replay) {
  const auto at = std::lower_bound(
      all.executions.begin(), all.executions.end(), replay,
      [](const model::CollectiveExecution& e, std::uint64_t r) { return e.replay < r; });
  if (at == all.executions.end() || at->replay != replay) return std::nullopt;
  return static_cast<std::size_t>(at - all.executions.begin());
}

std::string rank_text(const model::Document& document, std::uint32_t session) {
  std::string name = document.rank_name(session);
  return name.empty() ? "process " + std::to_string(session) : name;
}

}  // namespace reprise::viewer
