#include "runtime/graph/trace_graph.hpp"

#include <new>
#include <utility>

#include "base/text.hpp"
#include "plan/hash.hpp"
#include "profile/device_trace.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_executable.hpp"
#include "runtime/memory/pool_buffer.hpp"

namespace reprise::detail {
namespace {

std::vector<BufferIdentity> identities(const Plan& plan) {
  std::vector<BufferIdentity> buffers;
  buffers.reserve(plan.recording->buffers.size());
  for (const auto& buffer : plan.recording->buffers) {
    const auto known = PoolBuffer::of(buffer);
    buffers.push_back(known ? known->identity() : BufferIdentity{});
  }
  return buffers;
}

std::uint64_t hash_of(const Plan& plan, const std::vector<BufferIdentity>& buffers) {
  Hash64 hash;
  hash.add(plan.plan_hash);
  hash.add(plan.lowering_hash);
  for (const BufferIdentity& buffer : buffers) hash.add(buffer.buffer, buffer.pool);
  return hash.value();
}

// The plan's collectives may be those of other ranks than the plan's before.
void follow_clocks(GraphExecutable& executable) {
  const std::vector<RankAgreement*>& ranks = executable.spec().collectives.ranks;
  // An update must not wait for the collector without need.
  if (executable.clocks && executable.clocks->ranks() == ranks) return;
  executable.clocks.reset();
  if (!ranks.empty() && executable.spec().replica.number == 0)
    executable.clocks =
        std::make_unique<RankClocks>(executable.spec().device->trace()->session(), ranks);
}

// Makes the executable's plan a version of its graph. Only replica 0 writes it to the trace.
void trace_version(GraphExecutable& executable) {
  DeviceTrace& device = *executable.spec().device->trace();
  const std::vector<BufferIdentity> buffers = identities(*executable.plan());
  const bool is_first = executable.trace.versions.current() == 0;
  const GraphVersions::Found found =
      executable.trace.versions.select(hash_of(*executable.plan(), buffers));
  if (executable.spec().replica.number != 0) return;
  if (found == GraphVersions::Found::Full && executable.trace.versions.report_full_once()) {
    Message message;
    message.severity = Severity::Warning;
    message.id = "graph-versions-full";
    message.text =
        concat("graph ", executable.plan()->label, " has more than ", GraphVersions::kMost,
               " versions: the trace shows its further replays under the last one");
    device.report(executable.trace.graph, message);
  }
  if (found != GraphVersions::Found::New) return;
  GraphIdentity identity;
  identity.graph = executable.trace.graph;
  identity.version = executable.trace.versions.current();
  identity.compiled = executable.times.compiled;
  identity.compile_time = executable.times.compile_time;
  identity.instantiate_time = executable.times.instantiate_time;
  identity.buffers = buffers;
  if (is_first) {
    executable.trace.graph = device.add_graph(*executable.plan(), identity);
  } else {
    device.add_version(*executable.plan(), identity);
  }
}

}  // namespace

void register_in_trace(GraphExecutable& executable, const std::vector<Message>& messages) {
  DeviceTrace& device = *executable.spec().device->trace();
  trace_version(executable);
  if (executable.spec().replica.number == 0) {
    for (const Message& message : messages) device.report(executable.trace.graph, message);
  }
  executable.log = device.follow({executable.trace.graph, executable.trace.versions.current(),
                                  executable.spec().replica, executable.replays_before},
                                 *executable.plan(), *executable.exec);
  follow_clocks(executable);
}

void trace_update(GraphExecutable& executable, std::uint64_t replay) {
  trace_version(executable);
  executable.log->begin_version(executable.trace.versions.current(), replay);
  follow_clocks(executable);
}

RankClocks::RankClocks(std::shared_ptr<TraceSession> session, std::vector<RankAgreement*> ranks)
    : session_(std::move(session)), ranks_(std::move(ranks)) {
  session_->collect_later(*this);
}

RankClocks::~RankClocks() {
  session_->forget(*this);
  record();
}

void RankClocks::push_waiting(Push /*push*/) noexcept {
  record();
  session_->collect_later(*this);
}

void RankClocks::record() noexcept {
  try {
    for (RankAgreement* const ranks : ranks_)
      for (const RankAgreement::ClockExchange& one : ranks->take_clock_exchanges())
        session_->push(trace::ClockExchange{one.rank, one.sent, one.received, one.other});
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

}  // namespace reprise::detail
