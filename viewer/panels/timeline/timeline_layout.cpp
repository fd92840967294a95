#include "panels/timeline/timeline_layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

using Kind = TimelineRow::Kind;

constexpr float kTitle = 19, kHost = 18, kReplays = 19, kMinNodes = 17, kMaxNodes = 44, kRowGap = 3;
constexpr float kOtherNodes = 11;  // of graphs other than the shown one
constexpr float kRank = 15, kMinRankNodes = 14, kMaxRankNodes = 30;  // below a rank that is closed
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

class LayoutBuilder {
 public:
  explicit LayoutBuilder(float scale) : scale_(scale) {}

  void add(TimelineRow row, float height) {
    row.top = layout.height;
    row.height = std::round(height * scale_);
    layout.height += row.height + (row.kind == Kind::Title ? 0 : std::round(kRowGap * scale_));
    layout.rows.push_back(std::move(row));
  }
  void title(std::string text, std::string detail = {}) {
    TimelineRow row;
    row.label = std::move(text);
    row.detail = std::move(detail);
    add(std::move(row), kTitle);
  }

  TimelineLayout layout;

 private:
  float scale_;
};

void add_host(const TimelineLayoutDesc& desc, const TimelineRank& rank, LayoutBuilder& builder) {
  if (rank.threads.empty()) return;
  builder.title("HOST",
                desc.ranks.has_ranks() ? rank.process : desc.context.document->process_name());
  for (const std::uint32_t thread : rank.threads) {
    std::string label = thread_label(desc.context, thread);
    TimelineRow row;
    row.id = thread;
    if (desc.host != nullptr) {
      for (auto at = desc.host->rows.lower_bound({thread, std::uint16_t{0}});
           at != desc.host->rows.end() && at->first.first == thread; ++at) {
        row.kind = Kind::Ranges;
        row.level = at->first.second;
        row.label = std::exchange(label, {});
        builder.add(row, kHost);
      }
    }
    if (desc.activity.threads.count(thread) == 0) continue;
    row.kind = Kind::Launches;
    row.level = 0;
    row.label = std::exchange(label, {});
    builder.add(row, kHost);
  }
}

std::string queue_label(const PanelContext& context, std::uint32_t queue) {
  const auto found = context.document->queues->find(queue);
  return found == context.document->queues->end() || found->second.label.empty()
             ? "queue " + std::to_string(queue)
             : found->second.label;
}

void add_queues(const TimelineLayoutDesc& desc, const TimelineRank& rank, LayoutBuilder& builder) {
  for (const std::uint32_t device : rank.devices) {
    const auto found = desc.context.document->devices->find(device);
    builder.title(found == desc.context.document->devices->end() ? "DEVICE" : found->second.name,
                  "replays by queue");
    TimelineRow row;
    row.kind = Kind::Idle;
    row.id = device;
    row.label = "idle";
    builder.add(row, kHost);
    for (const std::uint32_t queue : rank.queues) {
      if (model::device_of(*desc.context.document, queue) != device) continue;
      row.kind = Kind::Queue;
      row.id = queue;
      row.label = queue_label(desc.context, queue);
      builder.add(row, kReplays);
    }
  }
}

// The height of the node rows of the shown graph: they share what all other rows leave.
float node_height(const TimelineLayoutDesc& desc, float others, std::size_t count) {
  const float scale = desc.context.theme.scale;
  // Label rows take at most 35 % of the height.
  const std::uint32_t label_rows = desc.shown == nullptr ? 0 : desc.shown->label_rows;
  const float labels =
      label_rows == 0
          ? 0
          : std::min(scale * (kTitle + static_cast<float>(label_rows) * (kHost + kRowGap)),
                     desc.available_height * 0.35f);
  const float height =
      (desc.available_height - others - labels) / (scale * static_cast<float>(count)) - kRowGap;
  return std::clamp(height, kMinNodes, kMaxNodes);
}

std::size_t count_of(const std::map<std::uint32_t, std::uint32_t>& levels) {
  std::size_t count = 0;
  for (const auto& [group, rows] : levels) count += rows;
  return count;
}

