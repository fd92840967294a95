#include "record/command_buffer_core.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kMaxRecorders = 65536;  // of one split()

std::uint32_t allocate_ids(std::uint32_t count) {
  static std::atomic<std::uint32_t> next{1};
  return next.fetch_add(count, std::memory_order_relaxed);
}

std::shared_ptr<RecorderFamily> make_family(std::shared_ptr<DeviceStatus> device,
                                            std::string_view label, KernelLoader load_kernel,
                                            std::unique_ptr<RecordObserver> observer) {
  auto family = std::make_shared<RecorderFamily>();
  family->label = label;
  family->device = std::move(device);
  family->load_kernel = std::move(load_kernel);
  family->observer = std::move(observer);
  return family;
}

std::shared_ptr<BufferCore> first_stale_buffer(const Recording& recording) {
  const auto found = std::find_if(recording.buffers.begin(), recording.buffers.end(),
                                  [](const auto& buffer) { return buffer->is_stale(); });
  return found == recording.buffers.end() ? nullptr : *found;
}

std::shared_ptr<const KernelCore> first_stale_kernel(const Recording& recording) {
  const auto found = std::find_if(recording.kernels.begin(), recording.kernels.end(),
                                  [](const auto& kernel) { return kernel->is_stale(); });
  if (found != recording.kernels.end()) return *found;
  for (const auto& body : recording.bodies) {
    if (auto kernel = first_stale_kernel(*body)) return kernel;
  }
  return nullptr;
}

using ReboundBodies =
    std::unordered_map<const Recording*, std::shared_ptr<const Recording>>;  // by the earlier one

// Copies the recording with other buffers and kernels. Payloads and indices stay valid. `known`:
// the copies of bodies, each of which is copied once.
std::shared_ptr<Recording> rebound(const Recording& before, const RebindBuffer& buffer,
                                   const RebindKernel& kernel, ReboundBodies& known) {
  auto after = std::make_shared<Recording>(before);
  for (auto& core : after->buffers) core = buffer(core);
  for (auto& core : after->kernels) core = kernel(core);
  for (auto& body : after->bodies) {
    std::shared_ptr<const Recording>& copy = known[body.get()];
    if (!copy) copy = rebound(*body, buffer, kernel, known);
    body = copy;
  }
  after->generation = after->device->generation.load(std::memory_order_acquire);
  return after;
}

bool is_stale(const Recording& recording) {
  return first_stale_buffer(recording) != nullptr || first_stale_kernel(recording) != nullptr;
}

}  // namespace

CommandBufferCore::CommandBufferCore(std::shared_ptr<DeviceStatus> device,
                                     const CommandBufferDesc& desc, KernelLoader load_kernel,
                                     std::unique_ptr<RecordObserver> observer)
    : family_(
          make_family(std::move(device), desc.label, std::move(load_kernel), std::move(observer))),
      ordering_(desc.ordering),
      level_(desc.level),
      main_(std::make_shared<RecorderCore>(family_)) {}

void CommandBufferCore::begin() {
  const CommandBufferState current = state();
  if (current == CommandBufferState::Recording) fail_state("begin", "end() or reset() it first");
  if (current == CommandBufferState::Pending)
    fail_state("begin", "wait for the fences of its replays first");
  if (current == CommandBufferState::Invalid) fail_state("begin", "reset() it first");
  drop_recorded();  // releases its arena, so that take() can reuse it
  main_->start(arenas_->take(), new_recorder_ids(1), nullptr);
  family_->state.store(CommandBufferState::Recording, std::memory_order_release);
  if (family_->observer) family_->observer->started();
}

