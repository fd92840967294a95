#include "backend/cuda/segments/cuda_segments.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/segments/segment_marks.hpp"
#include "base/aligned_up.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/timing_layout.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kPartAlignment = 256;
constexpr std::uint64_t kStateBytes = 64 * sizeof(std::uint32_t);
constexpr std::size_t kMaxParts = 1'023;  // a record has ten bits for them, and one is free
constexpr std::size_t kMaxKernels = 64;   // kept for later graphs
constexpr std::size_t kConditionBytes = 64;

// True if the segments of two plans contain the same nodes.
bool have_same_nodes(std::span<const NumberedPlan> ours, std::span<const NumberedPlan> theirs) {
  const auto has_same_nodes = [](const Segment& a, const Segment& b) {
    return a.first_node == b.first_node && a.nodes == b.nodes;
  };
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                    [&](const NumberedPlan& a, const NumberedPlan& b) {
                      const auto &of_a = a.plan->lowered.segments, &of_b = b.plan->lowered.segments;
                      return a.first_node == b.first_node &&
                             a.plan->lowered.loop_condition == b.plan->lowered.loop_condition &&
                             std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                                        has_same_nodes);
                    });
}

}  // namespace

std::shared_ptr<const SegmentKernel> SegmentKernels::get(
    const std::shared_ptr<const CudaContext>& context, const Plan& plan, const SegmentParts& parts,
    Variant variant) {
  if (parts.parts.size() > kMaxParts) {
    fail(ErrorCode::Unsupported, Stage::Instantiate, plan.label,
         concat("the segments of graph ", plan.label, " have ", parts.parts.size(),
                " kernels; the limit is ", kMaxParts));
  }
  PersistentKernelDesc desc;
  desc.parts = parts.parts;
  desc.threads = parts.threads;
  desc.blocks_per_multiprocessor = kSegmentThreads / parts.threads;
  if (parts.lists > desc.blocks_per_multiprocessor * context->info.multiprocessors)
    desc.blocks_per_multiprocessor *= kLightSegments;
  desc.variant = variant;
  PersistentKernel code = make_persistent_kernel(desc);
  const std::lock_guard lock(mutex_);
  if (by_code_.size() >= kMaxKernels && !by_code_.contains(code.text))
    std::erase_if(by_code_, [](const auto& entry) { return entry.second.use_count() <= 1; });
  std::shared_ptr<const SegmentKernel>& known = by_code_[code.text];
  if (known) return known;
  auto library = std::make_shared<CudaLibrary>(context, std::as_bytes(std::span(code.text)),
                                               concat("segments of graph ", plan.label));
  const CUfunction function = library->function(PersistentKernel::kEntry);
  auto kernel = std::make_shared<const CudaKernel>(
      context, function, std::shared_ptr<const void>(std::move(library)), PersistentKernel::kEntry);
  known = std::make_shared<const SegmentKernel>(SegmentKernel{std::move(code), std::move(kernel)});
  return known;
}

CudaSegments::State::Offsets CudaSegments::State::offsets_of(
    const SegmentRecords& records) noexcept {
  const std::uint64_t first = aligned_up(records.records().size_bytes(), kPartAlignment),
                      more_waits = first + aligned_up(records.first().size_bytes(), kPartAlignment),
                      outside = more_waits +
                                aligned_up(records.more_waits().size_bytes(), kPartAlignment);
  return {first, more_waits, outside, outside + records.outside().size_bytes()};
}

