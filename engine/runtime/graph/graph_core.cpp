#include "runtime/graph/graph_core.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "plan/loops.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/device_lost_details.hpp"
#include "runtime/graph/graph_replicas.hpp"
#include "runtime/graph/trace_graph.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

std::shared_ptr<GraphCore> GraphCore::make(std::unique_ptr<GraphExecutable> body,
                                           CompileReport report) {
  body->device->retired().prepare();
  if (body->device->trace() != nullptr) trace_graph(*body, report.messages);
  auto graph = std::make_shared<GraphCore>(std::move(body), std::move(report));
  graph->attach();
  return graph;
}

GraphCore::GraphCore(std::unique_ptr<GraphExecutable> body, CompileReport report)
    : body_(std::move(body)),
      instance_(body_->instance),
      traced_as_(body_->trace_id),
      device_(body_->device),
      pool_(body_->pool),
      label_(body_->plan->label),
      report_(std::move(report)),
      generation_(body_->plan->recording->generation) {
  collect_uses();
}

void GraphCore::set_replicas(std::unique_ptr<GraphReplicas> replicas) noexcept {
  replicas_ = std::move(replicas);
}

std::vector<GraphCore::Use> GraphCore::uses_of(const Recording& recording,
                                               const TransientMemory& memory) const {
  std::vector<Use> uses;
  std::vector<int> access(recording.buffers.size(), 0);
  for (const BufferAccess& a : recording.accesses) access[a.buffer] |= static_cast<int>(a.access);
  for (std::size_t i = 0; i < recording.buffers.size(); ++i) {
    auto buffer = PoolBuffer::of(copy_for(recording.buffers[i], instance_.number));
    if (!buffer || !buffer->is_persistent()) continue;
    uses.push_back({std::move(buffer),
                    access[i] == 0 ? Access::Read : static_cast<Access>(access[i]),
                    static_cast<std::uint32_t>(i)});
  }
  if (memory.shared) uses.push_back({memory.shared, Access::ReadWrite, kNone});
  return uses;
}

void GraphCore::collect_uses() {
  uses_ = uses_of(*body_->plan->recording, body_->memory);
  if (instance_.number != 0) return;  // pools know a graph by its first instance
  for (const auto& core : body_->plan->recording->buffers) {
    if (const auto buffer = PoolBuffer::of(core)) pools_.push_back(buffer->pool());
  }
  if (body_->memory.shared) pools_.push_back(body_->memory.shared->pool());
  if (body_->pool) pools_.push_back(core_of(*body_->pool));
  std::sort(pools_.begin(), pools_.end());
  pools_.erase(std::unique(pools_.begin(), pools_.end()), pools_.end());
}

void GraphCore::attach() {
  std::lock_guard order(device()->order());
  for (const Use& use : uses_) {
    if (use.buffer->is_stale()) {
      fail(ErrorCode::StaleHandle, Stage::Instantiate, label(),
           concat("graph ", label(), " uses ", display_name(*use.buffer),
                  ", which became stale while it was compiled"));
    }
    use.buffer->prepare();
  }
  for (const auto& pool : pools_) pool->prepare();
  device()->prepare_graph();
  device()->add_graph(*this);
  for (const auto& pool : pools_) pool->attach(*this);
  for (const Use& use : uses_) use.buffer->attach(*this, use.access);
  if (!body_->memory.share) return;
  body_->memory.share->settle();
  body_->memory.share->tell(body_->trace_id);
}

GraphCore::~GraphCore() {
  const auto device = body_->device;
  {
    std::lock_guard order(device->order());
    for (const Use& use : uses_) use.buffer->detach(*this, body_->last);
    for (const auto& pool : pools_) pool->detach(*this);
    device->remove_graph(*this);
  }
  for (auto& body : replaced_executables_) device->retired().push(std::move(body));
  device->retired().push(std::move(body_));
}

QueuePoint GraphCore::last() const {
  std::lock_guard lock(mutex_);
  return body_->last;
}

