// Graphs of the application as CapturedGraph, and the graphs behind ours.
#include <reprise/cuda_interop.hpp>

#include "capture/cuda_access.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"
#include "run/graph_body.hpp"
#include "run/graph_core.hpp"

namespace reprise {
namespace {

// A plan of no command: what the nodes do, only the driver knows.
std::shared_ptr<const detail::Plan> empty_plan(const detail::DeviceCore& device, std::string_view label) {
  auto recording = std::make_shared<detail::Recording>();
  recording->label = label;
  recording->device = device.status();
  recording->generation = device.generation();
  recording->labels.emplace_back();
  detail::Schedule schedule;
  schedule.first_edge.push_back(0);
  return std::make_shared<const detail::Plan>(detail::freeze_plan(std::string(label), std::move(recording), std::move(schedule), {}, {}));
}

}  // namespace

CapturedGraph adopt_graph(const Device& device, CUgraph graph, const AdoptedGraphDesc& desc) {
  detail::CudaBackend& backend = detail::cuda_backend(device, "adopt_graph");
  device.core()->require_usable(Stage::Instantiate);
  if (graph == nullptr) detail::fail(ErrorCode::InvalidArgument, Stage::Instantiate, desc.label, "adopt_graph got a null graph");
  auto body = std::make_unique<detail::GraphBody>(device.core());
  body->plan = empty_plan(*device.core(), desc.label);
  const bool is_traced = device.core()->trace() != nullptr;
  auto exec = std::make_unique<detail::CudaExec>(backend.context(), body->plan, graph, desc.owner, is_traced ? backend.instruments() : nullptr);
  CompileReport report;
  report.nodes = exec->node_count();
  report.plan_hash = body->plan->plan_hash;
  report.lowering_hash = body->plan->lowering_hash;
  body->exec = std::move(exec);
  return CapturedGraph(detail::GraphCore::make(std::move(body), std::move(report)));
}

CUgraph native_graph(const CapturedGraph& graph) { return static_cast<CUgraph>(detail::cuda_exec(graph, "native_graph").native_graph()); }

CUgraphExec native_exec(const CapturedGraph& graph) { return static_cast<CUgraphExec>(detail::cuda_exec(graph, "native_exec").native()); }

CUgraph release_graph(const CapturedGraph& graph) { return detail::cuda_exec(graph, "release_graph").clone_graph(); }

}  // namespace reprise
