#include "panels/timeline/timeline_collectives.hpp"

#include <algorithm>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

TimelineCollective collective_of(const TimelineDrawContext& dc, const TimelineScene& scene,
                                 const model::TimelineItem& item) {
  TimelineCollective one;
  const model::Graph* const graph = graph_of(dc, scene);
  if (graph == nullptr) return one;
  const auto& calls = graph->record().collectives;
  const auto found = std::lower_bound(
      calls.begin(), calls.end(), item.node,
      [](const trace::Collective& call, std::uint32_t node) { return call.node < node; });
  if (found == calls.end() || found->node != item.node) return one;
  one.call = &*found;
  one.session = dc.context.document->session_of(graph->key());
  one.started = item.started;
  one.ended = item.ended;
  const auto awaited =
      dc.arrivals.find({found->communicator, found->number, scene.replay.replay, found->index,
                        scene.block->samples[item.sample].occurrence});
  if (awaited == dc.arrivals.end() || !awaited->second.has_waits()) return one;
  one.awaited = &awaited->second;
  one.is_certain = dc.ranks.clocks && dc.ranks.clocks->is_certain(one.awaited->at - one.started,
                                                                  one.session, one.awaited->member);
  return one;
}

TimelineBox draw_timeline_collective(const TimelineDrawContext& dc, const TimelineBox& box,
                                     const TimelineCollective& one, ImU32 fill) {
  const Theme& theme = dc.context.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  TimelineBox transfer = box;
  if (const Time waiting = one.waiting(); waiting > 0) {
    transfer.min.x = std::clamp(dc.x_of(one.started + waiting), box.min.x, box.max.x);
    const ImVec2 end{transfer.min.x, box.max.y};
    const float height = box.max.y - box.min.y, step = 5 * theme.scale;
    if (one.is_certain) list.AddRectFilled(box.min, end, with_alpha(theme.panel, 0.72f));
    const ImU32 lines = with_alpha(one.is_certain ? fill : theme.panel, 0.8f);
    list.PushClipRect(box.min, end, true);
    for (float x = box.min.x - height; x < end.x; x += step)
      list.AddLine({x, box.max.y}, {x + height, box.min.y}, lines, theme.scale);
    list.PopClipRect();
  }
  list.AddRect(box.min, box.max, theme.ink_soft, 0, 0, theme.scale);
  return transfer;
}

void draw_awaited_arrival(const TimelineDrawContext& dc) {
  const auto* const hit = std::get_if<NodeHit>(&dc.hit);
  if (hit == nullptr || hit->block.count != 0) return;
  const TimelineCollective one = collective_of(dc, *hit->scene, *hit->item);
  if (one.awaited == nullptr) return;
  const float x = dc.x_of(one.awaited->at);
  ImGui::GetWindowDrawList()->AddLine({x, dc.rows_top}, {x, dc.canvas.max().y},
                                      dc.context.theme.warning, dc.context.theme.scale);
}

std::string between_ranks_text(const TimelineRanks& ranks, Time difference, std::uint32_t session,
                               std::uint32_t other) {
  const std::string text = duration_text(static_cast<double>(difference));
  if (!ranks.clocks || ranks.clocks->is_certain(difference, session, other)) return text;
  const Time error = ranks.clocks->bound(session, other);
  if (error >= trace::kUnknownError) return text + " (the clocks are not aligned)";
  return "below the clock error of " + duration_text(static_cast<double>(error));
}

void draw_collective_fields(const TimelineDrawContext& dc, const TimelineCollective& one, float x) {
  const Theme& theme = dc.context.theme;
  draw_field(theme, "collective",
             std::string(collective_kind_name(one.call->kind)) + " of " +
                 bytes_text(one.call->bytes) + ", " + count_text(one.call->ranks) + " ranks",
             x);
  if (one.awaited == nullptr) return;
  const model::AwaitedArrival& awaited = *one.awaited;
  if (awaited.known_ranks < one.call->ranks)
    draw_field(theme, "sampled on", count_text(awaited.known_ranks) + " ranks", x);
  const Time waiting = one.waiting();
  const bool is_reduce = one.call->kind == trace::CollectiveKind::Reduce;
  if (awaited.member == one.session) {
    draw_field(
        theme, "waiting",
        is_reduce ? "none: the root waits for this rank" : "none: the others wait for this rank",
        x);
  } else if (!model::wait_role(*one.call).waits) {
    draw_field(theme, "waiting", "none: only the root waits", x);
  } else {
    draw_field(theme, "waiting", between_ranks_text(dc.ranks, waiting, one.session, awaited.member),
               x);
    draw_field(theme, "for", dc.context.document->rank_name(awaited.member), x);
  }
  draw_field(theme, "transfer",
             duration_text(static_cast<double>(one.ended - one.started - waiting)), x);
}

}  // namespace reprise::viewer
