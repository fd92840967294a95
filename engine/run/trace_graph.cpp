#include "run/trace_graph.hpp"

#include "profile/device_trace.hpp"
#include "run/device_core.hpp"
#include "run/graph_body.hpp"
#include "run/pool_buffer.hpp"

namespace reprise::detail {

void trace_graph(GraphBody& body, const std::vector<Message>& messages) {
  DeviceTrace& device = *body.device->trace();
  if (body.instance.number != 0) {
    body.log = device.follow(body.trace_id, body.instance, *body.plan, *body.exec);
    return;
  }
  std::vector<BufferIdentity> buffers;
  buffers.reserve(body.plan->recording->buffers.size());
  for (const auto& buffer : body.plan->recording->buffers) {
    const auto known = PoolBuffer::of(buffer);
    buffers.push_back(known ? known->identity() : BufferIdentity{});
  }
  GraphIdentity identity;
  identity.compiled = body.times.compiled;
  identity.compile_time = body.times.compile_time;
  identity.instantiate_time = body.times.instantiate_time;
  identity.buffers = buffers;
  body.trace_id = device.add_graph(*body.plan, identity);
  for (const Message& message : messages) device.report(body.trace_id, message);
  body.log = device.follow(body.trace_id, body.instance, *body.plan, *body.exec);
}

}  // namespace reprise::detail
