// The tables of the Ranks panel: one row per rank, and one per collective. Threads: drawing thread
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "panels/ranks/ranks_view_model.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

using RanksViewModelPointer = std::shared_ptr<const RanksViewModel>;

class RankTable {
 public:
  // `collective`: the one whose graphs a click and the menu refer to; null: none.
  void draw(PanelContext& context, const RanksViewModelPointer& view_model,
            const model::CollectiveSummary* collective, std::uint32_t& selected_session,
            ImVec2 size);

 private:
  RanksViewModelPointer rows_of_;
  TableSort sort_{};
  std::vector<std::uint32_t> rows_;  // sessions
};

class CollectiveTable {
 public:
  void draw(PanelContext& context, const RanksViewModelPointer& view_model,
            model::CollectiveId& selected, ImVec2 size);

 private:
  RanksViewModelPointer rows_of_;
  TableSort sort_{};
  std::vector<std::uint32_t> rows_;  // indices in RankAnalysis::collectives
};

// The items of a rank: show its graph, and compare it with the same graph of another rank.
void draw_rank_items(PanelContext& context, const model::CollectiveSummary& collective,
                     std::uint32_t rank);
// "~12.3 us" for a time within the error of the clocks.
[[nodiscard]] std::string wait_text(double ns, trace::Time error);
// "forward +20.1 us"; empty without a command.
[[nodiscard]] std::string late_text(const model::Document& document,
                                    const model::CollectiveSummary& collective, std::uint32_t rank,
                                    const model::LateCommand& late);

}  // namespace reprise::viewer
