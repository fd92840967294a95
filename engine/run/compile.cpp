#include "run/compile.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "plan/plan.hpp"
#include "profile/host_span.hpp"
#include "profile/nvtx.hpp"
#include "profile/process_info.hpp"
#include "run/compile_stages.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"
#include "run/graph_core.hpp"
#include "run/shared_slab.hpp"

namespace reprise::detail {

namespace {

enum class Checked : std::uint8_t { Already, ByThis };

std::shared_ptr<GraphCore> make_graph(const std::shared_ptr<DeviceCore>& device, std::shared_ptr<const Recording> recording, const CompileDesc& desc,
                                      Checked checked) {
  const std::string label = desc.label.empty() ? recording->label : std::string(desc.label);
  const NvtxRange range(NvtxWork::Compile, label);
  HostSpan span(device->trace() == nullptr ? nullptr : device->trace()->session(), concat("compile ", label));
  const trace::Time began = device->trace() == nullptr ? 0 : trace_now();
  std::vector<Message> messages;
  if (checked == Checked::ByThis) {
    const auto part = span.part("validate");
    messages = check(*device, *recording);
  }
  auto body = std::make_unique<GraphBody>(device);
  body->pool = desc.pool;
  std::byte* transients = nullptr;
  {
    const auto part = span.part("plan");
    body->plan = make_plan(label, std::move(recording), {.lowering = desc.lowering, .alignment = device->info().limits.buffer_alignment});
    SharedSlab shared = shared_slab(*device, desc.slab, *body->plan);
    if (shared.buffer) {
      body->shared_slab = std::move(shared.buffer);
      transients = shared.address;
      body->transient_bytes = body->shared_slab->bytes - static_cast<std::uint64_t>(transients - body->shared_slab->address);
    } else {
      transients = body->slab = allocate_slab(*device, *body->plan);
      body->transient_bytes = body->plan->placement.slab_bytes;
    }
  }
  const trace::Time planned = device->trace() == nullptr ? 0 : trace_now();
  try {
    const auto part = span.part("instantiate");
    const NvtxRange instantiating(NvtxWork::Instantiate, label);
    body->transients = transients;
    body->lowering = desc.lowering;
    body->journal = GraphJournal(body->plan, bind(*body->plan, transients));
    body->is_ours = true;
    body->exec = device->backend().instantiate(body->plan, body->journal.now(), instruments_for(*device));
  } catch (const Error& error) {
    throw with_context(error, body->plan->label, concat("in graph ", body->plan->label));
  }
  if (device->trace() != nullptr) body->times = {began, planned - began, trace_now() - planned};
  CompileReport report = make_report(*body->plan, std::move(messages));
  auto graph = GraphCore::make(std::move(body), std::move(report));
  if (device->trace() != nullptr) span.about(graph->trace_id());
  return graph;
}

}  // namespace

std::shared_ptr<GraphCore> compile(const std::shared_ptr<DeviceCore>& device, const CommandBuffer& commands, const CompileDesc& desc) {
  auto graph = make_graph(device, checked_recording(*device, commands, desc), desc, Checked::ByThis);
  commands.core()->add_pending_source(graph);
  return graph;
}

std::shared_ptr<GraphCore> compile_checked(const std::shared_ptr<DeviceCore>& device, std::shared_ptr<const Recording> recording,
                                           const CompileDesc& desc) {
  return make_graph(device, std::move(recording), desc, Checked::Already);
}

}  // namespace reprise::detail