CudaSegments::State::State(const std::shared_ptr<const CudaContext>& context, SegmentRecords made,
                           std::uint32_t nodes)
    : records(std::move(made)),
      offsets(offsets_of(records)),
      table(context, BufferKind::Device, offsets.end, Stage::Instantiate, "records of a segment"),
      counters(
          context, BufferKind::Device,
          aligned_up(std::uint64_t{nodes} * sizeof(std::uint32_t), kPartAlignment) + kStateBytes,
          Stage::Instantiate, "counters of a segment"),
      lists(static_cast<std::uint32_t>(records.first().size()) - 1) {
  const std::uint64_t state_at =
      aligned_up(std::uint64_t{nodes} * sizeof(std::uint32_t), kPartAlignment);
  const CallContext call = context->at(Stage::Instantiate, "records of a segment");
  context->pools->clear(counters.bytes(), state_at + kStateBytes, call);
  std::byte* const base = table.bytes();
  records.place_outside(base + offsets.outside);
  const auto write = [&](std::uint64_t at, const auto& values) {
    if (!values.empty()) context->pools->write(base + at, std::as_bytes(values), call);
  };
  write(0, records.records());
  write(offsets.first, records.first());
  write(offsets.more_waits, records.more_waits());
  write(offsets.outside, records.outside());
  parameters.records = base;
  parameters.first = base + offsets.first;
  parameters.more_waits = base + offsets.more_waits;
  parameters.counters = counters.bytes();
  parameters.state = counters.bytes() + state_at;
}

// Many changes become one of everything between them.
void CudaSegments::State::add_change(const SegmentRecords::Range& range) noexcept {
  const auto extend = [](SegmentRecords::Range& to, const SegmentRecords::Range& from) {
    to.first_record = std::min(to.first_record, from.first_record);
    to.end_record = std::max(to.end_record, from.end_record);
    if (from.first_byte == from.end_byte) return;
    const bool is_empty = to.first_byte == to.end_byte;
    to.first_byte = is_empty ? from.first_byte : std::min(to.first_byte, from.first_byte);
    to.end_byte = std::max(to.end_byte, from.end_byte);
  };
  for (std::size_t i = 0; i < change_count; ++i) {
    SegmentRecords::Range& known = changes[i];
    if (range.first_record <= known.end_record && known.first_record <= range.end_record)
      return extend(known, range);
  }
  if (change_count == kMaxChanges) {
    for (; change_count > 1; --change_count) extend(changes[0], changes[change_count - 1]);
    return extend(changes[0], range);
  }
  changes[change_count++] = range;
}

bool CudaSegments::has_segments(const Plan& plan) {
  return !plan.lowered.segments.empty() ||
         std::any_of(plan.bodies.begin(), plan.bodies.end(),
                     [](const auto& body) { return has_segments(*body); });
}

CudaSegments::CudaSegments(std::shared_ptr<const CudaContext> context,
                           std::shared_ptr<SegmentKernels> kernels, const Plan& plan,
                           const Bindings& bindings)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      parts_(segment_parts(plan, kernels_->transfers())),
      kernel_(load(plan, plan.lowered.fault_markers ? SegmentKernels::Variant::Marked
                                                    : SegmentKernels::Variant::Plain)),
      own_segments_(static_cast<std::uint32_t>(plan.lowered.segments.size())),
      state_of_(parts_.part_of.size(), kNone) {
  const SetupScope scope(*context_, Stage::Instantiate);
  make_conditions(plan);
  std::vector<SegmentRecords> records = make_records(plan, bindings);
  for (const NumberedPlan& of : numbered_plans(plan)) {
    first_state_.push_back(static_cast<std::uint32_t>(states_.size()));
    first_node_.push_back(of.first_node);
    for (const Segment& segment : of.plan->lowered.segments) {
      std::fill_n(state_of_.begin() + of.first_node + segment.first_node, segment.nodes,
                  static_cast<std::uint32_t>(states_.size()));
      states_.push_back(
          std::make_unique<State>(context_, std::move(records[states_.size()]), segment.nodes));
      if (plan.lowered.fault_markers) add_marks(*states_.back());
    }
  }
}

void CudaSegments::make_conditions(const Plan& plan) {
  std::size_t segments = 0;
  bool has_loops = false;
  for (const NumberedPlan& of : numbered_plans(plan)) {
    segments += of.plan->lowered.segments.size();
    has_loops = has_loops || of.plan->lowered.loop_condition != kNone;
  }
  if (!has_loops) return;
  loop_kernel_ = load(plan, SegmentKernels::Variant::Loop);
  // Each starts with the condition, which is set, and the number of blocks that have ended.
  const std::vector<std::uint64_t> set(segments * kConditionBytes / sizeof(std::uint64_t), 1);
  conditions_ =
      std::make_unique<const CudaMemory>(context_, BufferKind::Device, set.size() * sizeof set[0],
                                         Stage::Instantiate, "conditions of loops");
  context_->pools->write(conditions_->bytes(), std::as_bytes(std::span(set)),
                         context_->at(Stage::Instantiate, "conditions of loops"));
}

