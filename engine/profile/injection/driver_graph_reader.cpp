#include "profile/injection/driver_graph_reader.hpp"

#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "profile/injection/driver_node_reader.hpp"

namespace reprise::detail {
namespace {

class Walk {
 public:
  Walk(const DriverCalls& driver, const GraphKnowledge& knowledge)
      : driver_(driver), knowledge_(knowledge), nodes_(driver, graph_) {}

  ObservedGraph read(CUgraph graph) {
    static_cast<void>(add_graph(graph, {}, ObservedNode::Recorded::EachReplay));
    sort();
    return std::move(graph_);
  }

 private:
  using Ends = std::vector<std::uint32_t>;
  struct Span {
    Ends first, last;  // nodes without predecessors and without successors
  };

  void record_error(const char* call, CUresult result) {
    if (graph_.error.empty()) graph_.error = concat(call, " returned ", static_cast<int>(result));
  }

  std::vector<CUgraphNode> nodes_of(CUgraph graph) {
    std::size_t count = 0;
    CUresult result = driver_.cuGraphGetNodes(graph, nullptr, &count);
    std::vector<CUgraphNode> nodes(result == CUDA_SUCCESS ? count : 0);
    if (!nodes.empty()) result = driver_.cuGraphGetNodes(graph, nodes.data(), &count);
    if (result != CUDA_SUCCESS) record_error("cuGraphGetNodes", result);
    return nodes;
  }

  std::vector<std::pair<CUgraphNode, CUgraphNode>> edges_of(CUgraph graph) {
    const DriverCalls::GetEdges get = driver_.get_edges();
    std::size_t count = 0;
    CUresult result = get(graph, nullptr, nullptr, nullptr, &count);
    if (result != CUDA_SUCCESS) count = 0;
    std::vector<CUgraphNode> from(count), to(count);
    std::vector<CUgraphEdgeData> data(count);
    if (count != 0) result = get(graph, from.data(), to.data(), data.data(), &count);
    if (result != CUDA_SUCCESS) record_error("cuGraphGetEdges", result);
    std::vector<std::pair<CUgraphNode, CUgraphNode>> edges;
    edges.reserve(count);
    for (std::size_t i = 0; i < count; ++i) edges.emplace_back(from[i], to[i]);
    return edges;
  }

  std::uint32_t push(ObservedNode node, const ScopePath& scope) {
    if (!scope.empty()) node.origin.scope = std::make_shared<const ScopePath>(scope);
    graph_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  void connect(const Ends& from, const Ends& to, const ScopePath& scope) {
    connect_each(from, to, graph_.edges, [&] {
      ObservedNode join;
      join.kind = trace::NodeKind::Join;
      join.name = "join";
      return push(std::move(join), scope);
    });
  }

  Span add_node(CUgraphNode node, std::uint32_t number, const ScopePath& outer,
                ObservedNode::Recorded recorded) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (const CUresult result = driver_.cuGraphNodeGetType(node, &type); result != CUDA_SUCCESS)
      record_error("cuGraphNodeGetType", result);
    const NodeOrigin origin = knowledge_.origin_of(node);
    ScopePath path = outer;
    if (origin.scope) path.insert(path.end(), origin.scope->begin(), origin.scope->end());
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && may_enter()) {
      CUgraph child = nullptr;
      if (driver_.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && child != nullptr) {
        ScopePath inner = path;
        inner.push_back(concat("child graph ", ++groups_));
        Span inside = add_graph(child, inner, recorded);
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
      inner.push_back(concat("body ", number++));
      const Span inside = add_graph(body, inner, ObservedNode::Recorded::Sometimes);
      connect({condition}, inside.first, inner);
      last.insert(last.end(), inside.last.begin(), inside.last.end());
    }
    if (last.empty()) last.push_back(condition);
    return last;
  }

  // In an executable, CUDA keeps the node numbers of the outermost graph and appends the nodes of
  // child graphs and bodies: all nodes of one graph, then those inside its nodes.
  Span add_graph(CUgraph graph, const ScopePath& scope, ObservedNode::Recorded recorded) {
    const std::vector<CUgraphNode> nodes = nodes_of(graph);
    ++depth_;
    const bool is_outermost = next_number_ == 0;
    const std::uint32_t first_number = next_number_;
    next_number_ += static_cast<std::uint32_t>(nodes.size());
    std::unordered_map<CUgraphNode, std::size_t> index;
    std::vector<Span> spans;
    spans.reserve(nodes.size());
    for (const CUgraphNode node : nodes) {
      const auto number_in_graph = static_cast<std::uint32_t>(spans.size());
      index.emplace(node, number_in_graph);
      spans.push_back(add_node(
          node, is_outermost ? knowledge_.profiler_number_of(node) : first_number + number_in_graph,
          scope, recorded));
    }
    std::vector<bool> has_before(nodes.size(), false), has_after(nodes.size(), false);
    for (const auto& [before, after] : edges_of(graph)) {
      const auto from = index.find(before), to = index.find(after);
      if (from == index.end() || to == index.end()) continue;
      has_after[from->second] = has_before[to->second] = true;
      connect(spans[from->second].last, spans[to->second].first, scope);
    }
    Span whole;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!has_before[i])
        whole.first.insert(whole.first.end(), spans[i].first.begin(), spans[i].first.end());
      if (!has_after[i])
        whole.last.insert(whole.last.end(), spans[i].last.begin(), spans[i].last.end());
    }
    --depth_;
    return whole;
  }

  // Renumbers the nodes topologically; ties in creation order.
  void sort() {
    std::vector<ObservedNode> sorted;
    sorted.reserve(graph_.nodes.size());
    // The result contains every node, because CUDA rejects cycles.
    for (const std::uint32_t node :
         order_forward(static_cast<std::uint32_t>(graph_.nodes.size()), graph_.edges)) {
      sorted.push_back(std::move(graph_.nodes[node]));
    }
    graph_.nodes = std::move(sorted);
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