void add_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry, float height,
               LayoutBuilder& builder) {
  for (const auto& [group, rows] : desc.levels.of(entry)) {
    for (std::uint32_t level = 0; level < rows; ++level) {
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

// The nodes of the shown graph, with a title.
void add_shown_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry, float others,
                     LayoutBuilder& builder) {
  const std::size_t count = count_of(desc.levels.of(entry));
  if (count == 0) return;
  if (desc.shown != nullptr)
    builder.title(desc.by == model::RowsBy::Lane ? "NODES BY LANE" : nodes_by_title(desc),
                  measured_text(desc));
  add_nodes(desc, entry, node_height(desc, others + kTitle * desc.context.theme.scale, count),
            builder);
}

void add_labels(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  if (desc.shown == nullptr || desc.shown->label_rows == 0) return;
  builder.title("LABELS", "first node start to last node end");
  for (std::uint32_t level = 0; level < desc.shown->label_rows; ++level) {
    TimelineRow row;
    row.kind = Kind::Labels;
    row.level = level;
    row.graph = desc.context.view.graph;
    builder.add(row, kHost);
  }
}

void add_graphs(const TimelineLayoutDesc& desc, const TimelineRank& rank, LayoutBuilder& builder) {
  const model::GraphKey shown = desc.context.view.graph;
  std::vector<const model::GraphEntry*> graphs;
  for (const model::GraphKey key : rank.graphs) {
    if (const auto* const entry = desc.context.document->find(key)) graphs.push_back(entry);
  }
  const float scale = desc.context.theme.scale;
  const auto is_open = [&](model::GraphKey key) {
    const auto chosen = desc.opened.graphs.find(key);
    return chosen != desc.opened.graphs.end()
               ? chosen->second
               : key == shown || (rank.has_match && key == rank.match) || graphs.size() <= kMaxOpen;
  };
  builder.title("GRAPHS", graphs.size() > 1 ? "a click on a name shows or hides its nodes" : "");
  // The height of all other rows, for the node rows of the shown graph.
  float others = builder.layout.height;
  for (const model::GraphEntry* entry : graphs) {
    others += std::round(kReplays * scale) + std::round(kRowGap * scale);
    if (entry->graph->key() == shown || !is_open(entry->graph->key())) continue;
    others += static_cast<float>(count_of(desc.levels.of(*entry))) *
              (std::round(kMinNodes * scale) + std::round(kRowGap * scale));
  }
  for (const model::GraphEntry* entry : graphs) {
    TimelineRow row;
    row.kind = Kind::Replays;
    row.graph = entry->graph->key();
    row.label = entry->graph->name();
    row.is_open = is_open(row.graph);
    builder.add(row, kReplays);
    if (!row.is_open) continue;
    if (row.graph != shown) {
      add_nodes(desc, *entry, kOtherNodes, builder);
      continue;
    }
    add_shown_nodes(desc, *entry, others, builder);
    add_labels(desc, builder);
  }
}

void add_process(const TimelineLayoutDesc& desc, const TimelineRank& rank, LayoutBuilder& builder) {
  add_host(desc, rank, builder);
  add_queues(desc, rank, builder);
  add_graphs(desc, rank, builder);
}

const model::GraphEntry* match_of(const TimelineLayoutDesc& desc, const TimelineRank& rank) {
  return rank.has_match ? desc.context.document->find(rank.match) : nullptr;
}

// The height of node rows below closed ranks: they share what the rows of these ranks leave.
float rank_node_height(const TimelineLayoutDesc& desc, float others) {
  const float scale = desc.context.theme.scale;
  std::size_t count = 0;
  for (const TimelineRank& rank : desc.ranks.ranks) {
    if (!rank.is_shown) continue;
    others += scale * (kRank + kRowGap);
    if (const auto* const match = match_of(desc, rank)) count += count_of(desc.levels.of(*match));
  }
  if (count == 0) return kMinRankNodes;
  return std::clamp(
      (desc.available_height - others) / (scale * static_cast<float>(count)) - kRowGap,
      kMinRankNodes, kMaxRankNodes);
}

void add_rank(const TimelineLayoutDesc& desc, std::size_t index, float node_height,
              LayoutBuilder& builder) {
  const TimelineRank& rank = desc.ranks.ranks[index];
  TimelineRow row;
  row.kind = Kind::Rank;
  row.id = static_cast<std::uint32_t>(index);
  row.graph = rank.match;
  row.label = rank.name;
  row.detail = rank.process;
  row.is_open = desc.opened.ranks.count(row.id) != 0;
  builder.add(row, kRank);
  if (row.is_open) return add_process(desc, rank, builder);
  if (!rank.is_shown) return;
  if (const auto* const match = match_of(desc, rank)) add_nodes(desc, *match, node_height, builder);
}

// "clocks aligned within 12.3 us".
std::string clocks_text(trace::Time error) {
  if (error == 0) return "one clock";
  if (error >= trace::kUnknownError) return "clocks not aligned";
  return "clocks aligned within " + duration_text(static_cast<double>(error));
}

void add_ranks(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  const TimelineRanks& all = desc.ranks;
  const std::size_t folded = all.ranks.size() - all.shown;
  builder.title("RANKS", count_text(all.ranks.size()) + " ranks, " +
                             clocks_text(all.clocks->max_bound()) +
                             "; a click on a name shows or hides all rows of the rank");
  const float height =
      rank_node_height(desc, builder.layout.height + (folded == 0 ? 0 : kRank + kRowGap));
  const auto add_all = [&](bool shown) {
    for (std::size_t i = 0; i < all.ranks.size(); ++i) {
      if (all.ranks[i].is_shown == shown) add_rank(desc, i, height, builder);
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
  LayoutBuilder builder(desc.context.theme.scale);
  if (desc.ranks.has_ranks()) {
    add_ranks(desc, builder);
  } else {
    for (const TimelineRank& process : desc.ranks.ranks) add_process(desc, process, builder);
  }
  return std::move(builder.layout);
}

}  // namespace reprise::viewer
