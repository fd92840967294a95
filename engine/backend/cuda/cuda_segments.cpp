#include "backend/cuda/cuda_segments.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kStateBytes = 64 * sizeof(std::uint32_t);
constexpr std::size_t kMaxParts = 1'023;  // a record has ten bits for them, and one is free
constexpr std::size_t kMaxKernels = 64;   // kept for later graphs

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <class T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return aligned(values.size() * sizeof(T));
}

// One kernel of the plan for each part, which knows the addresses of its image's variables.
const CudaKernel& kernel_of(const Plan& plan, const PersistentPart& part) {
  for (const Segment& segment : plan.lowered.segments) {
    for (std::uint32_t node = segment.first_node; node < segment.first_node + segment.nodes;
         ++node) {
      const auto& dispatch = plan.recording->payload<DispatchPayload>(plan.command_of(node));
      const auto& kernel =
          static_cast<const CudaKernel&>(*plan.recording->kernels[dispatch.kernel]->backend);
      const PersistentPart own = kernel.persistent_part(dispatch);
      if (own.module == part.module && own.entry == part.entry) return kernel;
    }
  }
  throw std::logic_error("a part belongs to no kernel of its plan");
}

}  // namespace

std::shared_ptr<const SegmentKernel> SegmentKernels::get(
    const std::shared_ptr<const CudaContext>& context, const Plan& plan, const SegmentParts& parts,
    Variant variant) {
  if (parts.parts.size() > kMaxParts) {
    fail(ErrorCode::Unsupported, Stage::Instantiate, plan.label,
         concat("the segments of graph ", plan.label, " have ", parts.parts.size(),
                " kernels, and ", kMaxParts, " are possible"));
  }
  PersistentKernelDesc desc;
  desc.parts = parts.parts;
  desc.threads = parts.threads;
  desc.blocks_per_multiprocessor = kSegmentThreads / parts.threads;
  desc.is_timed = variant == Variant::Timed;
  desc.address_of = [&](const PersistentPart& part, std::string_view variable) {
    return kernel_of(plan, part).address_of(std::string(variable));
  };
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

CudaSegments::State::State(const std::shared_ptr<const CudaContext>& context,
                           std::uint32_t counter_count)
    : counters(context, BufferKind::Device,
               aligned(std::uint64_t{counter_count} * sizeof(std::uint32_t)) + kStateBytes,
               Stage::Instantiate, "counters of a segment"),
      progress(context, BufferKind::PinnedHost, sizeof(std::uint32_t), Stage::Instantiate,
               "progress of a segment") {
  const std::uint64_t state_at = aligned(std::uint64_t{counter_count} * sizeof(std::uint32_t));
  std::memset(progress.bytes(), 0, sizeof(std::uint32_t));
  context->pools->clear(counters.bytes(), state_at + kStateBytes,
                        context->at(Stage::Instantiate, "counters of a segment"));
  parameters.counters = counters.bytes();
  parameters.state = counters.bytes() + state_at;
  parameters.progress = progress.bytes();
  Parameters& p = parameters;
  void* const in_order[] = {&p.records,  &p.first, &p.counters, &p.state,    &p.more_waits,
                            &p.progress, &p.times, &p.ring,     &p.row_mask, &p.row_bytes};
  static_assert(sizeof in_order == sizeof addresses);
  std::copy(std::begin(in_order), std::end(in_order), addresses);
}

CudaSegments::CudaSegments(std::shared_ptr<const CudaContext> context,
                           std::shared_ptr<SegmentKernels> kernels, const Plan& plan,
                           const Bindings& bindings)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      parts_(segment_parts(plan)),
      kernel_(load(plan, SegmentKernels::Variant::Plain)) {
  for (const Segment& segment : plan.lowered.segments) {
    states_.push_back(std::make_unique<State>(context_, segment.nodes));
    states_.back()->lists = segment.lists();
    write(static_cast<std::uint32_t>(states_.size() - 1), plan, bindings);
  }
}

std::shared_ptr<const SegmentKernel> CudaSegments::load(const Plan& plan,
                                                        SegmentKernels::Variant variant) const {
  const SetupScope scope(*context_, Stage::Instantiate);
  std::shared_ptr<const SegmentKernel> made = kernels_->get(context_, plan, parts_, variant);
  const std::uint32_t shared_bytes = segment_shared_bytes(parts_, made->code);
  made->kernel->allow_shared_bytes(shared_bytes);
  int per_multiprocessor = 0;
  cuda_check(context_->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                 &per_multiprocessor, made->kernel->function(), static_cast<int>(parts_.threads),
                 shared_bytes),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor",
             context_->at(Stage::Instantiate, plan.label));
  const std::uint64_t resident = std::uint64_t{static_cast<std::uint32_t>(per_multiprocessor)} *
                                 context_->info.multiprocessors;
  for (const Segment& segment : plan.lowered.segments) {
    if (segment.lists() > resident) {
      fail(ErrorCode::LaunchLimits, Stage::Instantiate, plan.label,
           concat("a segment of graph ", plan.label, " needs ", segment.lists(),
                  " resident blocks, and ", resident, " fit on the device"));
    }
  }
  return made;
}

