#include "panels/timeline/timeline_layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "panels/timeline/timeline_draw_context.hpp"
#include "panels/timeline/timeline_layout_builder.hpp"
#include "panels/timeline/timeline_row_order.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

using Kind = TimelineRow::Kind;

constexpr float kHost = 18, kReplays = 19, kMinNodes = 17, kMaxNodes = 44;
constexpr float kActive = 26;
constexpr std::size_t kMaxVisible = 4096;  // replays among which one with nodes is searched
constexpr float kOtherNodes = 11;  // of graphs other than the shown one
constexpr float kRank = 15, kMinRankNodes = 14, kMaxRankNodes = 30;  // below a rank that is closed
constexpr float kRankActive = 16;                                    // likewise
constexpr std::size_t kMaxOpen = 6;           // replayed graphs whose nodes are shown by default
constexpr std::uint32_t kMaxLanesAhead = 64;  // rows made before a scene was seen

std::string thread_label(const PanelContext& context, std::uint32_t thread) {
  const auto& names = *context.document->thread_names;
  const auto found = names.find(thread);
  return found == names.end() || found->second.name.empty() ? "thread " + std::to_string(thread)
                                                            : found->second.name;
}

trace::SampleSource source_of(const TimelineLayoutDesc& desc) {
  return desc.shown == nullptr ? trace::SampleSource::Host : desc.shown->block->source;
}
const char* nodes_by_title(const TimelineLayoutDesc& desc) {
  switch (source_of(desc)) {
    case trace::SampleSource::Host: break;
    case trace::SampleSource::Timestamp: return "BY MULTIPROCESSOR";
    case trace::SampleSource::Cupti: return "NODES BY STREAM";
  }
  return "NODES BY WORKER";
}
std::string workers_name(const TimelineLayoutDesc& desc) {
  switch (source_of(desc)) {
    case trace::SampleSource::Host: break;
    case trace::SampleSource::Timestamp: return "SMs";
    case trace::SampleSource::Cupti: return "streams";
  }
  return "workers";
}
std::string group_label(const TimelineLayoutDesc& desc, const model::GraphEntry& entry,
                        std::uint32_t group) {
  if (desc.by == model::RowsBy::Lane && entry.graph->record().lanes == 0) return "no lanes";
  return model::row_group_name(desc.by, source_of(desc), group);
}

// The number of measured nodes and the source of their times.
std::string measured_text(const TimelineLayoutDesc& desc) {
  if (desc.shown == nullptr) return {};
  const std::size_t nodes = desc.shown->times.nodes.size(),
                    measured = nodes - desc.shown->unmeasured;
  const std::string source = source_text(desc.shown->block->source);
  if (measured == nodes) return "all " + count_text(nodes) + " nodes measured by " + source;
  return count_text(measured) + " of " + count_text(nodes) + " nodes measured by " + source +
         "; the others are not shown";
}

template <class Rows, class Id>
const model::BusyTime* busy_in(const Rows& rows, Id id) {
  const auto found = rows.find(id);
  return found == rows.end() ? nullptr : &found->second.busy;
}

// Whether a row has spans in the visible part or within its length on either side: rows come and go
// outside of what the user sees. `rows`: with `spans` by start.
template <class Rows, class Id>
bool is_used(const TimelineLayoutDesc& desc, const Rows& rows, const Id& id) {
  const auto found = rows.find(id);
  if (found == rows.end()) return false;
  if (desc.to == 0) return true;
  const auto& spans = found->second.spans;
  const auto from = static_cast<double>(desc.from), to = static_cast<double>(desc.to),
             length = to - from;
  const std::size_t first = spans.lower_bound(from - length, [](const auto& span, double at) {
    return static_cast<double>(span.ended) < at;
  });
  return first < spans.size() && static_cast<double>(spans[first].started) <= to + length;
}

// The depths of a thread's ranges.
std::vector<std::uint16_t> used_depths(const TimelineLayoutDesc& desc, std::uint32_t thread) {
  std::vector<std::uint16_t> depths;
  if (desc.host == nullptr) return depths;
  for (auto at = desc.host->rows.lower_bound({thread, std::uint16_t{0}});
       at != desc.host->rows.end() && at->first.first == thread; ++at) {
    if (is_used(desc, desc.host->rows, at->first)) depths.push_back(at->first.second);
  }
  return depths;
}

