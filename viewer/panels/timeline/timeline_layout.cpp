#include "panels/timeline/timeline_layout.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

using Kind = TimelineRow::Kind;

constexpr float kTitle = 19, kHost = 18, kReplays = 19, kMinNodes = 17, kMaxNodes = 44, kRowGap = 3;
constexpr float kOtherNodes = 11;             // of graphs other than the shown one
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
  const std::string source = source_name(desc.shown->block->source);
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

void add_host(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  std::set<std::uint32_t> threads;
  for (const auto& [thread, launches] : desc.activity.threads) threads.insert(thread);
  if (desc.host != nullptr) {
    for (const auto& [key, row] : desc.host->rows) threads.insert(key.first);
  }
  if (threads.empty()) return;
  builder.title("HOST", desc.context.document->process_name());
  for (const std::uint32_t thread : threads) {
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

void add_queues(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  for (const auto& [device, idle] : desc.activity.idle) {
    const auto found = desc.context.document->devices->find(device);
    builder.title(found == desc.context.document->devices->end() ? "DEVICE" : found->second.name,
                  "replays by queue");
    TimelineRow row;
    row.kind = Kind::Idle;
    row.id = device;
    row.label = "idle";
    builder.add(row, kHost);
    for (const auto& [queue, replays] : desc.activity.queues) {
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

void add_nodes(const TimelineLayoutDesc& desc, const model::GraphEntry& entry, float others,
               LayoutBuilder& builder) {
  const model::GraphKey key = entry.graph->key();
  const bool is_shown = key == desc.context.view.graph;
  const auto levels = desc.levels.of(entry);
  if (levels.empty()) return;
  if (is_shown && desc.shown != nullptr)
    builder.title(desc.by == model::RowsBy::Lane ? "NODES BY LANE" : nodes_by_title(desc),
                  measured_text(desc));
  std::size_t count = 0;
  for (const auto& [group, rows] : levels) count += rows;
  const float height =
      is_shown ? node_height(desc, others + kTitle * desc.context.theme.scale, count) : kOtherNodes;
  for (const auto& [group, rows] : levels) {
    for (std::uint32_t level = 0; level < rows; ++level) {
      TimelineRow row;
      row.kind = Kind::Nodes;
      row.id = group;
      row.level = level;
      row.graph = key;
      if (level == 0) row.label = group_label(desc, entry, group);
      builder.add(row, height);
    }
  }
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

// The replayed graphs, and the shown graph.
std::vector<const model::GraphEntry*> graphs_of(const PanelContext& context) {
  std::vector<const model::GraphEntry*> graphs;
  for (const auto& [key, entry] : context.document->graphs) {
    if (!entry.replays.empty() || key == context.view.graph) graphs.push_back(&entry);
  }
  return graphs;
}

void add_graphs(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  const std::vector<const model::GraphEntry*> graphs = graphs_of(desc.context);
  const float scale = desc.context.theme.scale;
  const auto is_open = [&](model::GraphKey key) {
    const auto chosen = desc.opened.find(key);
    return chosen != desc.opened.end()
               ? chosen->second
               : key == desc.context.view.graph || graphs.size() <= kMaxOpen;
  };
  builder.title("GRAPHS", graphs.size() > 1 ? "a click on a name shows or hides its nodes" : "");
  // The height of all other rows, for the node rows of the shown graph.
  float others = builder.layout.height;
  for (const model::GraphEntry* entry : graphs) {
    others += std::round(kReplays * scale) + std::round(kRowGap * scale);
    if (entry->graph->key() == desc.context.view.graph || !is_open(entry->graph->key())) continue;
    for (const auto& [group, rows] : desc.levels.of(*entry))
      others +=
          static_cast<float>(rows) * (std::round(kMinNodes * scale) + std::round(kRowGap * scale));
  }
  for (const model::GraphEntry* entry : graphs) {
    TimelineRow row;
    row.kind = Kind::Replays;
    row.graph = entry->graph->key();
    row.label = entry->graph->name();
    row.is_open = is_open(row.graph);
    builder.add(row, kReplays);
    if (!row.is_open) continue;
    add_nodes(desc, *entry, others, builder);
    if (row.graph == desc.context.view.graph) add_labels(desc, builder);
  }
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
  add_host(desc, builder);
  add_queues(desc, builder);
  add_graphs(desc, builder);
  return std::move(builder.layout);
}

}  // namespace reprise::viewer
