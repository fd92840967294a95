#include "runtime/graph/graph_replica.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "plan/loops.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/trace_graph.hpp"
#include "runtime/graph/unfinished_commands.hpp"
#include "runtime/memory/memory_reclaimer.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

std::vector<BufferUse> collect_buffer_uses(const std::shared_ptr<DeviceCore>& device,
                                           const Recording& recording,
                                           const TransientMemory& memory, std::uint32_t replica) {
  std::vector<BufferUse> uses;
  std::vector<int> access(recording.buffers.size(), 0);
  for (const BufferAccess& a : recording.accesses) access[a.buffer] |= static_cast<int>(a.access);
  for (std::size_t i = 0; i < recording.buffers.size(); ++i) {
    const std::shared_ptr<BufferCore>& core = recording.buffers[i];
    auto buffer = core->kind == BufferKind::BorrowedHost ? borrow(device, *core)
                                                         : PoolBuffer::of(copy_for(core, replica));
    if (!buffer || !buffer->is_persistent()) continue;
    uses.push_back({std::move(buffer),
                    access[i] == 0 ? Access::Read : static_cast<Access>(access[i]),
                    static_cast<std::uint32_t>(i)});
  }
  if (memory.proxy) uses.push_back({memory.proxy, Access::ReadWrite, kNone});
  return uses;
}

std::shared_ptr<GraphReplica> GraphReplica::make(std::unique_ptr<GraphExecutable> executable,
                                                 const std::vector<Message>& messages) {
  executable->spec().device->deferred().prepare();
  if (executable->spec().device->trace() != nullptr) register_in_trace(*executable, messages);
  // Allocated apart from its reference counts, which kept fences hold.
  const std::shared_ptr<GraphReplica> replica(new GraphReplica(std::move(executable)));
  replica->launched_ =
      std::make_shared<LaunchedGraph>(replica->label_, replica->index_.number, replica);
  replica->executable_->tell_errors_to(replica->launched_);
  replica->attach();
  return replica;
}

GraphReplica::GraphReplica(std::unique_ptr<GraphExecutable> executable)
    : executable_(std::move(executable)),
      index_(executable_->spec().replica),
      device_(executable_->spec().device),
      pool_(executable_->spec().pool),
      label_(executable_->plan()->label),
      generation_(executable_->plan()->recording->generation),
      trace_id_(executable_->trace.graph),
      uses_(collect_buffer_uses(device_, *executable_->plan()->recording, executable_->memory,
                                index_.number)) {
  if (index_.number != 0) return;  // pools list replica 0 for the whole graph
  for (const auto& core : executable_->plan()->recording->buffers) {
    if (const auto buffer = PoolBuffer::of(core)) pools_.push_back(buffer->pool());
  }
  if (executable_->memory.proxy) pools_.push_back(executable_->memory.proxy->pool());
  if (pool_) pools_.push_back(core_of(*pool_));
  std::sort(pools_.begin(), pools_.end());
  pools_.erase(std::unique(pools_.begin(), pools_.end()), pools_.end());
}

void GraphReplica::attach() {
  std::lock_guard order(device_->order());
  for (const BufferUse& use : uses_) {
    if (use.buffer->is_stale()) {
      fail(ErrorCode::StaleHandle, Stage::Instantiate, label_,
           concat("graph ", label_, " uses ", display_name(*use.buffer),
                  ", which became stale while the graph was compiled"));
    }
    use.buffer->prepare();
  }
  for (const auto& pool : pools_) pool->prepare();
  device_->prepare_graph();
  device_->add_graph(*this, *this);
  for (const auto& pool : pools_) pool->attach(*this);
  for (const BufferUse& use : uses_) use.buffer->attach(*this, use.access);
  if (!executable_->memory.lease) return;
  executable_->memory.lease->mark_attached();
  executable_->memory.lease->set_trace_graph(trace_id_);
}

void GraphReplica::attach_pool(const std::shared_ptr<PoolCore>& pool) {
  if (index_.number != 0 || std::find(pools_.begin(), pools_.end(), pool) != pools_.end()) return;
  pool->prepare();
  pools_.push_back(pool);
  pool->attach(*this);
}

