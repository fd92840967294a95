#include "injection/driver_graph_reader.hpp"

#include <utility>

#include "base/text.hpp"
#include "injection/driver_node_reader.hpp"

namespace reprise::detail {
namespace {

class Walk {
 public:
  Walk(const DriverCalls& driver, const GraphKnowledge& knowledge)
      : driver_(driver), knowledge_(knowledge), nodes_(driver, graph_) {}

  ObservedGraph read(CUgraph graph) {
    static_cast<void>(add_graph(graph, {}, ObservedNode::Recorded::EachReplay));
    sort_forward(graph_.nodes, graph_.edges);  // CUDA rejects cycles: every node is kept
    return std::move(graph_);
  }

 private:
  using Ends = std::vector<std::uint32_t>;

  void record_error(const char* call, CUresult result) {
    if (graph_.error.empty()) graph_.error = concat(call, " returned ", static_cast<int>(result));
  }

  std::uint32_t push(ObservedNode node, const ScopePath& scope) {
    if (!scope.empty()) node.origin.scope = std::make_shared<const ScopePath>(scope);
    graph_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  std::uint32_t push_join(const ScopePath& scope) {
    ObservedNode join;
    join.kind = trace::NodeKind::Join;
    join.name = "join";
    return push(std::move(join), scope);
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

  PartEnds add_node(CUgraphNode node, std::uint32_t number, const ScopePath& outer,
                    ObservedNode::Recorded recorded) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (const CUresult result = driver_.cuGraphNodeGetType(node, &type); result != CUDA_SUCCESS)
      record_error("cuGraphNodeGetType", result);
    const NodeOrigin origin = knowledge_.origin_of(node);
    const ScopePath path = origin.scope ? path_inside(outer, *origin.scope) : outer;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && may_enter()) {
      CUgraph child = nullptr;
      if (driver_.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && child != nullptr) {
        ScopePath inner = path;
        inner.push_back(concat(kChildGraphScope, ++groups_));
        PartEnds inside = add_graph(child, inner, recorded);
        if (!inside.first.empty()) return inside;
      }
    }
    ObservedNode observed = nodes_.read(node, type);
    observed.handle = reinterpret_cast<std::uintptr_t>(node);
    observed.number = number;
    observed.origin.operations = origin.operations;
    if (recorded == ObservedNode::Recorded::Sometimes &&
        observed.recorded == ObservedNode::Recorded::EachReplay)
      observed.recorded = recorded;
    const std::uint32_t one = push(std::move(observed), path);
    if (type != CU_GRAPH_NODE_TYPE_CONDITIONAL || !may_enter()) return {{one}, {one}};
    return {{one}, add_bodies(node, one, path)};
  }

  // False beyond the limit of graphs inside graphs; their node is then one of unknown contents.
  bool may_enter() {
    if (depth_ < kMaxDepth) return true;
    if (graph_.error.empty())
      graph_.error = concat("it has graphs inside graphs in more than ", kMaxDepth, " levels");
    return false;
  }

  // Returns the nodes after which the conditional node is complete.
  Ends add_bodies(CUgraphNode node, std::uint32_t condition, const ScopePath& path) {
    Ends last;
    std::uint32_t number = 0;
    for (const CUgraph body : knowledge_.bodies_of(node)) {
      ScopePath inner = path;
      inner.push_back(concat(kBodyScope, number++));
      const PartEnds inside = add_graph(body, inner, ObservedNode::Recorded::Sometimes);
      connect_each(Ends{condition}, inside.first, graph_.edges, [&] { return push_join(inner); });
      last.insert(last.end(), inside.last.begin(), inside.last.end());
    }
    if (last.empty()) last.push_back(condition);
    return last;
  }

  // In an executable, CUDA keeps the node numbers of the outermost graph and appends the nodes of
  // child graphs and bodies: all nodes of one graph, then those inside its nodes.
  PartEnds add_graph(CUgraph handle, const ScopePath& scope, ObservedNode::Recorded recorded) {
    NativeGraph graph;
    if (const auto [call, result] = driver_.read_graph(handle, graph); result != CUDA_SUCCESS)
      record_error(call, result);
    ++depth_;
    const bool is_outermost = next_number_ == 0;
    std::uint32_t number = next_number_;
    next_number_ += static_cast<std::uint32_t>(graph.nodes.size());
    std::vector<PartEnds> parts;
    parts.reserve(graph.nodes.size());
    for (const CUgraphNode node : graph.nodes) {
      parts.push_back(add_node(node, is_outermost ? knowledge_.profiler_number_of(node) : number,
                               scope, recorded));
      ++number;
    }
    --depth_;
    return connect_parts(parts, graph.edges, graph_.edges, [&] { return push_join(scope); });
  }

  const DriverCalls& driver_;
  const GraphKnowledge& knowledge_;
  ObservedGraph graph_;
  DriverNodeReader nodes_;
  static constexpr std::uint32_t kMaxDepth = 256;
  std::uint32_t groups_ = 0, next_number_ = 0, depth_ = 0;
};

}  // namespace

ObservedGraph DriverGraphReader::read(CUgraph graph) const {
  const QuietCalls quiet(driver_);
  return Walk(driver_, knowledge_).read(graph);
}

ObservedGraph DriverGraphReader::read_kernel(const CUDA_KERNEL_NODE_PARAMS& parameters) const {
  const QuietCalls quiet(driver_);
  ObservedGraph one;
  one.nodes.push_back(DriverNodeReader(driver_, one).kernel(parameters));
  return one;
}

ObservedGraph DriverGraphReader::read_copy(const CUDA_MEMCPY3D& parameters) const {
  ObservedGraph one;
  one.nodes.push_back(DriverNodeReader::copy(parameters));
  return one;
}

ObservedGraph DriverGraphReader::read_fill(const CUDA_MEMSET_NODE_PARAMS& parameters) const {
  ObservedGraph one;
  one.nodes.push_back(DriverNodeReader::fill(parameters));
  return one;
}

}  // namespace reprise::detail
