#include "runtime/graph/replica_snapshot.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/stages.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

void wait_for_launches(const GraphReplica& replica) {
  const QueuePoint last = replica.last();
  if (last.queue) static_cast<void>(last.queue->backend().wait(last.serial, std::nullopt));
}

ReplicaSnapshot::ReplicaSnapshot(GraphReplica& replica, std::shared_ptr<QueueCore> queue,
                                 BufferKind kind, std::string_view verb, std::string_view remedy)
    : replica_(replica), queue_(std::move(queue)) {
  const Recording& recording = *replica_.executable().plan()->recording;
  if (find_recording(recording, [](const Recording& one) { return !one.functions.empty(); })) {
    fail(ErrorCode::Unsupported, Stage::Launch, replica_.label(),
         concat(verb, ": the effects of graph ", replica_.label(),
                "'s host callbacks cannot be undone; ", remedy));
  }
  std::vector<std::shared_ptr<PoolBuffer>> written;
  for (const BufferUse& use : replica_.uses()) {
    if (use.index == kNone || !writes(use.access) || use.buffer->kind == BufferKind::Condition)
      continue;
    if (std::find(written.begin(), written.end(), use.buffer) == written.end())
      written.push_back(use.buffer);
  }
  std::uint64_t bytes = 0;
  for (const auto& buffer : written) bytes += buffer->bytes;
  try {
    saved_.emplace(make_handle<Device>(replica_.device()), std::move(written), recording, kind);
  } catch (const Error& error) {
    throw with_context(error, replica_.label(),
                       concat("for ", bytes, " bytes to save the buffers that replays of ",
                              replica_.label(), " write"));
  }
  std::unique_ptr<BackendExec> save;
  if (saved_->copy()) {
    save = instantiate(SavedMemory::Direction::Save);
    restore_ = instantiate(SavedMemory::Direction::Restore);
    replica_.launch_uncounted(queue_, *save);
  }
  wait_for_launches(replica_);
  host_.resize(saved_->host_bytes());
  saved_->save_host(host_);
}

ReplicaSnapshot::~ReplicaSnapshot() {
  try {
    wait_for_launches(replica_);
  } catch (...) {
    // A lost device executes nothing; the caller already has the cause.
  }
}

void ReplicaSnapshot::restore() {
  wait_for_launches(replica_);
  saved_->restore_host(host_);
  if (restore_) replica_.launch_uncounted(queue_, *restore_);
}

// No graph, so that the buffers do not become shared by it.
std::unique_ptr<BackendExec> ReplicaSnapshot::instantiate(SavedMemory::Direction direction) const {
  const DeviceCore& device = *replica_.device();
  auto plan = make_plan("saved contents",
                        core_of(saved_->record("saved contents", direction))->executable("save"),
                        {.alignment = device.info().limits.buffer_alignment});
  return device.backend().instantiate(plan, bind(*plan, nullptr, 0), Instrumentation::None);
}

}  // namespace reprise::detail
