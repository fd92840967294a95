#include "runtime/graph/trace_graph.hpp"

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

// The body's plan as a version of its graph. Of several instances the first one tells.
void trace_version(GraphExecutable& body) {
  DeviceTrace& device = *body.device->trace();
  const std::vector<BufferIdentity> buffers = identities(*body.plan);
  const bool is_first = body.versions.current() == 0;
  const GraphVersions::Found found = body.versions.select(hash_of(*body.plan, buffers));
  if (body.instance.number != 0) return;
  if (found == GraphVersions::Found::Full && body.versions.report_full_once()) {
    Message message;
    message.severity = Severity::Warning;
    message.id = "graph-versions-full";
    message.text = concat("graph ", body.plan->label, " became something else more than ",
                          GraphVersions::kMost,
                          " times: from here on its replays are told under the version before");
    device.report(body.trace_id, message);
  }
  if (found != GraphVersions::Found::New) return;
  GraphIdentity identity;
  identity.graph = body.trace_id;
  identity.version = body.versions.current();
  identity.compiled = body.times.compiled;
  identity.compile_time = body.times.compile_time;
  identity.instantiate_time = body.times.instantiate_time;
  identity.buffers = buffers;
  if (is_first) {
    body.trace_id = device.add_graph(*body.plan, identity);
  } else {
    device.add_version(*body.plan, identity);
  }
}

}  // namespace

void trace_graph(GraphExecutable& body, const std::vector<Message>& messages) {
  DeviceTrace& device = *body.device->trace();
  trace_version(body);
  if (body.instance.number == 0) {
    for (const Message& message : messages) device.report(body.trace_id, message);
  }
  body.log =
      device.follow({body.trace_id, body.versions.current(), body.instance, body.replays_before},
                    *body.plan, *body.exec);
}

void trace_update(GraphExecutable& body, std::uint64_t replay) {
  trace_version(body);
  body.log->begin_version(body.versions.current(), replay);
}

}  // namespace reprise::detail
