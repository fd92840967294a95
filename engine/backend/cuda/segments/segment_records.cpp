#include "backend/cuda/segments/segment_records.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "backend/cuda/graph/transfer_nodes.hpp"
#include "base/aligned_up.hpp"
#include "plan/timing_layout.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kOutsideAlignment = 64;

CopyRows copy_parameters(const Bindings& bindings, const CopyPayload& copy) {
  return copy_rows(bindings.address[copy.source.buffer] + copy.source.offset,
                   bindings.address[copy.destination.buffer] + copy.destination.offset,
                   {copy.extent, copy.source_pitch, copy.destination_pitch});
}

// `from` remains unset.
CopyRows update_parameters(const Bindings& bindings, const UpdatePayload& update) {
  return {
      transfer_rows(bindings.address[update.buffer] + update.offset, {}), {}, update.bytes, 1, 1};
}

FillRows fill_parameters(const Bindings& bindings, const FillPayload& fill) {
  return {transfer_rows(bindings.address[fill.buffer] + fill.offset, fill.pitch),
          fill.extent.width,
          static_cast<unsigned>(fill.extent.height),
          static_cast<unsigned>(fill.extent.depth),
          fill.bits,
          fill.element_bytes};
}

bool has_shape(const SegmentRecord& record, const SegmentWork& work) {
  const auto is_same = [](const std::uint32_t(&size)[3], const Dim3& other) {
    return size[0] == other.x && size[1] == other.y && size[2] == other.z;
  };
  return is_same(record.grid_dim, work.grid) && is_same(record.block_dim, work.block) &&
         record.dynamic_shared_bytes == work.shared_bytes;
}

std::uint32_t with_slow_flag(std::uint32_t word) {
  const bool is_plain = (word & SegmentRecord::kSync) != 0 && (word & SegmentRecord::kFull) != 0 &&
                        (word & SegmentRecord::kWaits) == 0;
  return is_plain ? word : word | SegmentRecord::kSlow;
}

// The records of lists, without their parameters. A barrier of the persistent block separates
// records of which one depends on the other or takes over its shared memory.
class ListWriter {
 public:
  ListWriter(const NumberedPlan& plan, const Segment& segment, const SegmentParts& parts,
             const PersistentKernel& code, std::vector<SegmentRecord>& records,
             std::vector<SegmentRecord::Wait>& more_waits)
      : plan_(plan),
        segment_(segment),
        relations_(segment),
        parts_(parts),
        code_(code),
        records_(records),
        more_waits_(more_waits) {}

