#include "profile/device_trace.hpp"

#include <new>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {

namespace {

trace::Severity traced(Severity severity) {
  switch (severity) {
    case Severity::Info: return trace::Severity::Info;
    case Severity::Warning: return trace::Severity::Warning;
    case Severity::Error: return trace::Severity::Error;
  }
  return trace::Severity::Info;
}

}  // namespace

DeviceTrace::DeviceTrace(std::shared_ptr<TraceSession> session,
                         std::shared_ptr<ProfileSwitch> profile, const DeviceInfo& info)
    : session_(std::move(session)),
      profile_(std::move(profile)),
      id_(session_->new_id(TraceSession::Id::Device)),
      selector_(info.selector) {
  TraceSession::register_exit_handler();
  session_->push(trace::Device{id_, info.name, info.selector, info.uuid, info.memory_bytes,
                               info.multiprocessors});
}

DeviceTrace::~DeviceTrace() {
  session_->forget(*this);
  if (totals_wait_) session_->push(totals_);
}

std::uint32_t DeviceTrace::add_queue(std::string_view label) {
  const std::uint32_t queue = session_->new_id(TraceSession::Id::Queue);
  session_->push(trace::Queue{queue, id_, std::string(label)});
  return queue;
}

std::shared_ptr<PoolTrace> DeviceTrace::add_pool(std::string_view label, PoolTrace::Memory memory) {
  return std::make_shared<PoolTrace>(session_, id_, label, std::move(memory));
}

void DeviceTrace::record_memory(const PoolTrace::Memory& memory) noexcept {
  try {
    const std::lock_guard lock(memory_mutex_);
    const MemoryStatistics now = memory();
    totals_ = {id_,
               trace_now(),
               now.budget.value_or(0),
               now.reserved,
               now.mapped,
               now.peak,
               now.buffer_bytes,
               now.slabs,
               now.shared_slabs,
               now.trims,
               now.remaps};
    totals_wait_ = true;
    push_totals(totals_.at, Push::WithinRate);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void DeviceTrace::push_totals(trace::Time now, Push push) {
  if (totals_wait_ && (push != Push::WithinRate || totals_rate_.take(now))) {
    totals_wait_ = false;
    session_->push(totals_);
  }
  if (!totals_wait_ || std::exchange(is_scheduled_, true)) return;
  session_->collect_later(*this);
}

void DeviceTrace::push_waiting(Push push) noexcept {
  try {
    const std::lock_guard lock(memory_mutex_);
    is_scheduled_ = false;
    push_totals(trace_now(), push);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

std::uint32_t DeviceTrace::add_graph(const Plan& plan, GraphIdentity identity) {
  identity.graph = session_->new_id(TraceSession::Id::Graph);
  identity.device = id_;
  session_->push(describe_graph(plan, identity));
  return identity.graph;
}

void DeviceTrace::add_version(const Plan& plan, GraphIdentity identity) {
  identity.device = id_;
  session_->push(describe_graph(plan, identity));
}

void DeviceTrace::record_update(std::uint32_t graph, std::uint32_t from_version,
                                std::uint32_t to_version, std::string what) {
  session_->push(trace::Update{trace_now(), graph, from_version, to_version, std::move(what)});
}

std::shared_ptr<ReplayLog> DeviceTrace::follow(const FollowedGraph& graph, const Plan& plan,
                                               BackendExec& exec) {
  ReplayLogDesc desc;
  desc.graph = graph.graph;
  desc.version = graph.version;
  desc.device = id_;
  desc.exec = graph.exec;
  desc.before = graph.replays_before;
  desc.label = plan.label;
  desc.nodes = static_cast<std::uint32_t>(plan.lowered.nodes.size());
  desc.slots = timing_layout(plan);
  desc.signal = &session_->signal();
  auto log = profile_->make_log(std::move(desc));
  if (auto source = exec.replay_source()) {
    log->follow(std::move(source));
  } else if (exec.observe(*log)) {
    log->expect_device_times(true);
  } else {
    report_no_device_times();
  }
  session_->follow(log);
  return log;
}

void DeviceTrace::report_no_device_times() {
  if (no_times_reported_.exchange(true)) return;
  session_->push(trace::Message{
      trace_now(), trace::Severity::Info, "no-device-times",
      concat("times on ", selector_, " are not measured; its replays have only launch times"),
      trace::kNone, 0, trace::kNone, trace::kNone});
}

void DeviceTrace::report(std::uint32_t graph, const Message& message) {
  session_->push(trace::Message{trace_now(), traced(message.severity), std::string(message.id),
                                message.text, graph, graph == trace::kNone ? 0u : 1u,
                                message.command.value_or(trace::kNone),
                                message.other_command.value_or(trace::kNone)});
}

}  // namespace reprise::detail
