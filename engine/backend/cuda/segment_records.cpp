#include "backend/cuda/segment_records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "backend/cuda/cuda_kernel.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kParameterAlignment = 64;

const DispatchPayload& dispatch_of(const Plan& plan, std::uint32_t node) {
  return plan.recording->payload<DispatchPayload>(plan.command_of(node));
}

// The records of one list. A barrier of the persistent block separates records of which one depends
// on the other or takes over its shared memory.
class ListWriter {
 public:
  ListWriter(SegmentRecords& table, const Plan& plan, const Bindings& bindings,
             const Segment& segment, const SegmentParts& parts, const PersistentKernel& code)
      : table_(table),
        plan_(plan),
        bindings_(bindings),
        segment_(segment),
        parts_(parts),
        code_(code) {}

  void write(std::uint32_t list) {
    const std::size_t begin = table_.records.size();
    for (std::uint32_t i = segment_.first_item[list]; i < segment_.first_item[list + 1]; ++i) {
      const SegmentItem& item = segment_.items[i];
      for (std::uint32_t block = 0; block < item.blocks; ++block)
        write_block(item, block, table_.records.size() - begin);
    }
    const std::size_t count = table_.records.size() - begin;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t& word = table_.records[begin + i].word;
      if (i % SegmentRecord::kChunk == SegmentRecord::kChunk - 1 || i == count - 1)
        word |= SegmentRecord::kLast;
      if ((word & (SegmentRecord::kPublish | SegmentRecord::kLast)) != 0)
        word |= SegmentRecord::kPost;
      const bool is_plain = (word & SegmentRecord::kSync) != 0 &&
                            (word & SegmentRecord::kFull) != 0 &&
                            (word & SegmentRecord::kWaits) == 0;
      if (!is_plain) word |= SegmentRecord::kSlow;
    }
  }

 private:
  // `position`: in the list.
  void write_block(const SegmentItem& item, std::uint32_t block, std::size_t position) {
    const DispatchPayload& dispatch = dispatch_of(plan_, item.node);
    const bool is_disabled = bindings_.is_disabled(item.node);
    const std::uint32_t part = parts_.part_of[item.node];
    const PersistentKernel::Part& code = code_.parts[part];
    const auto threads = static_cast<std::uint32_t>(dispatch.block.volume());
    const bool is_full = (threads + kWarp - 1) / kWarp * kWarp == parts_.threads;
    const bool uses_block =
        !is_disabled && (code.uses_shared || code.has_barriers || dispatch.shared_bytes != 0);

    SegmentRecord record;
    record.counter = item.node - segment_.first_node;
    bool needs_sync = uses_block && is_block_used_;
    if (block == 0) {
      for (const LoweredEdge& edge : plan_.lowered.edges_into(item.node)) {
        const auto ran = ran_at_.find(edge.from);
        needs_sync = needs_sync || (ran != ran_at_.end() && ran->second >= synced_at_);
      }
      if (item.waits != 0) {
        write_waits(record, item);
        record.word |= SegmentRecord::kWaits;
        needs_sync = true;
      }
    }
    if (needs_sync) {
      record.word |= SegmentRecord::kSync;
      synced_at_ = position;
      is_block_used_ = false;
    }
    is_block_used_ = is_block_used_ || uses_block;
    const std::uint32_t index =
        is_disabled ? static_cast<std::uint32_t>(parts_.parts.size()) : part;
    record.word |= index | (threads - 1) << SegmentRecord::kThreadsShift;
    if (is_full) record.word |= SegmentRecord::kFull;
    const bool publishes = item.publishes && block == item.blocks - 1;
    if (publishes) record.word |= SegmentRecord::kPublish;
    write_shape(record, dispatch, item.first_block + block);
    write_parameters(record, item.node, dispatch, code);
    table_.records.push_back(record);
    ran_at_[item.node] = position;
    // Publishing and a last barrier of all threads separate records as well.
    if (publishes || (!is_disabled && is_full && code.ends_together)) {
      synced_at_ = position + 1;
      is_block_used_ = false;
    }
  }

  void write_waits(SegmentRecord& record, const SegmentItem& item) {
    record.waits = item.waits;
    record.more_waits = static_cast<std::uint32_t>(table_.more_waits.size());
    std::uint32_t written = 0;
    for (const std::uint32_t node : segment_.waits_of(item)) {
      const std::uint32_t counter = node - segment_.first_node;
      const SegmentRecord::Wait wait{counter, segment_.item_counts[counter]};
      if (written < SegmentRecord::kWaitsInside) {
        record.first_waits[written] = wait;
      } else {
        table_.more_waits.push_back(wait);
      }
      ++written;
    }
  }

  static void write_shape(SegmentRecord& record, const DispatchPayload& dispatch,
                          std::uint32_t block) {
    constexpr std::uint32_t kOne = 1u << 22;  // see SegmentRecord::divide_x
    const Dim3 grid = dispatch.grid, threads = dispatch.block;
    record.block[0] = block % grid.x;
    record.block[1] = block / grid.x % grid.y;
    record.block[2] = block / grid.x / grid.y;
    record.divide_x = kOne / threads.x + 1;
    record.block_dim[0] = threads.x;
    record.block_dim[1] = threads.y;
    record.block_dim[2] = threads.z;
    record.divide_y = kOne / threads.y + 1;
    record.grid_dim[0] = grid.x;
    record.grid_dim[1] = grid.y;
    record.grid_dim[2] = grid.z;
    record.dynamic_shared_bytes = dispatch.shared_bytes;
  }

  void write_parameters(SegmentRecord& record, std::uint32_t node, const DispatchPayload& dispatch,
                        const PersistentKernel::Part& code) {
    const std::uint32_t command = plan_.command_of(node);
    if (code.has_inline_parameters) {
      fill_parameter_block(plan_, bindings_, command, record.parameters);
      return;
    }
    if (node != last_large_) {  // the blocks of a dispatch share one
      last_large_ = node;
      large_at_ = table_.parameters.size();
      const std::size_t bytes = (std::size_t{dispatch.parameter_bytes} + kParameterAlignment - 1) /
                                kParameterAlignment * kParameterAlignment;
      table_.parameters.resize(large_at_ + bytes);
      fill_parameter_block(plan_, bindings_, command, table_.parameters.data() + large_at_);
    }
    table_.addresses.push_back({static_cast<std::uint32_t>(table_.records.size()), large_at_});
  }

  SegmentRecords& table_;
  const Plan& plan_;
  const Bindings& bindings_;
  const Segment& segment_;
  const SegmentParts& parts_;
  const PersistentKernel& code_;
  std::unordered_map<std::uint32_t, std::size_t> ran_at_;  // by node: its last record in the list
  std::size_t synced_at_ = 0;   // the first record that no barrier follows
  bool is_block_used_ = false;  // shared memory or barriers, since the last barrier
  std::uint32_t last_large_ = kNone;
  std::size_t large_at_ = 0;
};

}  // namespace

