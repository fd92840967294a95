#include "injection/driver_graph_reader.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "injection/driver_node_reader.hpp"

namespace reprise::detail {
namespace {

class Walk {
 public:
  Walk(const DriverCalls& driver, KernelCache& kernels, const GraphKnowledge& knowledge)
      : driver_(driver), knowledge_(knowledge), nodes_(driver, kernels, graph_) {}

  ObservedGraph read(CUgraph graph) {
    static_cast<void>(add_graph(graph, nullptr, ObservedNode::Recorded::EachReplay));
    sort_forward(graph_.nodes, graph_.edges);  // CUDA rejects cycles: every node is kept
    return std::move(graph_);
  }

 private:
  using Ends = std::vector<std::uint32_t>;

  void record_error(const char* call, CUresult result) {
    if (graph_.error.empty()) graph_.error = concat(call, " returned ", static_cast<int>(result));
  }

  using Scope = std::shared_ptr<const ScopePath>;  // null: none

  static Scope scope_in(const Scope& outer, std::string name) {
    ScopePath path = outer ? *outer : ScopePath();
    path.push_back(std::move(name));
    return std::make_shared<const ScopePath>(std::move(path));
  }

  std::uint32_t push(ObservedNode node, Scope scope) {
    node.origin.scope = std::move(scope);
    graph_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  std::uint32_t push_join(Scope scope) {
    ObservedNode join;
    join.kind = trace::NodeKind::Join;
    join.name = "join";
    return push(std::move(join), std::move(scope));
  }

  // The nodes of bodies and child graphs are often created in the ranges of the node that runs
  // them, which are not repeated.
  static ScopePath path_inside(const ScopePath& outer, const ScopePath& scope) {
    auto next = scope.begin();
    for (const std::string& name : outer) {
      if (next != scope.end() && *next == name) ++next;
    }
    ScopePath path = outer;
    path.insert(path.end(), next, scope.end());
    return path;
  }

  // Returns nothing for a node that is one of the result, the last so far.
  std::optional<PartEnds> add_node(CUgraphNode node, std::uint32_t number, const Scope& outer,
                                   ObservedNode::Recorded recorded) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (const CUresult result = driver_.cuGraphNodeGetType(node, &type); result != CUDA_SUCCESS)
      record_error("cuGraphNodeGetType", result);
    const NodeOrigin origin = knowledge_.origin_of(node);
    const Scope path = !origin.scope ? outer
                       : !outer
                           ? origin.scope
                           : std::make_shared<const ScopePath>(path_inside(*outer, *origin.scope));
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && may_enter()) {
      CUgraph child = nullptr;
      if (driver_.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && child != nullptr) {
        PartEnds inside =
            add_graph(child, scope_in(path, concat(kChildGraphScope, ++groups_)), recorded);
        if (!inside.first.empty()) return inside;
      }
    }
    ObservedNode observed = nodes_.read(node, type);
    observed.handle = reinterpret_cast<std::uintptr_t>(node);
    observed.number = number;
    observed.origin.operations = origin.operations;
    observed.origin.stack = origin.stack;
    if (recorded == ObservedNode::Recorded::Sometimes &&
        observed.recorded == ObservedNode::Recorded::EachReplay)
      observed.recorded = recorded;
    const std::uint32_t one = push(std::move(observed), path);
    if (type != CU_GRAPH_NODE_TYPE_CONDITIONAL || !may_enter()) return std::nullopt;
    return PartEnds{{one}, add_bodies(node, one, path)};
  }

  // False beyond the limit of graphs inside graphs; their node is then one of unknown contents.
  bool may_enter() {
    if (depth_ < kMaxDepth) return true;
    if (graph_.error.empty())
      graph_.error = concat("it has graphs inside graphs in more than ", kMaxDepth, " levels");
    return false;
  }

  // Returns the nodes after which the conditional node is complete.
  Ends add_bodies(CUgraphNode node, std::uint32_t condition, const Scope& path) {
    Ends last;
    std::uint32_t number = 0;
    for (const CUgraph body : knowledge_.bodies_of(node)) {
      const Scope inner = scope_in(path, concat(kBodyScope, number++));
      const PartEnds inside = add_graph(body, inner, ObservedNode::Recorded::Sometimes);
      connect_each(Ends{condition}, inside.first, graph_.edges, [&] { return push_join(inner); });
      last.insert(last.end(), inside.last.begin(), inside.last.end());
    }
    if (last.empty()) last.push_back(condition);
    return last;
  }

  // In an executable, CUDA keeps the node numbers of the outermost graph and appends the nodes of
  // child graphs and bodies: all nodes of one graph, then those inside its nodes.
  PartEnds add_graph(CUgraph handle, const Scope& scope, ObservedNode::Recorded recorded) {
    NativeGraph graph;
    if (const auto [call, result] = driver_.read_graph(handle, graph); result != CUDA_SUCCESS)
      record_error(call, result);
    ++depth_;
    const bool is_outermost = next_number_ == 0;
    std::uint32_t number = next_number_;
    next_number_ += static_cast<std::uint32_t>(graph.nodes.size());
    graph_.nodes.reserve(graph_.nodes.size() + graph.nodes.size());
    const auto first = static_cast<std::uint32_t>(graph_.nodes.size());
    std::vector<PartEnds> parts;  // empty while every node is one of the result
    for (const CUgraphNode node : graph.nodes) {
      const auto done = static_cast<std::uint32_t>(graph_.nodes.size());
      std::optional<PartEnds> ends = add_node(
          node, is_outermost ? knowledge_.profiler_number_of(node) : number, scope, recorded);
      ++number;
      if (!ends && parts.empty()) continue;
      if (parts.empty()) parts = single_parts(first, done);
      const auto last = static_cast<std::uint32_t>(graph_.nodes.size() - 1);
      parts.push_back(ends ? std::move(*ends) : PartEnds{{last}, {last}});
    }
    --depth_;
    if (parts.empty() && is_outermost) {
      graph_.edges = std::move(graph.edges);
      return {};
    }
    if (parts.empty()) parts = single_parts(first, static_cast<std::uint32_t>(graph_.nodes.size()));
    return connect_parts(parts, graph.edges, graph_.edges, [&] { return push_join(scope); });
  }

  static std::vector<PartEnds> single_parts(std::uint32_t begin, std::uint32_t end) {
    std::vector<PartEnds> parts;
    for (std::uint32_t node = begin; node < end; ++node) parts.push_back({{node}, {node}});
    return parts;
  }

  const DriverCalls& driver_;
  const GraphKnowledge& knowledge_;
  ObservedGraph graph_;
  DriverNodeReader nodes_;
  static constexpr std::uint32_t kMaxDepth = 256;
  std::uint32_t groups_ = 0, next_number_ = 0, depth_ = 0;
};

}  // namespace

ObservedGraph read_driver_graph(const DriverCalls& driver, KernelCache& kernels,
                                const GraphKnowledge& knowledge, CUgraph graph) {
  const QuietCalls quiet(driver);
  return Walk(driver, kernels, knowledge).read(graph);
}

}  // namespace reprise::detail
