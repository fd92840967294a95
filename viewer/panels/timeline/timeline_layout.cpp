#include "panels/timeline/timeline_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

using Kind = TimelineRow::Kind;

constexpr float kTitle = 19, kHost = 18, kReplays = 19, kMinNodes = 17, kMaxNodes = 44, kRowGap = 3;

std::string thread_label(const PanelContext& context, std::uint32_t thread) {
  const auto& names = *context.document->thread_names;
  const auto found = names.find(thread);
  return found == names.end() || found->second.empty() ? "thread " + std::to_string(thread)
                                                       : found->second;
}

std::string group_label(const TimelineLayoutDesc& desc, std::uint32_t group) {
  if (desc.by == model::RowsBy::Lane) {
    return desc.context.graph()->record().lanes == 0 ? "no lanes" : "lane " + std::to_string(group);
  }
  const bool is_stream =
      desc.shown != nullptr && desc.shown->block->source == trace::SampleSource::Cupti;
  return (is_stream ? "stream " : "worker ") + std::to_string(group);
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
  std::set<std::uint32_t> threads = desc.threads;
  if (desc.host != nullptr) {
    for (const auto& [key, row] : desc.host->rows) threads.insert(key.first);
  }
  if (threads.empty()) return;
  builder.title("HOST");
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
    if (desc.threads.count(thread) == 0) continue;
    row.kind = Kind::Launches;
    row.level = 0;
    row.label = std::exchange(label, {});
    builder.add(row, kHost);
  }
}

void add_replays(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  std::set<model::GraphKey> graphs = desc.graphs;
  graphs.insert(desc.context.view.graph);
  builder.title("REPLAYS");
  for (const model::GraphKey& key : graphs) {
    const model::GraphEntry* const entry = desc.context.document->find(key);
    if (entry == nullptr) continue;
    TimelineRow row;
    row.kind = Kind::Replays;
    row.graph = key;
    row.label = entry->graph->name();
    builder.add(row, kReplays);
  }
}

void add_nodes(const TimelineLayoutDesc& desc, LayoutBuilder& builder) {
  std::map<std::uint32_t, std::uint32_t> levels;  // rows per group
  const auto add_levels = [&](const TimelineScene& scene) {
    for (const model::TimelineRow& row : scene.rows.rows)
      levels[row.group] = std::max(levels[row.group], row.level + 1);
  };
  if (desc.shown != nullptr) add_levels(*desc.shown);
  if (desc.adjacent != nullptr) {
    for (const auto& [number, scene] : *desc.adjacent) add_levels(*scene);
  }
  if (levels.empty()) return;
  builder.title(desc.by == model::RowsBy::Lane ? "NODES BY LANE" : "NODES BY WORKER",
                measured_text(desc));
  std::uint32_t count = 0;
  for (const auto& [group, group_levels] : levels) count += group_levels;
  const float scale = desc.context.theme.scale;
  // Label rows take at most 35 % of the height; node rows share the rest.
  const std::uint32_t label_rows = desc.shown == nullptr ? 0 : desc.shown->label_rows;
  const float labels =
      label_rows == 0
          ? 0
          : std::min(scale * (kTitle + static_cast<float>(label_rows) * (kHost + kRowGap)),
                     desc.available_height * 0.35f);
  const float row_height = (desc.available_height - builder.layout.height - labels) /
                               (scale * static_cast<float>(count)) -
                           kRowGap;
  const float height = std::clamp(row_height, kMinNodes, kMaxNodes);
  for (const auto& [group, group_levels] : levels) {
    for (std::uint32_t level = 0; level < group_levels; ++level) {
      TimelineRow row;
      row.kind = Kind::Nodes;
      row.id = group;
      row.level = level;
      if (level == 0) row.label = group_label(desc, group);
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
    builder.add(row, kHost);
  }
}

}  // namespace

const TimelineRow* TimelineLayout::find(Kind kind, std::uint32_t id, std::uint32_t level) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const TimelineRow& r) {
    return r.kind == kind && r.id == id && r.level == level;
  });
  return found == rows.end() ? nullptr : &*found;
}

const TimelineRow* TimelineLayout::find(model::GraphKey replays) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const TimelineRow& r) {
    return r.kind == Kind::Replays && r.graph == replays;
  });
  return found == rows.end() ? nullptr : &*found;
}

TimelineLayout make_timeline_layout(const TimelineLayoutDesc& desc) {
  LayoutBuilder builder(desc.context.theme.scale);
  add_host(desc, builder);
  add_replays(desc, builder);
  add_nodes(desc, builder);
  add_labels(desc, builder);
  return std::move(builder.layout);
}

}  // namespace reprise::viewer
