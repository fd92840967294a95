// The view model of the Ranks panel: the analysis of the ranks of a document, and one execution of
// a collective as bars. Independent of ImGui. Threads: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/late_command.hpp"
#include "model/rank_analysis.hpp"

namespace reprise::viewer {

struct RanksViewModel {
  std::shared_ptr<const model::Document> document;
  model::RankAnalysis analysis;
  std::vector<model::LateCommand> late;  // by collective: of its late rank, if any
};
[[nodiscard]] RanksViewModel ranks_view_model(std::shared_ptr<const model::Document> document);

// Whether a graph of the document has collectives.
[[nodiscard]] bool has_collectives(const model::Document& document);

// Times in ns relative to the arrival that the ranks wait for.
struct RankBar {
  std::uint32_t rank = trace::kNone;  // as in model::Arrival; kNone: several ranks
  std::uint32_t ranks = 1;
  double arrived = 0, last_arrived = 0;  // first and last arrival of several ranks
  double waited_until = 0;               // last_arrived: waited for nobody
  double ended = 0;                      // of several ranks, the last end
};
// By rank; with more than `max_bars` ranks the last to arrive, latest first, and then the others as
// one bar.
[[nodiscard]] std::vector<RankBar> rank_bars(const model::CollectiveExecutions& all,
                                             const model::CollectiveExecution& execution,
                                             std::size_t max_bars);

// The first execution in the replay; empty if there is none.
[[nodiscard]] std::optional<std::size_t> execution_in(const model::CollectiveExecutions& all,
                                                      std::uint64_t replay);

// "rank 3"; "process 0" without a rank.
[[nodiscard]] std::string rank_text(const model::Document& document, std::uint32_t session);

}  // namespace reprise::viewer