bool GraphCore::is_pending() const noexcept { return !is_complete(last()); }

void GraphCore::track(PoolBuffer& buffer, Access access) noexcept {
  std::lock_guard lock(mutex_);
  if (body_->last.queue) buffer.usage().add({body_->last.queue, body_->last.serial, access});
  shared_.store(true, std::memory_order_release);
}

void GraphCore::rethrow_callback_error(std::uint64_t replay) const {
  std::exception_ptr thrown;
  replay = instance_.nth_of(replay);
  {
    std::lock_guard lock(mutex_);
    const GraphExecutable* of = body_.get();
    for (auto before = replaced_executables_.rbegin();
         before != replaced_executables_.rend() && replay <= of->replays_before; ++before)
      of = before->get();
    if (replay > of->replays_before) thrown = of->exec->callback_error(replay - of->replays_before);
  }
  if (thrown) std::rethrow_exception(thrown);
}

void GraphCore::require_launchable(const QueueCore& queue, Stage stage) const {
  if (queue.device() != device()) {
    fail(ErrorCode::WrongDevice, stage, label(),
         concat("graph ", label(), " of ", device()->info().selector, " was given queue ",
                queue.label(), " of ", queue.device()->info().selector));
  }
  if (device()->status()->shut_down.load(std::memory_order_acquire)) {
    fail(ErrorCode::StaleHandle, stage, label(),
         concat("graph ", label(), " is stale: its device was shut down"));
  }
  if (generation_ != device()->generation()) {
    fail(ErrorCode::StaleHandle, stage, label(),
         concat("graph ", label(),
                " is stale: its device was lost; compile its command buffer again after "
                "Device::rebuild"));
  }
  queue.require_current(stage);
  queue.captures().require_none(stage, label(), queue.label());
}

void GraphCore::share_all() {
  for (const Use& use : uses_) {
    use.buffer->prepare();
    use.buffer->share();
  }
  shared_.store(true, std::memory_order_release);
  all_shared_.store(true, std::memory_order_release);
}

void GraphCore::wait_for_previous_launch(QueueCore& queue) {
  const QueuePoint& last = body_->last;
  if (!last.queue || last.queue.get() == &queue) return;
  BackendQueue& other = last.queue->backend();
  if (!other.done(last.serial)) queue.backend().wait_for(other, last.serial);
}

void GraphCore::wait_for_hazards(QueueCore& queue) {
  for (const Use& use : uses_) {
    if (!use.buffer->is_shared()) continue;
    use.buffer->usage().reserve(1);
    use.buffer->usage().follow(queue, use.access);
  }
}

void GraphCore::record_accesses() noexcept {
  QueuePoint point = body_->last;
  for (const Use& use : uses_) {
    if (!use.buffer->is_shared()) continue;
    point.access = use.access;
    use.buffer->usage().replace(point);
  }
}

void GraphCore::rethrow_with_names(const Error& error, const QueueCore& queue, Stage stage) const {
  throw with_context(add_unfinished(error, *this), label(),
                     stage == Stage::Launch
                         ? concat("in replay ", instance_.replay_of(replays() + 1), " of graph ",
                                  label(), " on queue ", queue.label())
                         : concat("in the upload of graph ", label(), " on queue ", queue.label()));
}