void add_thread(const TimelineLayoutDesc& desc, std::uint32_t thread,
                TimelineLayoutBuilder& builder) {
  const std::vector<std::uint16_t> depths = used_depths(desc, thread);
  const bool has_launches = is_used(desc, desc.activity.threads, thread);
  TimelineRow row;
  row.kind = Kind::Ranges;
  row.id = thread;
  row.label = thread_label(desc.context, thread);
  row.folds = depths.size() + (has_launches ? 1 : 0) > 1;
  row.is_open = desc.opened.closed_threads.count(thread) == 0;
  for (const std::uint16_t depth : depths) {
    row.level = depth;
    builder.add(row, kHost);
    if (!row.is_open) return;
    row.label.clear();
    row.folds = false;
  }
  if (!has_launches) return;
  row.kind = Kind::Launches;
  row.level = 0;
  builder.add(row, kHost);
}

void add_host(const TimelineLayoutDesc& desc, const TimelineRank& rank,
              TimelineLayoutBuilder& builder) {
  std::vector<std::uint32_t> threads;
  for (const std::uint32_t thread : rank.threads) {
    if (is_used(desc, desc.activity.threads, thread) || !used_depths(desc, thread).empty())
      threads.push_back(thread);
  }
  if (threads.empty() ||
      !builder.section(
          TimelineSection::Host, rank.session, "HOST",
          desc.ranks.has_ranks() ? rank.process : desc.context.document->process_name()))
    return;
  order_rows(
      threads, desc.order, [&](std::uint32_t id) { return thread_label(desc.context, id); },
      [&](std::uint32_t id) {
        const auto* const ranges = desc.host == nullptr
                                       ? nullptr
                                       : busy_in(desc.host->rows, std::pair(id, std::uint16_t{0}));
        return ranges != nullptr ? ranges : busy_in(desc.activity.threads, id);
      });
  for (const std::uint32_t thread : threads) add_thread(desc, thread, builder);
}

void add_queues(const TimelineLayoutDesc& desc, const TimelineRank& rank,
                TimelineLayoutBuilder& builder) {
  std::vector<std::uint32_t> queues = rank.queues;
  order_rows(
      queues, desc.order, [&](std::uint32_t id) { return desc.context.document->queue_name(id); },
      [&](std::uint32_t id) { return busy_in(desc.activity.queues, id); });
  for (const std::uint32_t device : rank.devices) {
    const auto found = desc.context.document->devices->find(device);
    if (!builder.section(
            TimelineSection::Device, device,
            found == desc.context.document->devices->end() ? "DEVICE" : found->second.name,
            "replays by queue"))
      continue;
    TimelineRow row;
    if (const auto idle = desc.activity.idle.find(device);
        idle != desc.activity.idle.end() && !idle->second.gaps.empty()) {
      row.kind = Kind::Idle;
      row.id = device;
      row.label = "idle";
      builder.add(row, kHost);
    }
    for (const std::uint32_t queue : queues) {
      if (model::device_of(*desc.context.document, queue) != device ||
          !is_used(desc, desc.activity.queues, queue))
        continue;
      row.kind = Kind::Queue;
      row.id = queue;
      row.label = desc.context.document->queue_name(queue);
      builder.add(row, kReplays);
    }
  }
}

// Whether the visible part has nodes of a graph that is not the shown one.
bool has_visible_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry) {
  const auto [first, end] = replays_between(entry.replays, desc.from, desc.to);
  for (std::size_t i = first; i < std::min(end, first + kMaxVisible); ++i) {
    const trace::Replay& replay = entry.replays[i];
    if (replay.sampled != 0 && replay.ended >= desc.from && replay.started <= desc.to &&
        static_cast<double>(replay.ended - replay.started) >= desc.min_length)
      return true;
  }
  return false;
}

