#include "profile/activity/activity_session.hpp"

#include <new>
#include <utility>

#include <reprise/error.hpp>

#include "base/creator_process.hpp"
#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

// CUPTI's id of a node: the graph's id in the upper half, the node's number in the lower half.
constexpr std::uint64_t kNumberBits = 0xffffffff;
std::uint32_t graph_part(std::uint64_t id) { return static_cast<std::uint32_t>(id >> 32); }

std::uint64_t CUPTIAPI host_clock() { return static_cast<std::uint64_t>(steady_now()); }

// Keeps the gate closed during its lifetime.
class ClosedGate {
 public:
  explicit ClosedGate(LaunchGate& gate) noexcept : gate_(gate) { gate_.close(); }
  ClosedGate(const ClosedGate&) = delete;
  ClosedGate& operator=(const ClosedGate&) = delete;
  ~ClosedGate() { gate_.open(); }

 private:
  LaunchGate& gate_;
};

}  // namespace

// Constructed after CUPTI was attached, so its destructor runs before CUPTI's own exit handlers.
struct ActivitySession::ExitGate {
  const CreatorProcess process;
  ~ExitGate() {
    if (process.is_current()) of_process().end();
  }
};

ActivitySession& ActivitySession::of_process() {
  static ActivitySession* const session = new ActivitySession;
  return *session;
}

void ActivitySession::expect(const void* identity, WaitUntilIdle wait_until_idle) {
  const std::lock_guard lock(mutex_);
  devices_.try_emplace(identity, std::move(wait_until_idle));
  expected_.store(true, std::memory_order_relaxed);
}

bool ActivitySession::wait_for_devices() noexcept {
  const Clock::time_point deadline = Clock::now() + kMaxWait;
  for (const auto& [identity, wait_until_idle] : devices_) {
    if (!wait_until_idle(deadline)) return false;
  }
  return true;
}

std::string ActivitySession::attach() {
  const CuptiLibrary& cupti = *loaded_.library;
  CUptiResult result = cupti.subscribe(&subscriber_, &on_callback, this);
  if (result != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    return cupti.describe_error("cuptiSubscribe", result);
  }
  epoch_.fetch_add(1);
  std::string why;
  const auto call = [&](const char* name, CUptiResult got) {
    if (why.empty() && got != CUPTI_SUCCESS) why = cupti.describe_error(name, got);
  };
  call("cuptiActivityRegisterCallbacks",
       cupti.register_buffers(&on_buffer_requested, &on_buffer_completed));
  call("cuptiActivityRegisterTimestampCallback", cupti.register_clock(&host_clock));
  call("cuptiEnableCallback", cupti.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                                                    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED));
  for (const CUpti_ActivityKind kind : kKinds) call("cuptiActivityEnable", cupti.enable(kind));
  if (!why.empty()) detach();
  return why;
}

void ActivitySession::detach() noexcept {
  const CuptiLibrary& cupti = *loaded_.library;
  for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(cupti.disable(kind));
  static_cast<void>(cupti.unsubscribe(std::exchange(subscriber_, nullptr)));
  static_cast<void>(cupti.finalize());
  epoch_.fetch_add(1);
  const std::lock_guard lock(owners_mutex_);
  owners_.clear();
  inner_nodes_.clear();
}

std::string ActivitySession::open(const std::function<void()>& make) {
  const std::lock_guard lock(mutex_);
  if (ended_) return "the process is exiting";
  if (loaded_.library == nullptr) loaded_ = CuptiLibrary::load(CuptiLibrary::default_search());
  if (loaded_.library == nullptr) return loaded_.why_not;
  if (subscriber_ == nullptr) {
    const ClosedGate closed(gate_);
    if (!wait_for_devices()) return std::string(kBusy);
    if (std::string why = attach(); !why.empty()) return why;
  }
  ++windows_;
  try {
    make();
  } catch (...) {
    const ClosedGate closed(gate_);
    if (--windows_ == 0 && wait_for_devices()) detach();
    throw;
  }
  static const ExitGate gate;
  return {};
}