GraphReplica::~GraphReplica() {
  const auto device = device_;
  {
    std::lock_guard order(device->order());
    for (const BufferUse& use : uses_) use.buffer->detach(*this, use.access, executable_->last);
    for (const auto& pool : pools_) pool->detach(*this);
    device->remove_graph(*this, *this);
  }
  // The first replica ends last.
  if (DeviceTrace* const traced = device->trace(); traced != nullptr && index_.number == 0)
    traced->end_graph(trace_id_);
  launched_.reset();  // now only fences hold it
  executable_->replays_until = replays();
  for (auto& executable : replaced_executables_) device->deferred().push(std::move(executable));
  device->deferred().push(std::move(executable_));
}

// --- State ---

QueuePoint GraphReplica::last() const {
  std::lock_guard lock(mutex_);
  return executable_->last;
}

bool GraphReplica::is_pending() const noexcept { return !is_complete(last()); }

std::shared_ptr<const Plan> GraphReplica::current_plan() const {
  std::lock_guard lock(mutex_);
  return executable_->plan();
}

const PoolCore* GraphReplica::home_pool() const noexcept {
  return pool_ ? core_of(*pool_).get() : nullptr;
}

void GraphReplica::track(BufferHistory& buffer, Access access) noexcept {
  std::lock_guard lock(mutex_);
  const QueuePoint& last = executable_->last;
  if (last.queue) buffer.usage.add({last.queue, last.serial, access});
  shared_.store(true, std::memory_order_release);
}

void GraphReplica::set_profile(ProfileMode mode) {
  std::lock_guard lock(mutex_);
  if (executable_->log) executable_->log->set_mode(mode);
}

std::vector<LoopReport> GraphReplica::loops() {
  require_current("loops", Stage::Wait);
  std::vector<LoopReport> reports;
  for (Loop& loop : loops_of(*current_plan()->recording))
    reports.push_back({.name = std::move(loop.name), .command = loop.command});
  if (reports.empty() || replays() == 0) return reports;
  std::lock_guard lock(mutex_);
  const std::vector<LoopCount> counts = executable_->exec->loop_counts();
  for (std::size_t i = 0; i < std::min(counts.size(), reports.size()); ++i) {
    reports[i].iterations = counts[i].iterations;
    reports[i].reached_limit = counts[i].reached_limit;
  }
  return reports;
}

// --- Launches ---

void GraphReplica::require_launchable(const QueueCore& queue, Stage stage) const {
  if (queue.device() != device_) {
    fail(ErrorCode::WrongDevice, stage, label_,
         concat("graph ", label_, " of ", device_->info().selector, " cannot be launched on queue ",
                queue.label(), " of ", name_beside(*queue.device()->status(), *device_->status()),
                "; create a queue of the Device that compiled the graph"));
  }
  if (device_->status()->shut_down.load(std::memory_order_acquire)) {
    fail(ErrorCode::StaleHandle, stage, label_,
         concat("graph ", label_, " is stale: its device was shut down"));
  }
  if (generation_ != device_->generation()) {
    fail(ErrorCode::StaleHandle, stage, label_,
         concat("graph ", label_,
                " is stale: its device was lost; compile its command buffer again after "
                "Device::rebuild"));
  }
  queue.require_usable(stage);
  queue.captures().require_none(stage, label_, queue.label());
}

void GraphReplica::require_updatable(std::string_view verb) const {
  switch (executable_->spec().origin) {
    case ExecutableSpec::Origin::Compiled: break;
    case ExecutableSpec::Origin::Adopted:
      fail(ErrorCode::Unsupported, Stage::Launch, label_,
           concat(verb, ": graph ", label_,
                  " was not compiled from a command buffer; update it where it was made"));
  }
  require_current(verb, Stage::Launch);
}

void GraphReplica::require_current(std::string_view verb, Stage stage) const {
  if (generation_ == device_->generation() &&
      !device_->status()->shut_down.load(std::memory_order_acquire))
    return;
  fail(ErrorCode::StaleHandle, stage, label_,
       concat(verb, ": graph ", label_, " is stale: its device was lost or shut down"));
}

void GraphReplica::share_all() {
  for (const BufferUse& use : uses_) {
    use.buffer->prepare();
    use.buffer->share();
  }
  shared_.store(true, std::memory_order_release);
  all_shared_.store(true, std::memory_order_release);
}

void GraphReplica::wait_for_previous_launch(QueueCore& queue) {
  const QueuePoint& last = executable_->last;
  if (!last.queue || last.queue.get() == &queue) return;
  BackendQueue& other = last.queue->backend();
  if (!other.done(last.serial)) queue.backend().wait_for(other, last.serial);
}