void CommandBufferCore::end() {
  if (state() != CommandBufferState::Recording) fail_state("end", "begin() it first");
  check_labels_closed(*main_, "the command buffer");
  for (const SplitPoint& point : splits_) {
    for (std::size_t i = 0; i < point.recorders.size(); ++i) {
      check_labels_closed(*point.recorders[i], concat("recorder ", i, " of split()"));
    }
  }
  auto recording = std::make_shared<Recording>();
  recording->label = family_->label;
  recording->ordering = ordering_;
  recording->level = level_;
  recording->device = family_->device;
  recording->generation = family_->device->generation.load(std::memory_order_acquire);
  merge(command_runs(), *recording);
  HeldBuffers held(recording->buffers);

  static_cast<void>(main_->stop(static_cast<std::uint32_t>(recording->commands.size())));
  for (const SplitPoint& point : splits_) {
    for (const auto& recorder : point.recorders)
      static_cast<void>(recorder->stop(recorder->command_count()));
  }
  splits_.clear();
  if (family_->observer) family_->observer->ended();
  const std::lock_guard lock(mutex_);
  held_ = std::move(held);
  recording_ = std::move(recording);
  family_->state.store(CommandBufferState::Executable, std::memory_order_release);
}

void CommandBufferCore::reset() {
  if (state() == CommandBufferState::Pending)
    fail_state("reset", "wait for the fences of its replays first");
  drop_recorded();
  if (family_->observer) family_->observer->ended();
}

std::vector<std::shared_ptr<RecorderCore>> CommandBufferCore::split(std::uint32_t count) {
  if (state() != CommandBufferState::Recording) fail_state("split", "begin() it first");
  if (count == 0)
    fail("split", ErrorCode::InvalidArgument, "count is 0; request at least one recorder");
  if (count > kMaxRecorders) {
    fail("split", ErrorCode::InvalidArgument,
         concat("count is ", count, "; the limit is ", kMaxRecorders, " recorders"));
  }
  const std::uint32_t first = new_recorder_ids(count);
  SplitPoint point;
  point.after = main_->command_count();
  point.recorders.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    point.recorders.push_back(std::make_shared<RecorderCore>(family_));
    point.recorders.back()->start(arenas_->take(), first + i, main_->current_label());
  }
  auto recorders = point.recorders;
  splits_.push_back(std::move(point));
  return recorders;
}

CommandBufferState CommandBufferCore::state() const noexcept {
  const CommandBufferState state = family_->state.load(std::memory_order_acquire);
  if (state != CommandBufferState::Executable) return state;
  std::shared_ptr<const PendingSources> sources;
  std::array<std::weak_ptr<const PendingSource>, kNewPending> new_sources;
  std::size_t new_count = 0;
  std::shared_ptr<const Recording> frozen;
  {
    const std::lock_guard lock(mutex_);
    sources = pending_;
    new_count = new_pending_count_;
    std::copy_n(new_pending_.begin(), new_count, new_sources.begin());
    frozen = recording_;
  }
  const auto is_pending = [](const std::weak_ptr<const PendingSource>& weak) {
    const auto source = weak.lock();
    return source && source->is_pending();
  };
  if ((sources && std::any_of(sources->begin(), sources->end(), is_pending)) ||
      std::any_of(new_sources.begin(), new_sources.begin() + new_count, is_pending)) {
    return CommandBufferState::Pending;
  }
  return frozen && is_stale(*frozen) ? CommandBufferState::Invalid : state;
}

std::shared_ptr<const Recording> CommandBufferCore::recording() const {
  const std::lock_guard lock(mutex_);
  return recording_;
}

std::shared_ptr<const Recording> CommandBufferCore::executable(std::string_view call) const {
  std::shared_ptr<const Recording> frozen = recording();
  if (!frozen) fail_state(call, "begin(), record and end() it first");
  if (const auto buffer = first_stale_buffer(*frozen)) {
    fail(call, ErrorCode::StaleHandle,
         concat("it names ", display_name(*buffer), ", which is stale; record it again"));
  }
  if (const auto kernel = first_stale_kernel(*frozen)) {
    fail(call, ErrorCode::StaleHandle,
         concat("it names kernel ", kernel->name, ", which is stale; record it again"));
  }
  return frozen;
}