// Whether the nodes of a graph are wide enough to draw at this zoom.
bool shows_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry) {
  const bool is_shown = entry.graph->key() == desc.context.view.graph;
  if (!is_shown && !desc.ranks.has_ranks() && desc.to != 0) return has_visible_nodes(desc, entry);
  if (desc.shown != nullptr && is_shown &&
      static_cast<double>(desc.shown->times.ended - desc.shown->times.started) >= desc.min_length)
    return true;
  const auto found = desc.activity.graphs.find(entry.graph->key());
  if (found == desc.activity.graphs.end() || found->second.spans.empty()) return true;
  return static_cast<double>(found->second.busy.total()) >=
         desc.min_length / 2 * static_cast<double>(found->second.spans.size());
}

// The height of the node rows of the shown graph: they share what all other rows leave.
float node_height(const TimelineLayoutDesc& desc, float others, std::size_t count) {
  const float scale = row_scale(desc);
  // Label rows take at most 35 % of the height.
  const std::uint32_t label_rows = desc.shown == nullptr ? 0 : desc.shown->label_rows;
  const float labels = label_rows == 0
                           ? 0
                           : std::min(scale * (kTimelineTitle + static_cast<float>(label_rows) *
                                                                    (kHost + kTimelineRowGap)),
                                      desc.available_height * 0.35f);
  const float height =
      (desc.available_height - others - labels) / (scale * static_cast<float>(count)) -
      kTimelineRowGap;
  return std::clamp(height, kMinNodes, kMaxNodes);
}

std::size_t count_of(const std::map<std::uint32_t, std::uint32_t>& levels) {
  std::size_t count = 0;
  for (const auto& [group, rows] : levels) count += rows;
  return count;
}

void add_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry, float height,
               TimelineLayoutBuilder& builder) {
  const auto levels = desc.levels.of(entry);
  std::vector<std::uint32_t> groups;
  for (const auto& [group, rows] : levels) groups.push_back(group);
  if (desc.shown != nullptr && entry.graph->key() == desc.context.view.graph) {
    order_rows(
        groups, desc.order, [&](std::uint32_t id) { return group_label(desc, entry, id); },
        [&](std::uint32_t id) {
          const auto found = desc.shown->groups.find(id);
          return found == desc.shown->groups.end() ? nullptr : &found->second;
        });
  }
  for (const std::uint32_t group : groups) {
    for (std::uint32_t level = 0; level < levels.at(group); ++level) {
      TimelineRow row;
      row.kind = Kind::Nodes;
      row.id = group;
      row.level = level;
      row.graph = entry.graph->key();
      if (level == 0) row.label = group_label(desc, entry, group);
      builder.add(row, height);
    }
  }
}

void add_active(const TimelineLayoutDesc& desc, const model::GraphEntry& entry, float height,
                TimelineLayoutBuilder& builder) {
  TimelineRow row;
  row.kind = Kind::Active;
  row.graph = entry.graph->key();
  row.label = desc.levels.of(entry).size() == 1 ? "active nodes"
              : desc.by == model::RowsBy::Lane  ? "active lanes"
                                                : "active " + workers_name(desc);
  builder.add(row, height);
}

// The nodes of the shown graph, with a title, below the number of busy lanes or workers.
void add_shown_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry, float others,
                     TimelineLayoutBuilder& builder) {
  const auto levels = desc.levels.of(entry);
  if (levels.empty()) return;
  if (desc.shown != nullptr &&
      !builder.section(TimelineSection::Nodes, 0,
                       desc.by == model::RowsBy::Lane ? "NODES BY LANE" : nodes_by_title(desc),
                       measured_text(desc)))
    return add_active(desc, entry, kActive, builder);
  others += kTimelineTitle * row_scale(desc);
  if (count_of(levels) > 1) {
    add_active(desc, entry, kActive, builder);
    others += (kActive + kTimelineRowGap) * row_scale(desc);
  }
  add_nodes(desc, entry, node_height(desc, others, count_of(levels)), builder);
}

void add_labels(const TimelineLayoutDesc& desc, TimelineLayoutBuilder& builder) {
  if (desc.shown == nullptr || desc.shown->label_rows == 0 ||
      !builder.section(TimelineSection::Labels, 0, "LABELS", "first node start to last node end"))
    return;
  for (std::uint32_t level = 0; level < desc.shown->label_rows; ++level) {
    TimelineRow row;
    row.kind = Kind::Labels;
    row.level = level;
    row.graph = desc.context.view.graph;
    builder.add(row, kHost);
  }
}