const std::byte* CudaSegments::condition_of(std::uint32_t state) const noexcept {
  return conditions_->bytes() + std::size_t{state} * kConditionBytes;
}

void CudaSegments::set_loop(std::uint32_t body, std::uint64_t* counters,
                            std::uint64_t limit) noexcept {
  Parameters& p = state(body, 0).parameters;
  p.condition = condition_of(first_state_[body + 1]);
  p.loop = counters;
  p.limit = limit;
}

void CudaSegments::add_marks(State& state) const {
  const std::size_t bytes = std::size_t{state.lists} * SegmentMark::kWarps * sizeof(SegmentMark);
  state.marks = std::make_unique<const CudaMemory>(context_, BufferKind::PinnedHost, bytes,
                                                   Stage::Instantiate, "fault markers");
  std::memset(state.marks->bytes(), 0, bytes);
  state.parameters.marks = state.marks->bytes();
}

std::vector<UnfinishedNode> CudaSegments::unfinished() const {
  std::vector<UnfinishedNode> found;
  for (std::uint32_t i = 0; i < own_segments_; ++i) {
    const State& state = *states_[i];
    if (!state.marks) continue;
    std::vector<SegmentMark> marks(std::size_t{state.lists} * SegmentMark::kWarps);
    const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(state.marks->bytes());
    for (std::size_t mark = 0; mark < marks.size(); ++mark)
      marks[mark] = std::bit_cast<SegmentMark>(std::uint64_t{words[mark]});
    const std::vector<UnfinishedNode> more = unfinished_in_segment(state.records, marks);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::vector<SegmentRecords> CudaSegments::make_records(const Plan& plan,
                                                       const Bindings& bindings) const {
  std::vector<SegmentRecords> made;
  const std::vector<NumberedPlan> plans = numbered_plans(plan);
  const std::vector<Bindings> bodies = bindings_of_bodies(plans, bindings);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool is_loop = plans[i].plan->lowered.loop_condition != kNone;
    for (const Segment& segment : plans[i].plan->lowered.segments) {
      made.emplace_back(plans[i], i == 0 ? bindings : bodies[i - 1], segment, parts_, kernel_->code,
                        is_loop ? condition_of(static_cast<std::uint32_t>(made.size())) : nullptr);
      for (std::uint32_t node = segment.first_node; node < segment.first_node + segment.nodes;
           ++node) {
        if (bindings.is_disabled(plans[i].first_node + node))
          static_cast<void>(made.back().set_enabled(node, false));
      }
    }
  }
  return made;
}

std::shared_ptr<const SegmentKernel> CudaSegments::load(const Plan& plan,
                                                        SegmentKernels::Variant variant) const {
  const SetupScope scope(*context_, Stage::Instantiate);
  std::shared_ptr<const SegmentKernel> made = kernels_->get(context_, plan, parts_, variant);
  for (const NumberedPlan& of : numbered_plans(plan)) {
    for (const Segment& segment : of.plan->lowered.segments) {
      const std::uint32_t bytes = shared_bytes(*made, segment.lists());
      made->kernel->allow_shared_bytes(bytes);
      const std::uint64_t resident =
          std::uint64_t{resident_blocks(*made, bytes)} * context_->info.multiprocessors;
      if (segment.lists() <= resident) continue;
      fail(ErrorCode::LaunchLimits, Stage::Instantiate, plan.label,
           concat("a segment of graph ", plan.label, " needs ", segment.lists(),
                  " resident blocks, and ", resident, " fit on the device"));
    }
  }
  return made;
}

std::uint32_t CudaSegments::resident_blocks(const SegmentKernel& kernel,
                                            std::uint32_t shared_bytes) const {
  int blocks = 0;
  cuda_check(
      context_->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, kernel.kernel->function(), static_cast<int>(parts_.threads), shared_bytes),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor", context_->at(Stage::Instantiate));
  return static_cast<std::uint32_t>(blocks);
}

// Beside other work, the GPU puts up to 16 blocks on the first multiprocessor that becomes free,
// where they can take twice as long. With enough shared memory, at most one more than needed fits
// on each. That takes from the cache, and is left out if twice as many as needed fit at most.
std::uint32_t CudaSegments::shared_bytes(const SegmentKernel& kernel, std::uint32_t lists) const {
  const std::uint32_t needed = segment_shared_bytes(parts_, kernel.code),
                      multiprocessors = context_->info.multiprocessors,
                      blocks = (lists + multiprocessors - 1) / multiprocessors;
  kernel.kernel->allow_shared_bytes(needed);
  if (resident_blocks(kernel, needed) <= 2 * blocks) return needed;
  const auto attribute = [this](CUdevice_attribute which) {
    int value = 0;
    cuda_check(context_->driver.cuDeviceGetAttribute(&value, which, context_->ordinal),
               "cuDeviceGetAttribute", context_->at(Stage::Instantiate));
    return static_cast<std::uint32_t>(value);
  };
  constexpr std::uint32_t kUnit = 128;
  const std::uint32_t all = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                      reserved = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
                      too_much = (all / (blocks + 2) / kUnit + 1) * kUnit;
  return std::clamp(too_much - std::min(too_much, reserved), needed,
                    std::max(needed, context_->info.limits.max_shared_bytes));
}

void CudaSegments::time(const Plan& plan, const SegmentTimes& times, std::uint64_t* ring) {
  if (!timed_kernel_) timed_kernel_ = load(plan, SegmentKernels::Variant::Timed);
  for (std::uint32_t segment = 0; segment < plan.lowered.segments.size(); ++segment) {
    const SegmentTimes::Table table = times.table(segment);
    Parameters& parameters = state(kNone, segment).parameters;
    parameters.times = table.times;
    parameters.ring = ring;
    parameters.row_mask = table.row_mask;
    parameters.row_bytes = table.row_bytes;
  }
}

CUDA_KERNEL_NODE_PARAMS CudaSegments::node(std::uint32_t body, std::uint32_t segment) {
  State& of = state(body, segment);
  if (of.parameters.condition != nullptr)
    return node_of(of, *loop_kernel_, SegmentKernels::Variant::Loop);
  return node_of(of, *kernel_,
                 of.marks ? SegmentKernels::Variant::Marked : SegmentKernels::Variant::Plain);
}

CUDA_KERNEL_NODE_PARAMS CudaSegments::timed_node(std::uint32_t segment) {
  return node_of(state(kNone, segment), *timed_kernel_, SegmentKernels::Variant::Timed);
}

CUDA_KERNEL_NODE_PARAMS CudaSegments::node_of(State& state, const SegmentKernel& kernel,
                                              SegmentKernels::Variant variant) const {
  using Variant = SegmentKernels::Variant;
  Parameters& p = state.parameters;
  std::vector<void*> addresses = {&p.records, &p.first, &p.counters, &p.state, &p.more_waits};
  const auto add = [&](std::initializer_list<void*> more) {
    addresses.insert(addresses.end(), more);
  };
  switch (variant) {
    case Variant::Plain: break;
    case Variant::Timed: add({&p.times, &p.ring, &p.row_mask, &p.row_bytes}); break;
    case Variant::Marked: add({&p.marks}); break;
    case Variant::Loop: add({&p.condition, &p.loop, &p.limit}); break;
  }
  state.addresses = std::move(addresses);
  CUDA_KERNEL_NODE_PARAMS made = {};
  made.func = kernel.kernel->function();
  made.gridDimX = state.lists;
  made.gridDimY = made.gridDimZ = 1;
  made.blockDimX = parts_.threads;
  made.blockDimY = made.blockDimZ = 1;
  made.sharedMemBytes = shared_bytes(kernel, state.lists);
  made.kernelParams = state.addresses.data();
  return made;
}

bool CudaSegments::are_of_same_nodes(const Plan& plan, const Plan& other) {
  return have_same_nodes(numbered_plans(plan), numbered_plans(other));
}

bool CudaSegments::has_same_segments(const Plan& plan, const Plan& other,
                                     std::optional<std::span<const std::uint32_t>> nodes) const {
  const std::vector<NumberedPlan> ours = numbered_plans(plan), theirs = numbered_plans(other);
  if (!have_same_nodes(ours, theirs)) return false;
  // A node runs the same part if its kernel is the same and its blocks are alike.
  const auto runs_same_part = [&](std::size_t i, std::uint32_t node) {
    const SegmentWork a = segment_work(*ours[i].plan, node, kernels_->transfers()),
                      b = segment_work(*theirs[i].plan, node, kernels_->transfers());
    return (a.kernel == b.kernel && a.block == b.block) ||
           a.kernel->persistent_part(a.block) == b.kernel->persistent_part(b.block);
  };
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::vector<Segment>& segments = ours[i].plan->lowered.segments;
    if (segments != theirs[i].plan->lowered.segments) return false;
    if (nodes) continue;
    for (const Segment& segment : segments) {
      for (std::uint32_t node = 0; node < segment.nodes; ++node)
        if (!runs_same_part(i, segment.first_node + node)) return false;
    }
  }
  return !nodes || std::all_of(nodes->begin(), nodes->end(), [&](std::uint32_t node) {
    return !contains(node) || runs_same_part(0, node);
  });
}