void GraphReplica::wait_for_hazards(QueueCore& queue) {
  for (const BufferUse& use : uses_) {
    if (use.buffer->is_shared()) use.buffer->wait_for_conflicts(queue, use.access);
  }
}

void GraphReplica::record_accesses() noexcept {
  QueuePoint point = executable_->last;
  for (const BufferUse& use : uses_) {
    if (!use.buffer->is_shared()) continue;
    point.access = use.access;
    use.buffer->record(point);
  }
}

void GraphReplica::rethrow_with_names(const Error& error, const QueueCore& queue,
                                      Stage stage) const {
  throw with_context(detail::add_unfinished(error, *executable_->plan(), *executable_->exec),
                     label_,
                     stage == Stage::Launch
                         ? concat("in replay ", index_.replay_of(replays() + 1), " of graph ",
                                  label_, " on queue ", queue.label())
                         : concat("in the upload of graph ", label_, " on queue ", queue.label()));
}

template <class Submission>
void GraphReplica::submit(const std::shared_ptr<QueueCore>& queue, Stage stage,
                          Submission&& submission) {
  if (!queue)
    fail(ErrorCode::InvalidArgument, stage, label_,
         concat("graph ", label_, " was given an empty Queue"));
  // On an adopted queue, the application may submit more work on the same buffers, which the engine
  // does not see.
  if (queue->origin() == QueueOrigin::Adopted && !all_shared_.load(std::memory_order_acquire)) {
    std::lock_guard order(device_->order());
    share_all();
  }
  for (;;) {
    std::unique_lock<std::mutex> order;
    const bool shared = is_shared();
    if (shared) order = std::unique_lock(device_->order());
    std::unique_lock lock(mutex_);
    // A buffer became shared since the check above: retry with order() held.
    if (shared != shared_.load(std::memory_order_relaxed)) continue;
    require_launchable(*queue, stage);
    if (residency_.needs_map()) [[unlikely]] {
      lock.unlock();
      if (order) order.unlock();
      make_resident();
      continue;
    }
    if (stage == Stage::Upload && is_uploaded()) return;
    QueuePoint& last = executable_->last;
    try {
      wait_for_previous_launch(*queue);
      if (shared && stage == Stage::Launch) wait_for_hazards(*queue);
      last.serial = submission();
    } catch (const Error& error) {
      rethrow_with_names(error, *queue, stage);
    }
    if (last.queue != queue) last.queue = queue->without_handle();
    if (shared && stage == Stage::Launch) record_accesses();
    return;
  }
}

std::uint64_t GraphReplica::submit_replay(QueueCore& queue) {
  BackendExec& exec = *executable_->exec;
  ReplayLog* const log = executable_->log.get();
  const std::uint64_t replay =
      replays_.load(std::memory_order_relaxed) - executable_->replays_before + 1;
  const NvtxRange range(NvtxWork::Replay, label_, index_.replay_of(replay));
  if (log == nullptr || !log->begin_launch(replay)) return exec.launch(queue.backend());
  LaunchRecord note{replay, trace_now(), 0, queue.trace_id(), thread_number()};
  const std::uint64_t serial = exec.launch(queue.backend());
  note.returned = trace_now();
  log->record_launch(note);
  return serial;
}

Fence GraphReplica::launch(const std::shared_ptr<GraphReplica>& self,
                           const std::shared_ptr<QueueCore>& queue) {
  std::uint64_t serial = 0, replay = 0;
  submit(queue, Stage::Launch, [&] {
    replay = replays_.load(std::memory_order_relaxed) + 1;
    const LaunchedCollectives& collectives = executable_->spec().collectives;
    for (RankAgreement* const ranks : collectives.ranks) {
      launched_->has_collectives.store(true, std::memory_order_relaxed);
      ranks->record_launch(collectives.hash, index_.replay_of(replay), index_.number, self);
    }
    serial = submit_replay(*queue);
    replays_.store(replay, std::memory_order_relaxed);
    uploaded_.store(true, std::memory_order_relaxed);
    return serial;
  });
  return make_handle<Fence>(queue->without_handle(), serial, launched_, index_.replay_of(replay));
}

void GraphReplica::launch_uncounted(const std::shared_ptr<QueueCore>& queue, BackendExec& exec) {
  submit(queue, Stage::Launch, [&] { return exec.launch(queue->backend()); });
}

