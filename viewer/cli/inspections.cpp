#include "cli/inspections.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/record_names.hpp"

namespace reprise::cli {

namespace {

using trace::kNone;

InspectedRange::State state_of(trace::ContentState state) {
  switch (state) {
    case trace::ContentState::Stored: return InspectedRange::State::Stored;
    case trace::ContentState::NotWanted: return InspectedRange::State::NotWanted;
    case trace::ContentState::OverLimit: return InspectedRange::State::OverLimit;
    case trace::ContentState::NotRepeatable: return InspectedRange::State::NotRepeatable;
    case trace::ContentState::Removed: break;
  }
  return InspectedRange::State::Removed;
}

using Blocks = std::map<std::uint64_t, std::vector<std::uint8_t>>;  // by offset

// The bytes of `blocks` if they are all those of the range; the trace's sizes are not trusted.
std::vector<std::byte> joined(const Blocks& blocks, std::uint64_t bytes) {
  std::uint64_t end = 0;
  for (const auto& [offset, block] : blocks) {
    if (offset != end) return {};
    end += block.size();
  }
  std::vector<std::byte> all;
  if (end != bytes) return all;
  all.reserve(bytes);
  for (const auto& [offset, block] : blocks) {
    const auto* const first = reinterpret_cast<const std::byte*>(block.data());
    all.insert(all.end(), first, first + block.size());
  }
  return all;
}

// The records of one inspection.
struct Parts {
  trace::Inspection record;
  std::map<std::uint32_t, trace::InspectedRange> ranges;  // by index
  std::map<std::uint32_t, Blocks> contents;               // by index
};

InspectedRange range_of(const trace::GraphVersion& graph, const trace::InspectedRange& record,
                        const Blocks& contents) {
  InspectedRange range;
  if (record.node != kNone) range.command = graph.nodes[record.node].command;
  range.buffer = graph.strings[graph.buffers[record.buffer].name];
  range.begin = record.begin;
  range.end = record.end;
  range.extent = {record.width, record.height, record.depth};
  range.pitch = {record.row_pitch, record.slice_pitch};
  range.type = static_cast<ContentType>(record.type);
  ContentStatistics& of = range.statistics;
  of.count = record.count;
  of.zeros = record.zeros;
  of.denormals = record.denormals;
  of.infinities = record.infinities;
  of.nans = record.nans;
  of.first_nan = record.first_nan;
  of.first_infinity = record.first_infinity;
  of.min = record.min;
  of.max = record.max;
  of.mean = record.mean;
  of.norm = record.norm;
  of.hash = record.hash;
  std::copy(std::begin(record.histogram), std::end(record.histogram), of.histogram.begin());
  range.state = state_of(record.state);
  if (range.state == InspectedRange::State::Stored) {
    range.contents = joined(contents, record.end - record.begin);
    if (range.contents.empty()) range.state = InspectedRange::State::Removed;
  }
  return range;
}

TracedInspection assemble(Parts parts, std::shared_ptr<const trace::GraphVersion> of) {
  const trace::GraphVersion& graph = *of;
  TracedInspection made{parts.record, std::move(of), {}};
  reprise::Inspection& values = made.values;
  values.graph = trace::graph_name(graph);
  values.replays = parts.record.replay;
  values.passes = parts.record.passes;
  values.note = parts.record.note;
  std::vector<const trace::InspectedRange*> records;  // by range of `values`
  for (const auto& [index, record] : parts.ranges) {
    const bool is_known = record.buffer < graph.buffers.size() &&
                          (record.node == kNone || record.node < graph.nodes.size());
    if (!is_known) continue;
    records.push_back(&record);
    values.ranges.push_back(range_of(graph, record, parts.contents[index]));
  }
  const std::size_t own_nodes =
      graph.bodies.empty() ? graph.nodes.size() : graph.bodies.front().first_node;
  std::size_t before = 0;  // ranges that exist before the node
  for (std::uint32_t n = 0; n < own_nodes; ++n) {
    const trace::Node& node = graph.nodes[n];
    if (node.command == kNone || node.kind == trace::NodeKind::Join) continue;
    while (before < records.size() && (records[before]->node == kNone || records[before]->node < n))
      ++before;
    InspectedCommand& command = values.commands.emplace_back();
    command.index = node.command;
    command.name = trace::node_name(graph, n);
    command.label = trace::label_path(graph, node.label);
    command.where = {graph.strings[node.file].c_str(), node.line};
    for (std::uint32_t a = 0; a < node.access_count; ++a) {
      const trace::NodeAccess& access = graph.accesses[node.first_access + a];
      if (access.access != trace::Access::Read && access.access != trace::Access::ReadWrite)
        continue;
      for (std::size_t i = before; i-- > 0;) {
        if (records[i]->buffer != access.buffer || records[i]->begin >= access.end ||
            records[i]->end <= access.begin)
          continue;
        command.inputs.push_back(static_cast<std::uint32_t>(i));
        break;
      }
    }
  }
  return made;
}

}  // namespace

std::vector<TracedInspection> read_inspections(
    const trace::TraceReader& reader,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<const trace::GraphVersion>>
      graphs;
  std::map<std::uint32_t, Parts> inspections;
  for (std::size_t c = 0; c < reader.chunks().size(); ++c) {
    if (progress) progress(c, reader.chunks().size());
    if (reader.chunks()[c].header.kind == trace::ChunkKind::Samples) continue;
    trace::Records records = reader.read(reader.chunks()[c]);
    for (trace::GraphVersion& graph : records.graph_versions) {
      const std::pair key(graph.graph, graph.version);
      graphs[key] = std::make_shared<const trace::GraphVersion>(std::move(graph));
    }
    for (trace::Inspection& record : records.inspections)
      inspections[record.id].record = std::move(record);
    for (const trace::InspectedRange& range : records.inspected_ranges)
      inspections[range.inspection].ranges[range.index] = range;
    for (trace::ContentBlock& block : records.content_blocks)
      inspections[block.inspection].contents[block.range][block.offset] = std::move(block.bytes);
  }
  std::vector<TracedInspection> found;
  for (auto& [id, parts] : inspections) {
    const auto graph = graphs.find({parts.record.graph, parts.record.version});
    if (graph != graphs.end()) found.push_back(assemble(std::move(parts), graph->second));
  }
  return found;
}

}  // namespace reprise::cli