void add_graphs(const TimelineLayoutDesc& desc, const TimelineRank& rank,
                TimelineLayoutBuilder& builder) {
  const model::GraphKey shown = desc.context.view.graph;
  std::vector<const model::GraphEntry*> graphs;
  for (const model::GraphKey key : rank.graphs) {
    const auto* const entry = desc.context.document->find(key);
    const bool is_known = desc.activity.graphs.count(key) != 0;
    if (entry != nullptr && (key == shown || !is_known || is_used(desc, desc.activity.graphs, key)))
      graphs.push_back(entry);
  }
  const float scale = row_scale(desc);
  const auto is_open = [&](model::GraphKey key) {
    const auto chosen = desc.opened.graphs.find(key);
    return chosen != desc.opened.graphs.end()
               ? chosen->second
               : key == shown || (rank.has_match && key == rank.match) ||
                     rank.graphs.size() <= kMaxOpen;
  };
  if (graphs.empty() ||
      !builder.section(TimelineSection::Graphs, rank.session, "GRAPHS",
                       graphs.size() > 1 ? "a click on a name shows or hides its nodes" : ""))
    return;
  order_rows(
      graphs, desc.order, [](const model::GraphEntry* entry) { return entry->graph->name(); },
      [&](const model::GraphEntry* entry) {
        return busy_in(desc.activity.graphs, entry->graph->key());
      });
  // The height of all other rows, for the node rows of the shown graph.
  float others = builder.layout.height;
  for (const model::GraphEntry* entry : graphs) {
    others += std::round(kReplays * scale) + std::round(kTimelineRowGap * scale);
    if (entry->graph->key() == shown || !is_open(entry->graph->key()) || !shows_nodes(desc, *entry))
      continue;
    others += static_cast<float>(count_of(desc.levels.of(*entry))) *
              (std::round(kMinNodes * scale) + std::round(kTimelineRowGap * scale));
  }
  for (const model::GraphEntry* entry : graphs) {
    TimelineRow row;
    row.kind = Kind::Replays;
    row.graph = entry->graph->key();
    row.label = entry->graph->name();
    row.folds = true;
    row.is_open = is_open(row.graph);
    builder.add(row, kReplays);
    if (!row.is_open || !shows_nodes(desc, *entry)) continue;
    if (row.graph != shown) {
      add_nodes(desc, *entry, kOtherNodes, builder);
      continue;
    }
    add_shown_nodes(desc, *entry, others, builder);
    add_labels(desc, builder);
  }
}

void add_process(const TimelineLayoutDesc& desc, const TimelineRank& rank,
                 TimelineLayoutBuilder& builder) {
  add_host(desc, rank, builder);
  add_queues(desc, rank, builder);
  add_graphs(desc, rank, builder);
}

// Null if the rank has none, or its nodes are too narrow to draw.
const model::GraphEntry* match_of(const TimelineLayoutDesc& desc, const TimelineRank& rank) {
  const model::GraphEntry* const match =
      rank.has_match ? desc.context.document->find(rank.match) : nullptr;
  return match != nullptr && shows_nodes(desc, *match) ? match : nullptr;
}

// The height of the rows of nodes below closed ranks, which share what all other rows leave.
float rank_node_height(const TimelineLayoutDesc& desc, float others) {
  const float scale = row_scale(desc);
  std::size_t count = 0;
  for (const TimelineRank& rank : desc.ranks.ranks) {
    if (!rank.is_shown) continue;
    others += scale * (kRank + kTimelineRowGap);
    const auto* const match = match_of(desc, rank);
    const std::size_t rows = match == nullptr ? 0 : count_of(desc.levels.of(*match));
    if (rows > 1) others += scale * (kRankActive + kTimelineRowGap);
    count += rows;
  }
  if (count == 0) return kMinRankNodes;
  const float height =
      (desc.available_height - others) / (scale * static_cast<float>(count)) - kTimelineRowGap;
  return std::clamp(height, kMinRankNodes, kMaxRankNodes);
}

