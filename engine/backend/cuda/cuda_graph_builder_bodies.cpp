// CudaGraphBuilder's nodes that run whole plans: child graphs and conditionals.
#include "backend/cuda/cuda_graph_builder.hpp"

#include "plan/loops.hpp"
#include "record/condition_core.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

cudaGraphConditionalNodeType type_of(Branch branch) {
  switch (branch) {
    case Branch::If: return cudaGraphCondTypeIf;
    case Branch::While: return cudaGraphCondTypeWhile;
    case Branch::Switch: return cudaGraphCondTypeSwitch;
  }
  return cudaGraphCondTypeIf;
}

}  // namespace

// CUDA numbers the handles of each graph by itself, from 1 in the order that they are made. Kernels that take one keep it as it is when an
// executable is updated by another graph (cudaGraphExecUpdate), and it is right there: CUDA refuses conditionals that have another number, type or
// size than before (NotSupported), and takes over the default values.
Bindings CudaGraphBuilder::with_conditions(const Bindings& bindings) const {
  Bindings all = bindings;
  if (target_.outer != nullptr) return all;  // a body's come from outside
  const auto& buffers = plan_.recording->buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind != BufferKind::Condition) continue;
    cudaGraphConditionalHandle handle = 0;
    cuda_check(cudaGraphConditionalHandleCreate(&handle, target_.graph, ConditionCore::of(*buffers[i]).initial, cudaGraphCondAssignDefault),
               "cudaGraphConditionalHandleCreate", call_);
    static_assert(sizeof handle == sizeof all.address[i], "a kernel takes a handle where it would take an address");
    all.address[i] = reinterpret_cast<std::byte*>(handle);
  }
  return all;
}

void CudaGraphBuilder::fill_body(const Body& body, cudaGraph_t graph, const Outer& outer) {
  Bindings inside;
  inside.address.reserve(body.buffer_count);
  for (std::uint32_t i = 0; i < body.buffer_count; ++i) inside.address.push_back(bindings_.address[body.buffers[i]]);
  CudaGraphBuilder builder(context_, *plan_.bodies[body.index], inside,
                       {.graph = graph,
                        .staged = target_.staged,
                        .calls = target_.calls,
                        .holdings = target_.holdings,
                        .frame = nullptr,
                        .loops = target_.loops,
                        .outer = &outer});
  builder.add_nodes();
}

cudaGraphNode_t CudaGraphBuilder::add_nested(std::uint32_t command) {
  cudaGraph_t made = nullptr;
  cuda_check(cudaGraphCreate(&made, 0), "cudaGraphCreate", call_);
  const OwnedGraph child(made);
  fill_body(plan_.recording->payload<NestedPayload>(command).body, child.get(), {.next_key = next_key_, .first_loop = first_loop_[command]});
  cudaGraphNode_t node = nullptr;
  cuda_check(cudaGraphAddChildGraphNode(&node, target_.graph, after_.data(), after_.size(), child.get()), "cudaGraphAddChildGraphNode", call_);
  return node;
}

cudaGraphNode_t CudaGraphBuilder::add_conditional(std::uint32_t command) {
  const Recording& recording = *plan_.recording;
  const auto& conditional = recording.payload<ConditionalPayload>(command);
  const bool is_loop = conditional.branch == Branch::While;
  std::uint32_t loop = first_loop_[command];
  add_loop_entry(command);

  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = reinterpret_cast<cudaGraphConditionalHandle>(bindings_.address[conditional.condition]);
  parameters.conditional.type = type_of(conditional.branch);
  parameters.conditional.size = conditional.body_count;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t result = cudaGraphAddNode(&node, target_.graph, after_.data(), nullptr, after_.size(), &parameters);
#else
  const cudaError_t result = cudaGraphAddNode(&node, target_.graph, after_.data(), after_.size(), &parameters);
#endif
  cuda_check(result, "cudaGraphAddNode", call_);

  const Iteration iteration{loop, conditional.max_iterations, parameters.conditional.handle};
  if (is_loop) ++loop;
  for (std::uint32_t i = 0; i < conditional.body_count; ++i) {
    const Body& body = conditional.bodies[i];
    fill_body(body, parameters.conditional.phGraph_out[i], {next_key_, loop, is_loop ? &iteration : nullptr});
    loop += count_loops(*recording.bodies[body.index]);
  }
  return node;
}

void CudaGraphBuilder::add_loop_entry(std::uint32_t command) {
  const std::uint32_t loops = count_loops(*plan_.recording, command);
  const bool is_loop = plan_.recording->payload<ConditionalPayload>(command).branch == Branch::While;
  const bool is_outermost = target_.outer == nullptr;
  if (loops == 0 || !(is_loop || is_outermost)) return;
  std::uint64_t* words = target_.loops->words_of(first_loop_[command]);
  unsigned anew = is_outermost ? loops : 0;
  void* parameters[] = {&words, &anew};
  after_.assign(1, add_instrument(target_.loops->enter(), parameters));
}

void CudaGraphBuilder::add_iteration(const Iteration& iteration) {
  after_.clear();
  if (iteration.limit != 0) come_after_leaves();
  std::uint64_t* words = target_.loops->words_of(iteration.loop);
  std::uint64_t limit = iteration.limit;
  cudaGraphConditionalHandle condition = iteration.condition;
  void* parameters[] = {&words, &limit, &condition};
  static_cast<void>(add_instrument(target_.loops->iterate(), parameters));
}

}  // namespace reprise::detail
