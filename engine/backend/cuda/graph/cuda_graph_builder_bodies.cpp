// CudaGraphBuilder's nodes that run whole plans: child graphs and conditionals.
#include "backend/cuda/graph/cuda_graph_builder.hpp"

#include <unordered_set>

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

// Adds the conditions that decide conditionals of the recording or of its bodies.
void add_deciding(const Recording& recording, std::unordered_set<const BufferCore*>& conditions) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind == CommandKind::Conditional)
      conditions.insert(
          recording.buffers[recording.payload<ConditionalPayload>(i).condition].get());
    for (const Body& body : bodies_of(recording.commands[i]))
      add_deciding(*recording.bodies[body.index], conditions);
  }
}

}  // namespace

// CUDA numbers the conditional handles of each graph from 1, in creation order. Kernels that take a
// handle keep its value when cudaGraphExecUpdate updates an executable from another graph. The
// value stays correct: CUDA refuses conditionals of another number, type or size (NotSupported) and
// copies the default values.
Bindings CudaGraphBuilder::with_conditions(const Bindings& bindings) const {
  Bindings all = bindings;
  if (target_.outer != nullptr) return all;  // a body uses the handles of the outermost graph
  const auto& buffers = plan_.recording->buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind != BufferKind::Condition) continue;
    cudaGraphConditionalHandle handle = 0;
    cuda_check(cudaGraphConditionalHandleCreate(&handle, target_.graph,
                                                ConditionCore::of(*buffers[i]).initial,
                                                cudaGraphCondAssignDefault),
               "cudaGraphConditionalHandleCreate", call_);
    static_assert(sizeof handle == sizeof all.address[i],
                  "kernels take a handle in place of an address");
    all.address[i] = reinterpret_cast<std::byte*>(handle);
  }
  return all;
}

void CudaGraphBuilder::fill_body(const Body& body, cudaGraph_t graph, cudaGraphNode_t parent,
                                 const Outer& outer) {
  CudaGraphBuilder builder(context_, *plan_.bodies[body.index],
                           bindings_of_body(plan_, body, bindings_),
                           {.graph = graph,
                            .staged = target_.staged,
                            .callbacks = target_.callbacks,
                            .retained = target_.retained,
                            .entry_exit = nullptr,
                            .copy = target_.copy,
                            .timestamps = target_.timestamps,
                            .loops = target_.loops,
                            .outer = &outer,
                            .segments = target_.segments});
  builder.add_nodes();
  bodies_[outer.body] = {graph, parent, std::move(builder.nodes_), builder.first_key_};
}

std::uint32_t CudaGraphBuilder::first_body() const {
  return timing_.first_body(
      (target_.outer == nullptr ? 0 : timing_.bodies[target_.outer->body].first_node) + adding_);
}

cudaGraphNode_t CudaGraphBuilder::add_iteration_timestamp() {
  const BodyTimestamps* const timestamps = target_.timestamps.bodies;
  if (timestamps == nullptr || !timestamps->counts(target_.outer->body)) return nullptr;
  const BodyTimestamps::Words& at = timestamps->words_of(target_.outer->body);
  std::uint64_t *ring = target_.timestamps.ring, *times = timestamps->memory();
  unsigned rows = timestamps->rows(), words = timestamps->row_words(), body = at.first,
           nodes = at.nodes, kept = at.kept;
  void* parameters[] = {&ring, &times, &rows, &words, &body, &nodes, &kept};
  after_.clear();
  return add_instrumentation_kernel(*target_.timestamps.kernels->iteration, parameters);
}

cudaGraphNode_t CudaGraphBuilder::add_body_node_timestamp(std::uint32_t node) {
  const BodyTimestamps* const timestamps = target_.timestamps.bodies;
  const BodyTimestamps::Words& at = timestamps->words_of(target_.outer->body);
  std::uint64_t *ring = target_.timestamps.ring, *times = timestamps->memory();
  unsigned rows = timestamps->rows(), words = timestamps->row_words(), body = at.first,
           nodes = at.nodes, kept = at.kept;
  void* parameters[] = {&ring, &times, &rows, &words, &body, &nodes, &kept, &node};
  after_.assign(1, done_[node]);
  return add_instrumentation_kernel(*target_.timestamps.kernels->body_node, parameters);
}

cudaGraphNode_t CudaGraphBuilder::add_nested(std::uint32_t command) {
  // CUDA copies the child graph. Nodes are added to the copy of an empty graph, so that later
  // changes can name them.
  cudaGraph_t made = nullptr;
  cuda_check(cudaGraphCreate(&made, 0), "cudaGraphCreate", call_);
  const OwnedGraph empty(made);
  cudaGraphNode_t node = nullptr;
  cuda_check(
      cudaGraphAddChildGraphNode(&node, target_.graph, after_.data(), after_.size(), empty.get()),
      "cudaGraphAddChildGraphNode", call_);
  cudaGraph_t child = nullptr;
  cuda_check(cudaGraphChildGraphNodeGetGraph(node, &child), "cudaGraphChildGraphNodeGetGraph",
             call_);
  fill_body(plan_.recording->payload<NestedPayload>(command).body, child, node,
            {.next_key = next_key_,
             .timing = timing_,
             .bodies = bodies_,
             .body = first_body(),
             .first_loop = first_loop_[command],
             .op_location = op_location()});
  return node;
}