template <class Submission>
void GraphCore::submit(const std::shared_ptr<QueueCore>& queue, Stage stage,
                       Submission&& submission) {
  // A launch on an adopted queue may be followed there by work on the same buffers that the engine
  // does not see.
  if (queue->origin() == QueueOrigin::Adopted && !all_shared_.load(std::memory_order_acquire)) {
    std::lock_guard order(device()->order());
    share_all();
  }
  for (;;) {
    std::unique_lock<std::mutex> order;
    const bool shared = is_shared();
    if (shared) order = std::unique_lock(device()->order());
    std::unique_lock lock(mutex_);
    if (shared != shared_.load(std::memory_order_relaxed))
      continue;  // shared since: once more, with the device's lock
    require_launchable(*queue, stage);
    if (trimmed_.load(std::memory_order_relaxed)) [[unlikely]] {
      lock.unlock();
      if (order) order.unlock();
      make_resident();
      continue;
    }
    if (stage == Stage::Upload && is_uploaded()) return;
    try {
      wait_for_previous_launch(*queue);
      if (shared && stage == Stage::Launch) wait_for_hazards(*queue);
      body_->last.serial = submission();
    } catch (const Error& error) {
      rethrow_with_names(error, *queue, stage);
    }
    if (body_->last.queue != queue) body_->last.queue = queue;
    if (shared && stage == Stage::Launch) record_accesses();
    return;
  }
}

std::uint64_t GraphCore::start_replay(QueueCore& queue, GraphExecutable& body) {
  ReplayLog* const log = body.log.get();
  const std::uint64_t replay =
      replays_.load(std::memory_order_relaxed) - body.replays_before + 1;  // of this executable
  const NvtxRange range(NvtxWork::Replay, label(), instance_.replay_of(replay));
  if (log == nullptr || !log->begin_launch(replay)) return body.exec->launch(queue.backend());
  LaunchNote note{replay, trace_now(), 0, queue.trace_id(), thread_number()};
  const std::uint64_t serial = body.exec->launch(queue.backend());
  note.returned = trace_now();
  log->note_launch(note);
  return serial;
}

Fence GraphCore::launch(const std::shared_ptr<GraphCore>& self,
                        const std::shared_ptr<QueueCore>& queue) {
  std::uint64_t serial = 0, replay = 0;
  submit(queue, Stage::Launch, [&] {
    serial = start_replay(*queue, *body_);
    replay = replays_.load(std::memory_order_relaxed) + 1;
    replays_.store(replay, std::memory_order_relaxed);
    uploaded_.store(true, std::memory_order_relaxed);
    return serial;
  });
  return make_handle<Fence>(queue, serial, self, instance_.replay_of(replay));
}

void GraphCore::launch_uncounted(const std::shared_ptr<QueueCore>& queue, BackendExec& exec) {
  submit(queue, Stage::Launch, [&] { return exec.launch(queue->backend()); });
}

std::optional<LoweringConfig> GraphCore::tuned() {
  std::lock_guard one(updating_);
  return tuned_;
}

void GraphCore::set_tuned(LoweringConfig choice) {
  std::lock_guard one(updating_);
  tuned_ = std::move(choice);
}

void GraphCore::set_profile(ProfileMode mode) {
  std::lock_guard lock(mutex_);
  if (body_->log) body_->log->set_mode(mode);
}

std::vector<LoopReport> GraphCore::loops() {
  std::vector<LoopReport> reports;
  for (Loop& loop : loops_of(*current_plan()->recording))
    reports.push_back({.name = std::move(loop.name), .command = loop.command});
  if (reports.empty() || replays() == 0) return reports;
  std::lock_guard lock(mutex_);
  const std::vector<LoopCount> counts = body_->exec->loop_counts();
  for (std::size_t i = 0; i < std::min(counts.size(), reports.size()); ++i) {
    reports[i].iterations = counts[i].iterations;
    reports[i].reached_limit = counts[i].reached_limit;
  }
  return reports;
}

void GraphCore::upload(const std::shared_ptr<QueueCore>& queue) {
  submit(queue, Stage::Upload, [&] {
    const DeviceTrace* const trace = device()->trace();
    const NvtxRange range(NvtxWork::Upload, label());
    HostSpan span(trace == nullptr ? nullptr : trace->session(), concat("upload ", label()));
    if (trace != nullptr) span.about(trace_id());
    body_->exec->upload(queue->backend());
    const std::uint64_t serial = queue->backend().mark();
    uploaded_.store(true, std::memory_order_relaxed);
    return serial;
  });
}

}  // namespace reprise::detail