  void write(std::uint32_t list) {
    ran_at_.clear();
    synced_at_ = 0;
    is_block_used_ = false;
    const std::size_t begin = records_.size();
    for (std::uint32_t i = segment_.first_item[list]; i < segment_.first_item[list + 1]; ++i) {
      const SegmentItem& item = segment_.items[i];
      for (std::uint32_t block = 0; block < item.blocks; ++block)
        write_block(item, block, records_.size() - begin);
    }
    const std::size_t count = records_.size() - begin;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t& word = records_[begin + i].word;
      if (i % SegmentRecord::kChunk == SegmentRecord::kChunk - 1 || i == count - 1)
        word |= SegmentRecord::kLast;
      if ((word & (SegmentRecord::kPublish | SegmentRecord::kLast)) != 0)
        word |= SegmentRecord::kPost;
      word = with_slow_flag(word);
    }
  }

 private:
  // `position`: in the list.
  void write_block(const SegmentItem& item, std::uint32_t block, std::size_t position) {
    const SegmentWork work = segment_work(*plan_.plan, item.node, {});
    const std::uint32_t part = parts_.part_of[plan_.first_node + item.node];
    const RewrittenPart::Facts& code = code_.parts[part];
    const auto threads = static_cast<std::uint32_t>(work.block.volume());
    const bool is_full = (threads + kWarp - 1) / kWarp * kWarp == parts_.threads;
    const bool uses_block = code.uses_shared || code.has_barriers || work.shared_bytes != 0;

    SegmentRecord record;
    record.counter = item.node - segment_.first_node;
    bool needs_sync = uses_block && is_block_used_;
    if (block == 0) {
      const auto follow = [&](std::uint32_t from) {
        const auto ran = ran_at_.find(from);
        needs_sync = needs_sync || (ran != ran_at_.end() && ran->second >= synced_at_);
      };
      for (const LoweredEdge& edge : plan_.plan->lowered.edges_into(item.node)) follow(edge.from);
      for (const BlockRelation& relation : relations_.into(item.node)) follow(relation.from);
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
    record.word |= part | (threads - 1) << SegmentRecord::kThreadsShift;
    if (is_full) record.word |= SegmentRecord::kFull;
    const bool publishes = item.publishes && block == item.blocks - 1;
    if (publishes) record.word |= SegmentRecord::kPublish;
    write_shape(record, work, item.first_block + block);
    records_.push_back(record);
    ran_at_[item.node] = position;
    // Publishing and a last barrier of all threads separate records as well.
    if (publishes || (is_full && code.ends_together)) {
      synced_at_ = position + 1;
      is_block_used_ = false;
    }
  }

  void write_waits(SegmentRecord& record, const SegmentItem& item) {
    record.waits = item.waits;
    record.more_waits = static_cast<std::uint32_t>(more_waits_.size());
    std::uint32_t written = 0;
    for (const std::uint32_t node : segment_.waits_of(item)) {
      const std::uint32_t counter = node - segment_.first_node;
      const SegmentRecord::Wait wait{counter, segment_.item_counts[counter]};
      if (written < SegmentRecord::kWaitsInside) {
        record.first_waits[written] = wait;
      } else {
        more_waits_.push_back(wait);
      }
      ++written;
    }
  }

  static void write_shape(SegmentRecord& record, const SegmentWork& work, std::uint32_t block) {
    constexpr std::uint32_t kOne = 1u << 22;  // see SegmentRecord::divide_x
    const Dim3 grid = work.grid, threads = work.block;
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
    record.dynamic_shared_bytes = work.shared_bytes;
  }

  const NumberedPlan& plan_;
  const Segment& segment_;
  const RelationsByTarget relations_;
  const SegmentParts& parts_;
  const PersistentKernel& code_;
  std::vector<SegmentRecord>& records_;
  std::vector<SegmentRecord::Wait>& more_waits_;
  // State of the list that is being written.
  std::unordered_map<std::uint32_t, std::size_t> ran_at_;  // by node: its last record
  std::size_t synced_at_ = 0;   // the first record that no barrier follows
  bool is_block_used_ = false;  // shared memory or barriers, since the last barrier
};

// Bytes outside the records.
std::size_t outside_bytes(const Recording& recording, std::uint32_t command,
                          bool has_inline_parameters) {
  const CommandKind kind = recording.commands[command].kind;
  if (kind == CommandKind::Update) return recording.payload<UpdatePayload>(command).bytes;
  return kind == CommandKind::Dispatch && !has_inline_parameters
             ? recording.payload<DispatchPayload>(command).parameter_bytes
             : 0;
}

}  // namespace

SegmentWork segment_work(const Plan& plan, std::uint32_t node, const TransferKernels& transfers) {
  const Recording& recording = *plan.recording;
  const std::uint32_t command = plan.command_of(node);
  const CommandKind kind = recording.commands[command].kind;
  if (kind == CommandKind::Dispatch) {
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    const BackendKernel* const kernel = recording.kernels[dispatch.kernel]->backend.get();
    return {static_cast<const CudaKernel*>(kernel), dispatch.grid, dispatch.block,
            dispatch.shared_bytes};
  }
  const auto& kernel = kind == CommandKind::Fill ? transfers.fill : transfers.copy;
  return {kernel.get(), Dim3(1), Dim3(kMinSegmentThreads), 0};
}

std::vector<NumberedPlan> numbered_plans(const Plan& plan) {
  std::vector<NumberedPlan> plans{{&plan, 0}};
  if (plan.bodies.empty()) return plans;
  const TimingLayout layout = timing_layout(plan);
  const std::vector<const Plan*> bodies = body_plans(plan);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    plans.push_back({bodies[i], layout.bodies[i].first_node});
  return plans;
}