void ActivitySession::end() noexcept {
  const std::lock_guard lock(mutex_);
  const ClosedGate closed(gate_);
  ended_ = true;
  if (subscriber_ == nullptr || !wait_for_devices()) return;
  static_cast<void>(loaded_.library->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  detach();
}

bool ActivitySession::close(const std::function<void()>& unmake) noexcept {
  const std::lock_guard lock(mutex_);
  const ClosedGate closed(gate_);
  if (!wait_for_devices()) return false;
  if (!ended_) static_cast<void>(loaded_.library->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  unmake();
  if (--windows_ == 0 && !ended_) detach();
  return true;
}

void ActivitySession::flush() noexcept {
  const std::lock_guard lock(mutex_);
  if (windows_ != 0 && !ended_) static_cast<void>(loaded_.library->flush_all(0));
}

std::uint64_t ActivitySession::id_of(CUgraphNode node) const {
  std::uint64_t id = 0;
  if (const CUptiResult result = loaded_.library->node_id(node, &id); result != CUPTI_SUCCESS) {
    ErrorDetails details;
    details.code = ErrorCode::NativeFailure;
    details.stage = Stage::Profile;
    details.native_call = "cuptiGetGraphNodeId";
    details.native_code = result;
    throw Error(std::move(details), loaded_.library->describe_error("cuptiGetGraphNodeId", result));
  }
  return id;
}

void ActivitySession::claim(CUgraphNode node, std::uint32_t place,
                            const std::shared_ptr<Sink>& sink) {
  const std::uint64_t id = id_of(node);
  const std::lock_guard lock(owners_mutex_);
  owners_[id] = {place, sink};
}

void ActivitySession::register_inner_node(CUgraphNode of, std::uint32_t number, std::uint32_t place,
                                          const std::shared_ptr<Sink>& sink) {
  const std::uint32_t graph = graph_part(id_of(of));
  const std::lock_guard lock(owners_mutex_);
  inner_nodes_[graph].push_back({number, {place, sink}});
}

void ActivitySession::on_callback(void* session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) return;
  auto& self = *static_cast<ActivitySession*>(session);
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  const auto* graph = static_cast<const CUpti_GraphData*>(resource->resourceDescriptor);
  std::uint64_t from = 0, to = 0;
  const CuptiLibrary& cupti = *self.loaded_.library;
  if (cupti.node_id(graph->originalNode, &from) != CUPTI_SUCCESS ||
      cupti.node_id(graph->node, &to) != CUPTI_SUCCESS)
    return;
  try {
    const std::lock_guard lock(self.owners_mutex_);
    const auto owner = self.owners_.find(from);
    if (owner == self.owners_.end()) return;
    self.owners_.insert_or_assign(to, Owner(owner->second));
    const auto inner = self.inner_nodes_.find(graph_part(from));
    if (inner == self.inner_nodes_.end()) return;
    for (const InnerNode& one : inner->second)
      self.owners_.insert_or_assign((to & ~kNumberBits) | one.number, one.owner);
    self.inner_nodes_.erase(inner);
  } catch (const std::bad_alloc&) {  // the node's records are then ignored
  }
}

void ActivitySession::on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                          std::size_t* records) {
  ActivitySession& self = of_process();
  *records = 0;  // no limit
  *buffer = self.buffers_.take();
  *size = *buffer == nullptr ? 0 : ActivityBuffers::kBytes;
}

void ActivitySession::on_buffer_completed(CUcontext context, std::uint32_t stream,
                                          std::uint8_t* buffer, std::size_t /*size*/,
                                          std::size_t valid) {
  ActivitySession& self = of_process();
  const CuptiLibrary& cupti = *self.loaded_.library;
  for (CUpti_Activity* record = nullptr;
       cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS;)
    self.deliver(*record);
  std::size_t dropped = 0;
  if (cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS)
    self.dropped_.fetch_add(dropped, std::memory_order_relaxed);
  self.buffers_.release(buffer);
}

void ActivitySession::deliver(const CUpti_Activity& activity) {
  const auto record = node_record(activity);
  if (!record) return;
  std::shared_ptr<Sink> sink;
  std::uint32_t place = 0;
  {
    const std::lock_guard lock(owners_mutex_);
    const auto owner = owners_.find(record->node);
    if (owner == owners_.end()) return;
    sink = owner->second.sink.lock();
    place = owner->second.place;
  }
  if (!sink) return;
  const std::lock_guard lock(sink->mutex);
  if (record->started == 0 || record->ended == 0) {
    ++sink->untimed;
    sink->runs.mark_lost();
    return;
  }
  try {
    sink->runs.add({place, static_cast<std::int64_t>(record->started),
                    static_cast<std::int64_t>(record->ended)});
  } catch (const std::bad_alloc&) {
    sink->runs.mark_lost();
  }
}

}  // namespace reprise::detail
