#include "inspect/trace_inspection.hpp"

#include <algorithm>

#include "profile/device_trace.hpp"
#include "profile/process_info.hpp"
#include "runtime/core/device_core.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kBlockBytes = 16u << 20, kFlushBytes = 32u << 20;

trace::ContentState traced(InspectedRange::State state) {
  switch (state) {
    case InspectedRange::State::Stored: return trace::ContentState::Stored;
    case InspectedRange::State::NotWanted: return trace::ContentState::NotWanted;
    case InspectedRange::State::OverLimit: return trace::ContentState::OverLimit;
    case InspectedRange::State::NotRepeatable: return trace::ContentState::NotRepeatable;
    case InspectedRange::State::Removed: break;
  }
  return trace::ContentState::Removed;
}

trace::InspectedRange describe(const InspectedRange& range) {
  trace::InspectedRange record;
  record.begin = range.begin;
  record.end = range.end;
  record.width = range.extent.width;
  record.height = range.extent.height;
  record.depth = range.extent.depth;
  record.row_pitch = range.pitch.row;
  record.slice_pitch = range.pitch.slice;
  record.type = static_cast<trace::ContentType>(range.type);
  const ContentStatistics& of = range.statistics;
  record.count = of.count;
  record.zeros = of.zeros;
  record.denormals = of.denormals;
  record.infinities = of.infinities;
  record.nans = of.nans;
  record.first_nan = of.first_nan;
  record.first_infinity = of.first_infinity;
  record.min = of.min;
  record.max = of.max;
  record.mean = of.mean;
  record.norm = of.norm;
  record.hash = of.hash;
  std::copy(of.histogram.begin(), of.histogram.end(), record.histogram);
  record.state = traced(range.state);
  return record;
}

}  // namespace

void trace_inspection(const GraphReplica& replica, const Inspection& found,
                      std::span<const std::uint32_t> nodes, const InspectedValues& values) {
  static_assert(static_cast<int>(trace::ContentType::F64) == static_cast<int>(ContentType::F64));
  TraceSession& session = *replica.device()->trace()->session();
  const TraceIdentity& identity = replica.executable().trace;
  trace::Inspection record;
  record.id = session.new_id(TraceSession::Id::Inspection);
  record.graph = identity.graph;
  record.version = identity.versions.current();
  record.at = trace_now();
  record.replay = found.replays;
  record.passes = found.passes;
  record.ranges = static_cast<std::uint32_t>(found.ranges.size());
  record.note = found.note;
  session.push(record);
  std::uint64_t waiting = 0;
  for (std::uint32_t i = 0; i < found.ranges.size(); ++i) {
    const InspectedValues::Range& place = values.ranges[i];
    trace::InspectedRange range = describe(found.ranges[i]);
    range.inspection = record.id;
    range.index = i;
    if (!place.is_before) range.node = nodes[place.position];
    range.buffer = place.buffer;
    session.push(std::move(range));
    const std::vector<std::byte>& contents = found.ranges[i].contents;
    for (std::uint64_t at = 0; at < contents.size(); at += kBlockBytes) {
      trace::ContentBlock block;
      block.inspection = record.id;
      block.range = i;
      block.offset = at;
      const auto* const first = reinterpret_cast<const std::uint8_t*>(contents.data()) + at;
      block.bytes.assign(first, first + std::min<std::uint64_t>(kBlockBytes, contents.size() - at));
      waiting += block.bytes.size();
      session.push(std::move(block));
      if (waiting < kFlushBytes) continue;
      session.flush();
      waiting = 0;
    }
  }
}

}  // namespace reprise::detail