SegmentParts segment_parts(const Plan& plan) {
  SegmentParts made;
  made.part_of.assign(plan.lowered.nodes.size(), kNone);
  std::vector<PersistentPart> found;
  std::vector<std::uint64_t> uses;
  std::vector<std::uint32_t> dynamic_bytes;
  std::uint32_t threads = kMinSegmentThreads;
  for (const Segment& segment : plan.lowered.segments) {
    for (std::uint32_t node = segment.first_node; node < segment.first_node + segment.nodes;
         ++node) {
      const DispatchPayload& dispatch = dispatch_of(plan, node);
      const auto& kernel =
          static_cast<const CudaKernel&>(*plan.recording->kernels[dispatch.kernel]->backend);
      PersistentPart part = kernel.persistent_part(dispatch);
      const auto at = std::find(found.begin(), found.end(), part);
      made.part_of[node] = static_cast<std::uint32_t>(at - found.begin());
      if (at == found.end()) {
        found.push_back(std::move(part));
        uses.push_back(0);
        dynamic_bytes.push_back(0);
      }
      std::uint32_t& bytes = dynamic_bytes[made.part_of[node]];
      bytes = std::max(bytes, dispatch.shared_bytes);
      uses[made.part_of[node]] += dispatch.grid.volume();
      threads = std::max(threads, static_cast<std::uint32_t>(dispatch.block.volume()));
    }
  }
  made.threads = std::bit_ceil(threads);
  std::vector<std::uint32_t> order(found.size()), place(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    made.parts.push_back(std::move(found[order[i]]));
    made.dynamic_shared_bytes.push_back(dynamic_bytes[order[i]]);
    place[order[i]] = i;
  }
  for (std::uint32_t& part : made.part_of)
    if (part != kNone) part = place[part];
  return made;
}

std::uint32_t segment_shared_bytes(const SegmentParts& parts, const PersistentKernel& code) {
  std::uint32_t bytes = 0;
  for (std::size_t i = 0; i < code.parts.size(); ++i)
    bytes = std::max(bytes, code.parts[i].static_shared_bytes + parts.dynamic_shared_bytes[i]);
  return code.shared_base + bytes;
}

SegmentRecords make_segment_records(const Plan& plan, const Bindings& bindings,
                                    const Segment& segment, const SegmentParts& parts,
                                    const PersistentKernel& code) {
  SegmentRecords table;
  for (std::uint32_t list = 0; list < segment.lists(); ++list) {
    table.first.push_back(static_cast<std::uint32_t>(table.records.size()));
    ListWriter(table, plan, bindings, segment, parts, code).write(list);
  }
  table.first.push_back(static_cast<std::uint32_t>(table.records.size()));
  return table;
}

}  // namespace reprise::detail