cudaGraphNode_t CudaGraphBuilder::add_conditional(std::uint32_t command) {
  const Recording& recording = *plan_.recording;
  const auto& conditional = recording.payload<ConditionalPayload>(command);
  const bool is_loop = conditional.branch == Branch::While;
  // The kernel of such a segment runs all iterations.
  const bool is_segment =
      is_loop && has_segments() &&
      plan_.bodies[conditional.bodies[0].index]->lowered.loop_condition != kNone;
  std::uint32_t loop = first_loop_[command];
  add_loop_entry(command);

  cudaConditionalNodeParams parameters = {};
  parameters.handle =
      reinterpret_cast<cudaGraphConditionalHandle>(bindings_.address[conditional.condition]);
  parameters.type = type_of(is_segment ? Branch::If : conditional.branch);
  parameters.size = conditional.body_count;
  const cudaGraphNode_t node = add_conditional_node(parameters);

  const Iteration iteration{loop, conditional.max_iterations, parameters.handle, is_segment};
  if (is_segment)
    target_.segments->set_loop(first_body(), target_.loops->words_of(loop),
                               conditional.max_iterations);
  if (is_loop) ++loop;
  for (std::uint32_t i = 0; i < conditional.body_count; ++i) {
    const Body& body = conditional.bodies[i];
    fill_body(body, parameters.phGraph_out[i], node,
              {.next_key = next_key_,
               .timing = timing_,
               .bodies = bodies_,
               .body = first_body() + i,
               .first_loop = loop,
               .iteration = is_loop ? &iteration : nullptr});
    loop += count_loops(*recording.bodies[body.index]);
  }
  return node;
}

cudaGraphNode_t CudaGraphBuilder::add_conditional_node(cudaConditionalNodeParams& parameters) {
  cudaGraphNodeParams all = {};
  all.type = cudaGraphNodeTypeConditional;
  all.conditional = parameters;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t result =
      cudaGraphAddNode(&node, target_.graph, after_.data(), nullptr, after_.size(), &all);
#else
  const cudaError_t result =
      cudaGraphAddNode(&node, target_.graph, after_.data(), after_.size(), &all);
#endif
  cuda_check(result, "cudaGraphAddNode", call_);
  parameters = all.conditional;
  return node;
}

void CudaGraphBuilder::add_missing_conditionals() {
  const auto& buffers = plan_.recording->buffers;
  std::unordered_set<const BufferCore*> deciding;
  add_deciding(*plan_.recording, deciding);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->kind != BufferKind::Condition || deciding.contains(buffers[i].get())) continue;
    come_after_leaves();
    cudaConditionalNodeParams parameters = {};
    parameters.handle = reinterpret_cast<cudaGraphConditionalHandle>(bindings_.address[i]);
    parameters.type = cudaGraphCondTypeIf;
    parameters.size = 1;
    static_cast<void>(add_conditional_node(parameters));
  }
}

void CudaGraphBuilder::add_loop_entry(std::uint32_t command) {
  const std::uint32_t loops = count_loops(*plan_.recording, command);
  const bool is_loop =
      plan_.recording->payload<ConditionalPayload>(command).branch == Branch::While;
  const bool is_outermost = target_.outer == nullptr;
  if (loops == 0 || !(is_loop || is_outermost)) return;
  std::uint64_t* words = target_.loops->words_of(first_loop_[command]);
  unsigned reset_count = is_outermost ? loops : 0;
  void* parameters[] = {&words, &reset_count};
  after_.assign(1, add_instrumentation_kernel(target_.loops->enter(), parameters));
}

// With CUDA 13.0 and driver 580, a WHILE node whose body ends with several nodes loses the device
// now and then (719), if other nodes of the graph run beside it. This node is the only end of the
// body.
void CudaGraphBuilder::add_iteration(const Iteration& iteration) {
  come_after_leaves();
  cudaGraphConditionalHandle condition = iteration.condition;
  if (iteration.is_in_segment) {
    void* parameters[] = {&condition};
    static_cast<void>(add_instrumentation_kernel(target_.loops->leave(), parameters));
    return;
  }
  const std::uint32_t* stop = target_.loops->stop();
  std::uint64_t* words = target_.loops->words_of(iteration.loop);
  std::uint64_t limit = iteration.limit;
  void* parameters[] = {&words, &limit, &stop, &condition};
  static_cast<void>(add_instrumentation_kernel(target_.loops->iterate(), parameters));
}

}  // namespace reprise::detail
