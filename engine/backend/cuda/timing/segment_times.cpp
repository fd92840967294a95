#include "backend/cuda/timing/segment_times.hpp"

#include <algorithm>
#include <bit>

#include "lowering/segment.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20, kMaxRows = 1024;
constexpr std::size_t kWordsPerRecord = sizeof(SegmentRecordTimes) / sizeof(std::uint64_t);
// Clocks of multiprocessors may be behind that of the start timestamp.
constexpr std::uint64_t kClockSkew = 1'000'000;

std::uint32_t rows_for(std::size_t records) {
  const std::size_t fit = kMaxBytes / (records * sizeof(SegmentRecordTimes));
  return static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::size_t>(fit, 1, kMaxRows)));
}

// Threads of one block of the command.
std::uint32_t threads_of(const Plan& plan, std::uint32_t node) {
  const std::uint32_t command = plan.command_of(node);
  if (plan.recording->commands[command].kind != CommandKind::Dispatch) return kMinSegmentThreads;
  const auto& dispatch = plan.recording->payload<DispatchPayload>(command);
  return static_cast<std::uint32_t>(dispatch.block.volume());
}

}  // namespace

SegmentTimeLayout segment_time_layout(const Plan& plan) {
  SegmentTimeLayout layout;
  for (const Segment& segment : plan.lowered.segments) {
    layout.first.push_back(static_cast<std::uint32_t>(layout.records.size()));
    for (std::uint32_t list = 0; list < segment.lists(); ++list) {
      const auto first = static_cast<std::uint32_t>(layout.records.size());
      for (std::uint32_t i = segment.first_item[list]; i < segment.first_item[list + 1]; ++i) {
        const SegmentItem& item = segment.items[i];
        const auto threads = threads_of(plan, item.node);
        layout.records.insert(layout.records.end(), item.blocks,
                              {item.node, (threads + kWarp - 1) / kWarp, first});
      }
    }
  }
  layout.first.push_back(static_cast<std::uint32_t>(layout.records.size()));
  return layout;
}

void add_segment_times(const SegmentTimeLayout& layout, std::span<const SegmentRecordTimes> row,
                       const ReplayTimestamps& replay, std::span<SegmentNodeTime> nodes) {
  const std::uint64_t origin = replay.started - std::min(replay.started, kClockSkew);
  if (replay.ended - origin >= std::uint64_t{1} << 32) return;
  const auto time = [&](std::uint32_t low) {
    return origin + (low - static_cast<std::uint32_t>(origin));
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto& [number, warps, first] = layout.records[i];
    SegmentNodeTime& node = nodes[number];
    const std::uint64_t started = time(row[i].started);
    if (node.started == 0 || started < node.started) {
      node.started = started;
      node.multiprocessor = row[first].multiprocessor;
    }
    for (std::uint32_t warp = 0; warp < std::min(warps, SegmentRecordTimes::kWarps); ++warp)
      node.ended = std::max(node.ended, time(row[i].ended[warp]));
  }
}

std::unique_ptr<SegmentTimes> SegmentTimes::make(const std::shared_ptr<const CudaContext>& context,
                                                 const std::shared_ptr<Readback>& readback,
                                                 const Plan& plan) {
  if (plan.lowered.segments.empty()) return nullptr;
  SegmentTimeLayout layout = segment_time_layout(plan);
  const std::uint32_t rows = rows_for(layout.records.size());
  return std::unique_ptr<SegmentTimes>(
      new SegmentTimes(context, readback, std::move(layout), rows));
}

SegmentTimes::SegmentTimes(const std::shared_ptr<const CudaContext>& context,
                           const std::shared_ptr<Readback>& readback, SegmentTimeLayout layout,
                           std::uint32_t rows)
    : readback_(readback),
      layout_(std::move(layout)),
      rows_(rows),
      memory_(context, rows * layout_.records.size() * kWordsPerRecord),
      row_(layout_.records.size()) {}

SegmentTimes::Table SegmentTimes::table(std::uint32_t segment) const {
  const std::uint64_t record_bytes = sizeof(SegmentRecordTimes);
  return {reinterpret_cast<std::byte*>(memory_.words()) + layout_.first[segment] * record_bytes,
          rows_ - 1, static_cast<std::uint32_t>(row_.size() * record_bytes)};
}

void SegmentTimes::read(const ReplayTimestamps& replay, std::span<SegmentNodeTime> nodes) {
  const std::size_t words = row_.size() * kWordsPerRecord;
  readback_->read(memory_.words() + replay.replay % rows_ * words,
                  {reinterpret_cast<std::uint64_t*>(row_.data()), words});
  std::fill(nodes.begin(), nodes.end(), SegmentNodeTime{});
  add_segment_times(layout_, row_, replay, nodes);
}

}  // namespace reprise::detail
