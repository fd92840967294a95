#include "panels/timeline/timeline_collectives.hpp"

#include <algorithm>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

Time TimelineCollective::waiting() const {
  if (last == nullptr || last->at == 0 || last->known_ranks < 2) return 0;
  // Only the root of a reduction waits.
  if (call->kind == trace::CollectiveKind::Reduce && call->rank != call->peer) return 0;
  return std::clamp(last->at, started, ended) - started;
}

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
  const auto last = dc.arrivals.find({found->communicator, found->number, scene.replay.replay,
                                      found->index, scene.block->samples[item.sample].occurrence});
  if (last != dc.arrivals.end()) one.last = &last->second;
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
    list.AddRectFilled(box.min, end, with_alpha(theme.panel, 0.72f));
    list.PushClipRect(box.min, end, true);
    for (float x = box.min.x - height; x < end.x; x += step)
      list.AddLine({x, box.max.y}, {x + height, box.min.y}, with_alpha(fill, 0.8f), theme.scale);
    list.PopClipRect();
  }
  list.AddRect(box.min, box.max, theme.ink_soft, 0, 0, theme.scale);
  return transfer;
}

void draw_last_arrival(const TimelineDrawContext& dc) {
  const auto* const hit = std::get_if<NodeHit>(&dc.hit);
  if (hit == nullptr || hit->count != 1) return;
  const TimelineCollective one = collective_of(dc, *hit->scene, *hit->item);
  if (one.last == nullptr || one.last->at == 0 || one.last->known_ranks < 2) return;
  const float x = dc.x_of(one.last->at);
  ImGui::GetWindowDrawList()->AddLine({x, dc.rows_top}, {x, dc.canvas.max().y},
                                      dc.context.theme.warning, dc.context.theme.scale);
}

std::string between_ranks_text(const TimelineRanks& ranks, Time difference, std::uint32_t session,
                               std::uint32_t other) {
  const std::string text = duration_text(static_cast<double>(difference));
  const Time error = ranks.clocks ? ranks.clocks->bound(session, other) : 0;
  if (error >= trace::kUnknownError) return text + " (the clocks are not aligned)";
  if (difference < error)
    return "below the clock error of " + duration_text(static_cast<double>(error));
  return text;
}

void draw_collective_fields(const TimelineDrawContext& dc, const TimelineCollective& one, float x) {
  const Theme& theme = dc.context.theme;
  draw_field(theme, "collective",
             std::string(collective_name(one.call->kind)) + " of " + bytes_text(one.call->bytes) +
                 ", " + count_text(one.call->ranks) + " ranks",
             x);
  if (one.last == nullptr || one.last->at == 0 || one.last->known_ranks < 2) return;
  if (one.last->known_ranks < one.call->ranks)
    draw_field(theme, "sampled on", count_text(one.last->known_ranks) + " ranks", x);
  const Time waiting = one.waiting();
  if (one.last->session == one.session) {
    draw_field(theme, "waiting", "none: the others wait for this rank", x);
  } else {
    draw_field(theme, "waiting",
               between_ranks_text(dc.ranks, waiting, one.session, one.last->session), x);
    draw_field(theme, "for", dc.context.document->rank_name(one.last->session), x);
  }
  draw_field(theme, "transfer",
             duration_text(static_cast<double>(one.ended - one.started - waiting)), x);
}

}  // namespace reprise::viewer