void CudaSegments::time(const Plan& plan, const SegmentTimes& times, std::uint64_t* ring) {
  if (!timed_kernel_) timed_kernel_ = load(plan, SegmentKernels::Variant::Timed);
  for (std::uint32_t segment = 0; segment < states_.size(); ++segment) {
    const SegmentTimes::Table table = times.table(segment);
    Parameters& parameters = states_[segment]->parameters;
    parameters.times = table.times;
    parameters.ring = ring;
    parameters.row_mask = table.row_mask;
    parameters.row_bytes = table.row_bytes;
  }
}

CUDA_KERNEL_NODE_PARAMS CudaSegments::node(std::uint32_t segment) {
  return node_of(segment, *kernel_);
}

CUDA_KERNEL_NODE_PARAMS CudaSegments::timed_node(std::uint32_t segment) {
  return node_of(segment, *timed_kernel_);
}

CUDA_KERNEL_NODE_PARAMS CudaSegments::node_of(std::uint32_t segment, const SegmentKernel& kernel) {
  State& state = *states_[segment];
  CUDA_KERNEL_NODE_PARAMS made = {};
  made.func = kernel.kernel->function();
  made.gridDimX = state.lists;
  made.gridDimY = made.gridDimZ = 1;
  made.blockDimX = parts_.threads;
  made.blockDimY = made.blockDimZ = 1;
  made.sharedMemBytes = segment_shared_bytes(parts_, kernel.code);
  made.kernelParams = state.addresses;
  return made;
}

std::unique_ptr<CudaSegments::Table> CudaSegments::take_table(State& state,
                                                              std::uint64_t bytes) const {
  const std::uint32_t done =
      std::atomic_ref(*reinterpret_cast<std::uint32_t*>(state.progress.bytes()))
          .load(std::memory_order_acquire);
  for (std::size_t i = 0; i + 1 < state.tables.size(); ++i) {
    Table& table = *state.tables[i];
    const auto left =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(table.last_launch) - done);
    if (left > 0 || table.bytes < bytes) continue;
    std::unique_ptr<Table> free = std::move(state.tables[i]);
    state.tables.erase(state.tables.begin() + static_cast<std::ptrdiff_t>(i));
    return free;
  }
  return std::make_unique<Table>(context_, bytes);
}

void CudaSegments::write(std::uint32_t segment, const Plan& plan, const Bindings& bindings) {
  const SetupScope scope(*context_, Stage::Instantiate);
  State& state = *states_[segment];
  SegmentRecords made =
      make_segment_records(plan, bindings, plan.lowered.segments[segment], parts_, kernel_->code);
  const std::uint64_t first_at = bytes_of(made.records), waits_at = first_at + bytes_of(made.first),
                      parameters_at = waits_at + bytes_of(made.more_waits),
                      end = parameters_at + bytes_of(made.parameters);
  state.tables.reserve(state.tables.size() + 1);
  std::unique_ptr<Table> table = take_table(state, end);
  std::byte* const base = table->memory.bytes();
  for (const auto& [record, offset] : made.addresses) {
    const std::byte* const at = base + parameters_at + offset;
    std::memcpy(made.records[record].parameters, &at, sizeof at);
  }
  std::vector<std::byte> image(end);
  const auto copy = [&](std::uint64_t at, const auto& values) {
    if (!values.empty())
      std::memcpy(image.data() + at, values.data(), values.size() * sizeof values[0]);
  };
  copy(0, made.records);
  copy(first_at, made.first);
  copy(waits_at, made.more_waits);
  copy(parameters_at, made.parameters);
  context_->pools->write(base, image, context_->at(Stage::Instantiate, "records of a segment"));
  table->first_at = first_at;
  table->waits_at = waits_at;
  if (!state.tables.empty()) state.tables.back()->last_launch = launches_;
  state.tables.push_back(std::move(table));
  state.use_last_table();
}

void CudaSegments::undo_write(std::uint32_t segment) noexcept {
  State& state = *states_[segment];
  state.tables.pop_back();
  state.use_last_table();
}

void CudaSegments::State::use_last_table() noexcept {
  const Table& table = *tables.back();
  parameters.records = table.memory.bytes();
  parameters.first = table.memory.bytes() + table.first_at;
  parameters.more_waits = table.memory.bytes() + table.waits_at;
}

}  // namespace reprise::detail
