#include "race/poisoned_recording.hpp"

#include <algorithm>
#include <utility>

namespace reprise::detail {

namespace {

// The transient as a device buffer at a fixed address.
std::shared_ptr<BufferCore> make_fixed(const BufferCore& transient, std::byte* address) {
  auto core = std::make_shared<BufferCore>();
  core->id = transient.id;
  core->kind = BufferKind::Device;
  core->bytes = transient.bytes;
  core->alignment = transient.alignment;
  core->name = transient.name;
  core->device = transient.device;
  core->generation = transient.generation;
  core->address = address;
  return core;
}

std::vector<ByteRange> common(std::span<const ByteRange> a, std::span<const ByteRange> b) {
  std::vector<ByteRange> both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const ByteRange range{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (range.begin < range.end) both.push_back(range);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return both;
}

}  // namespace

PoisonedRecording::PoisonedRecording(std::shared_ptr<const Recording> recording,
                                     const DependencyGraph& dependencies,
                                     const Placement& placement,
                                     const std::shared_ptr<BufferCore>& slab)
    : recording_(std::move(recording)),
      dependencies_(dependencies),
      transient_of_(recording_->buffers.size(), kNone),
      buffers_(recording_->buffers),
      slab_bytes_(slab ? placement.slab_bytes : 0) {
  if (!slab) return;
  for (const PlacedBuffer& placed : placement.buffers) {
    transient_of_[placed.buffer] = static_cast<std::uint32_t>(transients_.size());
    transients_.push_back(
        {.buffer = placed.buffer, .bytes = {placed.offset, placed.offset + placed.bytes}});
    buffers_[placed.buffer] = make_fixed(*buffers_[placed.buffer], slab->address + placed.offset);
  }
  slab_ = static_cast<std::uint32_t>(buffers_.size());
  buffers_.push_back(slab);
}

std::vector<PoisonedRecording::LiveRange> PoisonedRecording::live_ranges(
    std::span<const std::uint32_t> order) const {
  std::vector<LiveRange> ranges = transients_;
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    if (dependencies_.is_join[order[position]] != 0) continue;
    const Command& command = recording_->commands[dependencies_.node_command[order[position]]];
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const std::uint32_t transient =
          transient_of_[recording_->accesses[command.first_access + a].buffer];
      if (transient == kNone) continue;
      LiveRange& live = ranges[transient];
      live.first = std::min(live.first, position);
      live.last = position;
    }
  }
  std::erase_if(ranges, [](const LiveRange& live) { return live.first == kNone; });
  return ranges;
}

std::vector<ByteRange> PoisonedRecording::free_before(std::uint32_t position,
                                                      std::span<const LiveRange> ranges) const {
  std::vector<ByteRange> owned, free;
  for (const LiveRange& live : ranges) {
    if (live.first < position && live.last >= position) owned.push_back(live.bytes);
  }
  std::sort(owned.begin(), owned.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::uint64_t begin = 0;
  for (const ByteRange& range : owned) {
    if (range.begin > begin) free.push_back({begin, range.begin});
    begin = std::max(begin, range.end);
  }
  if (begin < slab_bytes_) free.push_back({begin, slab_bytes_});
  return free;
}

std::shared_ptr<const Recording> PoisonedRecording::make(std::span<const std::uint32_t> order,
                                                         std::uint32_t count,
                                                         const Poison& poison) const {
  const std::vector<LiveRange> ranges = live_ranges(order);
  std::vector<std::vector<ByteRange>> ending(order.size());
  for (const LiveRange& live : ranges) ending[live.last].push_back(live.bytes);

  LinearWriter writer(*recording_, buffers_);
  const auto fill = [&](std::span<const ByteRange> free, std::uint8_t value) {
    for (const ByteRange& range : free) writer.fill(slab_, range, value);
  };
  writer.fill(slab_, {0, slab_bytes_},
              poison.pattern_from == 0 ? poison.pattern : poison.alternate);
  for (std::uint32_t position = 0; position < count; ++position) {
    if (position == poison.pattern_from && position != 0)
      fill(free_before(position, ranges), poison.pattern);
    if (position == poison.position) fill(poison.ranges, poison.alternate);
    if (dependencies_.is_join[order[position]] == 0)
      writer.add(dependencies_.node_command[order[position]]);
    if (position == poison.position)
      fill(common(poison.ranges, free_before(position + 1, ranges)), poison.pattern);
    fill(ending[position], position < poison.pattern_from ? poison.alternate : poison.pattern);
  }
  return writer.finish();
}

}  // namespace reprise::detail