void add_rank(const TimelineLayoutDesc& desc, std::size_t index, float node_height,
              TimelineLayoutBuilder& builder) {
  const TimelineRank& rank = desc.ranks.ranks[index];
  TimelineRow row;
  row.kind = Kind::Rank;
  row.id = static_cast<std::uint32_t>(index);
  row.graph = rank.match;
  row.label = rank.name;
  row.detail = rank.process;
  row.folds = true;
  row.is_open = desc.opened.ranks.count(row.id) != 0;
  builder.add(row, kRank);
  if (row.is_open) return add_process(desc, rank, builder);
  if (!rank.is_shown) return;
  const auto* const match = match_of(desc, rank);
  if (match == nullptr) return;
  if (count_of(desc.levels.of(*match)) > 1) add_active(desc, *match, kRankActive, builder);
  add_nodes(desc, *match, node_height, builder);
}

// "clocks aligned within 12.3 us".
std::string clocks_text(trace::Time error) {
  if (error == 0) return "one clock";
  if (error >= trace::kUnknownError) return "clocks not aligned";
  return "clocks aligned within " + duration_text(static_cast<double>(error));
}

void add_ranks(const TimelineLayoutDesc& desc, TimelineLayoutBuilder& builder) {
  const TimelineRanks& all = desc.ranks;
  const std::size_t folded = all.ranks.size() - all.shown;
  builder.title("RANKS", count_text(all.ranks.size()) + " ranks, " +
                             clocks_text(all.clocks->max_bound()) +
                             "; a click on a name shows or hides all rows of the rank");
  const float node_height =
      rank_node_height(desc, builder.layout.height + (folded == 0 ? 0 : kRank + kTimelineRowGap));
  const auto add_all = [&](bool shown) {
    for (std::size_t i = 0; i < all.ranks.size(); ++i) {
      if (all.ranks[i].is_shown == shown) add_rank(desc, i, node_height, builder);
    }
  };
  add_all(true);
  if (folded == 0) return;
  TimelineRow row;
  row.kind = Kind::Folded;
  row.label = count_text(folded) + " others";
  row.detail = all.matches.size() > 1
                   ? "the ranks above arrive last at collectives: they spend the least time in them"
                   : "";
  row.folds = true;
  row.is_open = desc.opened.folded;
  builder.add(row, kRank);
  if (row.is_open) add_all(false);
}

}  // namespace

void TimelineLevels::reset(const model::SampleStore* trace, model::RowsBy by) {
  if (trace_ == trace && by_ == by) return;
  trace_ = trace;
  by_ = by;
  levels_.clear();
}

void TimelineLevels::add(model::GraphKey graph, const TimelineScene& scene) {
  auto& levels = levels_[graph];
  for (const model::TimelineRow& row : scene.rows.rows)
    levels[row.group] = std::max(levels[row.group], row.level + 1);
}

std::map<std::uint32_t, std::uint32_t> TimelineLevels::of(const model::GraphEntry& entry) const {
  const auto known = levels_.find(entry.graph->key());
  if (known != levels_.end()) return known->second;
  std::map<std::uint32_t, std::uint32_t> levels;
  if (by_ == model::RowsBy::Lane && entry.statistics != nullptr && entry.statistics->samples != 0) {
    const std::uint32_t lanes = std::max(entry.graph->record().lanes, 1u);
    for (std::uint32_t lane = 0; lane < std::min(lanes, kMaxLanesAhead); ++lane) levels[lane] = 1;
  }
  return levels;
}

const TimelineRow* TimelineLayout::find(Kind kind, std::uint32_t id, std::uint32_t level,
                                        model::GraphKey graph) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const TimelineRow& r) {
    return r.kind == kind && r.id == id && r.level == level && r.graph == graph;
  });
  return found == rows.end() ? nullptr : &*found;
}

TimelineLayout make_timeline_layout(const TimelineLayoutDesc& desc) {
  TimelineLayoutBuilder builder(desc);
  if (desc.ranks.has_ranks()) {
    add_ranks(desc, builder);
  } else {
    for (const TimelineRank& process : desc.ranks.ranks) add_process(desc, process, builder);
  }
  builder.fill(desc.available_height);
  return std::move(builder.layout);
}

}  // namespace reprise::viewer