void GraphReplica::upload(const std::shared_ptr<QueueCore>& queue) {
  submit(queue, Stage::Upload, [&] {
    const DeviceTrace* const trace = device_->trace();
    const NvtxRange range(NvtxWork::Upload, label_);
    HostSpan span(trace == nullptr ? nullptr : trace->session(), concat("upload ", label_));
    if (trace != nullptr) span.set_graph(trace_id_);
    executable_->exec->upload(queue->backend());
    const std::uint64_t serial = queue->backend().mark();
    uploaded_.store(true, std::memory_order_relaxed);
    return serial;
  });
}

// --- Residency ---

void GraphReplica::make_resident() {
  const auto map = [this] {
    std::lock_guard order(device_->order());
    std::lock_guard lock(mutex_);
    if (residency_.map(executable_->memory, label_)) trace_memory("slab-remapped", "mapped");
  };
  const PoolCore* const pool = home_pool();
  MemoryReclaimer(*device_).retry(
      label_, concat("to map the slab of graph ", label_, ", which was trimmed"), map,
      [pool](const Error& error) {
        return MemoryReclaimer::Scope{
            .holders = error.code() == ErrorCode::SlabExhausted ? pool : nullptr};
      });
}

void GraphReplica::pin_resident() {
  {
    std::lock_guard lock(mutex_);
    residency_.pin();
  }
  try {
    make_resident();
  } catch (...) {
    unpin_resident();
    throw;
  }
}

void GraphReplica::unpin_resident() noexcept {
  std::lock_guard lock(mutex_);
  residency_.unpin();
}

HeldSlab GraphReplica::held_slab() const {
  std::lock_guard lock(mutex_);
  const TransientMemory& memory = executable_->memory;
  if (memory.lease) {
    PoolSlab& slab = memory.lease->slab();
    return {slab.mapped_bytes(), memory.proxy, &slab};
  }
  return {memory.own && !memory.own->is_unmapped() ? memory.own->footprint_bytes() : 0};
}

TrimResult GraphReplica::trim_own_slab(std::uint64_t& bytes) {
  std::lock_guard lock(mutex_);
  const TrimResult result = residency_.unmap_own(executable_->memory, executable_->last, bytes);
  if (result == TrimResult::Trimmed) trace_memory("slab-trimmed", "unmapped");
  return result;
}

bool GraphReplica::can_trim() const {
  std::lock_guard lock(mutex_);
  return !residency_.is_pinned() && is_complete(executable_->last);
}

void GraphReplica::mark_trimmed() {
  std::lock_guard lock(mutex_);
  residency_.mark_unmapped();
}

void GraphReplica::trace_trim() const {
  std::lock_guard lock(mutex_);
  trace_memory("slab-trimmed", "unmapped");
}

void GraphReplica::trace_memory(std::string_view id, std::string_view verb) const {
  DeviceTrace* const trace = device_->trace();
  if (trace == nullptr) return;
  const TransientMemory& memory = executable_->memory;
  Message message;
  message.severity = Severity::Info;
  message.id = id;
  message.text =
      concat("graph ", label_, " ", verb, " the ",
             memory.lease ? memory.lease->slab().footprint_bytes() : memory.own->footprint_bytes(),
             " bytes of ", memory.lease ? "the slab that it shares" : "its transient buffers");
  trace->report(trace_id_, message);
}

// --- Edit ---

void GraphReplica::Edit::replace_executable(std::unique_ptr<GraphExecutable> next,
                                            Upload upload) const {
  GraphReplica& replica = replica_;
  GraphExecutable& current = *replica.executable_;
  next->last = current.last;
  next->replays_before = replica.replays();
  next->trace = current.trace;
  auto& replaced = replica.replaced_executables_;
  replaced.reserve(replaced.size() + 1);
  if (replica.device_->trace() != nullptr) register_in_trace(*next, {});
  next->tell_errors_to(replica.launched_);
  // Nothing below throws.
  current.replays_until = replica.replays();
  if (!next->memory.is_owner()) next->memory = std::move(current.memory);
  if (next->memory.lease) next->memory.lease->set_trace_graph(replica.trace_id_);
  replica.executable_.swap(next);
  replica.uploaded_.store(upload == Upload::Done, std::memory_order_relaxed);
  if (next->plan()->recording->functions.empty()) {
    replica.device_->deferred().push(std::move(next));
  } else {
    replaced.push_back(std::move(next));
  }
}

}  // namespace reprise::detail