void CommandBufferCore::add_pending_source(std::weak_ptr<const PendingSource> source) {
  std::shared_ptr<const PendingSources> before;  // released after the lock
  const std::lock_guard lock(mutex_);
  if (new_pending_count_ == kNewPending) {
    auto sources = std::make_shared<PendingSources>();
    const auto is_alive = [](const auto& weak) { return !weak.expired(); };
    if (pending_)
      std::copy_if(pending_->begin(), pending_->end(), std::back_inserter(*sources), is_alive);
    std::copy_if(new_pending_.begin(), new_pending_.end(), std::back_inserter(*sources), is_alive);
    before = std::exchange(pending_, std::move(sources));
    new_pending_.fill({});
    new_pending_count_ = 0;
  }
  new_pending_[new_pending_count_++] = std::move(source);
}

void CommandBufferCore::rebind(const RebindBuffer& buffer, const RebindKernel& kernel) {
  const std::shared_ptr<const Recording> before = recording();
  if (!before) return;
  ReboundBodies known;
  auto after = rebound(*before, buffer, kernel, known);
  HeldBuffers held(after->buffers);  // after the swap: the previous buffers
  const std::lock_guard lock(mutex_);
  if (recording_ != before) return;
  recording_ = std::move(after);
  std::swap(held_, held);
}

void CommandBufferCore::fail(std::string_view call, ErrorCode code, const std::string& text) const {
  ErrorDetails details;
  details.code = code;
  details.label = family_->label;
  throw Error(std::move(details), concat(call, ": command buffer ", family_->label, ": ", text));
}

void CommandBufferCore::fail_state(std::string_view call, std::string_view fix) const {
  fail(call, ErrorCode::InvalidState, concat("it is in state ", to_string(state()), "; ", fix));
}

void CommandBufferCore::drop_recorded() {
  static_cast<void>(main_->stop(0));
  for (const SplitPoint& point : splits_) {
    for (const auto& recorder : point.recorders) static_cast<void>(recorder->stop(0));
  }
  splits_.clear();
  family_->state.store(CommandBufferState::Initial, std::memory_order_release);
  family_->ids.store(nullptr, std::memory_order_release);
  ids_.clear();
  std::shared_ptr<const Recording> recording;  // released after the lock
  HeldBuffers held;
  const std::lock_guard lock(mutex_);
  std::swap(recording_, recording);
  std::swap(held_, held);
  pending_.reset();
  new_pending_.fill({});
  new_pending_count_ = 0;
}

std::uint32_t CommandBufferCore::new_recorder_ids(std::uint32_t count) {
  ids_.push_back({allocate_ids(count), count, family_->ids.load(std::memory_order_relaxed)});
  family_->ids.store(&ids_.back(), std::memory_order_release);
  return ids_.back().first;
}

std::vector<CommandRun> CommandBufferCore::command_runs() const {
  std::vector<CommandRun> runs;
  std::uint32_t at = 0;
  for (const SplitPoint& point : splits_) {
    runs.push_back({&main_->lists(), at, point.after - at});
    at = point.after;
    for (const auto& recorder : point.recorders)
      runs.push_back({&recorder->lists(), 0, recorder->command_count()});
  }
  runs.push_back({&main_->lists(), at, main_->command_count() - at});
  return runs;
}

void CommandBufferCore::check_labels_closed(const RecorderCore& recorder,
                                            std::string_view which) const {
  if (!recorder.has_open_label()) return;
  fail("end", ErrorCode::InvalidState,
       concat("label ", recorder.label_path(), " is still open in ", which,
              "; end_label() it first"));
}

std::shared_ptr<CommandBufferCore> make_command_buffer(std::shared_ptr<DeviceStatus> device,
                                                       const CommandBufferDesc& desc,
                                                       KernelLoader load_kernel,
                                                       std::unique_ptr<RecordObserver> observer) {
  return std::make_shared<CommandBufferCore>(std::move(device), desc, std::move(load_kernel),
                                             std::move(observer));
}

}  // namespace reprise::detail