std::vector<Bindings> bindings_of_bodies(std::span<const NumberedPlan> plans,
                                         const Bindings& bindings) {
  std::vector<Bindings> made;
  if (plans.size() == 1) return made;
  const TimingLayout layout = timing_layout(*plans[0].plan);
  for (const BodyLayout& body : layout.bodies) {
    const bool is_own = body.owner == kNone;
    const NumberedPlan& owner = plans[is_own ? 0 : body.owner + 1];
    const std::uint32_t command = owner.plan->command_of(body.parent - owner.first_node);
    const Body& of = bodies_of(owner.plan->recording->commands[command])[body.branch];
    made.push_back(bindings_of_body(*owner.plan, of, is_own ? bindings : made[body.owner]));
  }
  return made;
}

SegmentParts segment_parts(const Plan& plan, const TransferKernels& transfers) {
  SegmentParts made;
  std::vector<const RewrittenPart*> found;
  std::vector<std::shared_ptr<const CudaLibrary>> libraries;
  std::vector<std::uint64_t> uses;
  std::vector<std::uint32_t> dynamic_bytes;
  std::uint32_t threads = kMinSegmentThreads;
  const auto add = [&](const NumberedPlan& of, std::uint32_t node) {
    const SegmentWork work = segment_work(*of.plan, node, transfers);
    const RewrittenPart* const part = work.kernel->persistent_part(work.block);
    const auto at = std::find(found.begin(), found.end(), part);
    const auto number = static_cast<std::uint32_t>(at - found.begin());
    made.part_of[of.first_node + node] = number;
    if (at == found.end()) {
      found.push_back(part);
      libraries.push_back(work.kernel->library());
      uses.push_back(0);
      dynamic_bytes.push_back(0);
    }
    dynamic_bytes[number] = std::max(dynamic_bytes[number], work.shared_bytes);
    uses[number] += work.grid.volume();
    threads = std::max(threads, static_cast<std::uint32_t>(work.block.volume()));
  };
  for (const NumberedPlan& of : numbered_plans(plan)) {
    made.part_of.resize(of.first_node + of.plan->lowered.nodes.size(), kNone);
    for (const Segment& segment : of.plan->lowered.segments) {
      made.lists = std::max(made.lists, segment.lists());
      for (std::uint32_t i = 0; i < segment.nodes; ++i) add(of, segment.first_node + i);
    }
  }
  made.threads = std::bit_ceil(threads);
  std::vector<std::uint32_t> order(found.size()), place(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    made.parts.push_back(found[order[i]]);
    made.libraries.push_back(std::move(libraries[order[i]]));
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

SegmentRecords::SegmentRecords(const NumberedPlan& plan, const Bindings& bindings,
                               const Segment& segment, const SegmentParts& parts,
                               const PersistentKernel& code, const std::byte* condition)
    : first_node_(segment.first_node),
      disabled_index_(static_cast<std::uint32_t>(parts.parts.size())),
      condition_(condition),
      nodes_(segment.nodes) {
  ListWriter writer(plan, segment, parts, code, records_, more_waits_);
  for (std::uint32_t list = 0; list < segment.lists(); ++list) {
    first_.push_back(static_cast<std::uint32_t>(records_.size()));
    writer.write(list);
  }
  first_.push_back(static_cast<std::uint32_t>(records_.size()));
  for (const SegmentRecord& record : records_) words_.push_back(record.word);
  add_nodes(plan, parts, code);
  for (std::uint32_t node = 0; node < segment.nodes; ++node)
    static_cast<void>(set(first_node_ + node, *plan.plan, bindings));
}

void SegmentRecords::add_nodes(const NumberedPlan& plan, const SegmentParts& parts,
                               const PersistentKernel& code) {
  for (const SegmentRecord& record : records_) ++nodes_[record.counter].records;
  std::uint32_t first = 0;
  std::size_t outside = 0;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.first_record = first;
    first += std::exchange(node.records, 0);
    const std::uint32_t number = first_node_ + i;
    const RewrittenPart::Facts& part = code.parts[parts.part_of[plan.first_node + number]];
    node.has_inline_parameters = part.has_inline_parameters;
    node.ends_together = part.ends_together;
    const Recording& recording = *plan.plan->recording;
    const std::uint32_t command = plan.plan->command_of(number);
    node.outside_at = outside;
    node.outside_bytes = aligned_up(outside_bytes(recording, command, part.has_inline_parameters),
                                    kOutsideAlignment);
    outside += node.outside_bytes;
    if (recording.commands[command].kind == CommandKind::Update)
      node.address_at = offsetof(CopyRows, from);
  }
  outside_.resize(outside);
  by_node_.resize(records_.size());
  for (std::uint32_t i = 0; i < records_.size(); ++i) {
    Node& node = nodes_[records_[i].counter];
    by_node_[node.first_record + node.records++] = i;
  }
}

std::optional<SegmentRecords::Range> SegmentRecords::set(std::uint32_t number, const Plan& plan,
                                                         const Bindings& bindings) noexcept {
  const Node& node = nodes_[number - first_node_];
  const auto records = records_of(node);
  if (!has_shape(records_[records.front()], segment_work(plan, number, {}))) return std::nullopt;
  const Recording& recording = *plan.recording;
  const std::uint32_t command = plan.command_of(number);
  std::array<std::byte, SegmentRecord::kInlineBytes> inside = {};
  const auto store = [&inside](const auto& parameters) {
    static_assert(sizeof parameters <= sizeof inside);
    std::memcpy(inside.data(), &parameters, sizeof parameters);
  };
  std::byte* const outside = outside_.data() + node.outside_at;
  switch (recording.commands[command].kind) {
    case CommandKind::Copy:
      store(copy_parameters(bindings, recording.payload<CopyPayload>(command)));
      break;
    case CommandKind::Fill:
      store(fill_parameters(bindings, recording.payload<FillPayload>(command)));
      break;
    case CommandKind::Update: {
      const auto& update = recording.payload<UpdatePayload>(command);
      if (update.bytes > node.outside_bytes) return std::nullopt;
      store(update_parameters(bindings, update));
      std::memcpy(outside, update.data, update.bytes);
      break;
    }
    default: {
      std::byte* const block = node.has_inline_parameters ? inside.data() : outside;
      fill_parameter_block(plan, bindings, command, block);
      const auto& dispatch = recording.payload<DispatchPayload>(command);
      for (std::uint32_t i = 0; condition_ != nullptr && i < dispatch.buffer_argument_count; ++i) {
        const BufferArgument& argument = dispatch.buffer_arguments[i];
        if (recording.buffers[argument.buffer]->kind == BufferKind::Condition)
          std::memcpy(block + argument.parameter_offset, &condition_, sizeof condition_);
      }
    }
  }
  if (node.outside_bytes != 0) {
    const std::byte* const address = memory_ + node.outside_at;
    std::memcpy(inside.data() + node.address_at, &address, sizeof address);
  }
  for (const std::uint32_t record : records)
    std::memcpy(records_[record].parameters, inside.data(), inside.size());
  return Range{records.front(), records.back() + std::size_t{1}, node.outside_at,
               node.outside_at + node.outside_bytes};
}

SegmentRecords::Range SegmentRecords::set_enabled(std::uint32_t number, bool enabled) noexcept {
  const Node& node = nodes_[number - first_node_];
  const auto records = records_of(node);
  for (const std::uint32_t record : records) {
    std::uint32_t word = words_[record];
    if (!enabled) {
      word = (word & ~(SegmentRecord::kPartMask | SegmentRecord::kSlow)) | disabled_index_;
      // In the place of the part's last barrier.
      if (node.ends_together && (word & SegmentRecord::kFull) != 0) word |= SegmentRecord::kSync;
      word = with_slow_flag(word);
    }
    records_[record].word = word;
  }
  return {records.front(), records.back() + std::size_t{1}, 0, 0};
}

std::vector<std::uint32_t> SegmentRecords::waits_of(std::uint32_t number) const {
  const SegmentRecord& record = records_[number];
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < record.waits; ++i) {
    const SegmentRecord::Wait& wait =
        i < SegmentRecord::kWaitsInside
            ? record.first_waits[i]
            : more_waits_[record.more_waits + i - SegmentRecord::kWaitsInside];
    nodes.push_back(first_node_ + wait.counter);
  }
  return nodes;
}

void SegmentRecords::place_outside(const std::byte* memory) noexcept {
  memory_ = memory;
  for (const Node& node : nodes_) {
    if (node.outside_bytes == 0) continue;
    const std::byte* const address = memory + node.outside_at;
    for (const std::uint32_t record : records_of(node))
      std::memcpy(records_[record].parameters + node.address_at, &address, sizeof address);
  }
}

}  // namespace reprise::detail