CudaSegments::Place CudaSegments::place_of(std::uint32_t node) const noexcept {
  const auto next = std::upper_bound(first_node_.begin(), first_node_.end(), node);
  return {*states_[state_of_[node]], node - *(next - 1)};
}

bool CudaSegments::set(std::uint32_t node, const Plan& plan, const Bindings& bindings) noexcept {
  const Place at = place_of(node);
  const auto range = at.state.records.set(at.node, plan, bindings);
  if (!range) return false;
  at.state.add_change(*range);
  has_changes_ = true;
  return true;
}

void CudaSegments::set_enabled(std::uint32_t node, bool enabled) noexcept {
  const Place at = place_of(node);
  at.state.add_change(at.state.records.set_enabled(at.node, enabled));
  has_changes_ = true;
}

std::unique_ptr<CudaSegments::Records> CudaSegments::prepare(const Plan& plan,
                                                             const Bindings& bindings) const {
  auto prepared = std::make_unique<Records>();
  prepared->by_state_ = make_records(plan, bindings);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& state = *states_[i];
    SegmentRecords& records = prepared->by_state_[i];
    if (State::offsets_of(records).end != state.offsets.end) return nullptr;
    records.place_outside(state.table.bytes() + state.offsets.outside);
  }
  return prepared;
}

void CudaSegments::take(Records& records) noexcept {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = *states_[i];
    std::swap(state.records, records.by_state_[i]);
    state.change_count = 1;
    state.changes[0] = {0, state.records.records().size(), 0, state.records.outside().size()};
  }
  has_changes_ = !states_.empty();
}

void CudaSegments::send_changes(CudaQueue& queue) {
  for (const std::unique_ptr<State>& state : states_) {
    std::byte* const base = state->table.bytes();
    const SegmentRecords& records = state->records;
    for (; state->change_count != 0; --state->change_count) {
      const SegmentRecords::Range& range = state->changes[state->change_count - 1];
      const auto changed =
          records.records().subspan(range.first_record, range.end_record - range.first_record);
      queue.copy(base + range.first_record * sizeof(SegmentRecord), std::as_bytes(changed));
      if (range.first_byte == range.end_byte) continue;
      queue.copy(base + state->offsets.outside + range.first_byte,
                 records.outside().subspan(range.first_byte, range.end_byte - range.first_byte));
    }
  }
  has_changes_ = false;
}

}  // namespace reprise::detail
