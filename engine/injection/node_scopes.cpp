#include "injection/node_scopes.hpp"

#include <algorithm>
#include <utility>

#include "injection/range_name.hpp"

namespace reprise::detail {

void OpenScopes::push(std::uint64_t domain, std::string name) {
  open_.push_back({domain, std::move(name)});
  path_.reset();
}

void OpenScopes::pop(std::uint64_t domain) {
  const auto last = std::find_if(open_.rbegin(), open_.rend(),
                                 [&](const Open& one) { return one.domain == domain; });
  if (last == open_.rend()) return;  // opened before observation started
  open_.erase(std::next(last).base());
  path_.reset();
}

std::shared_ptr<const ScopePath> OpenScopes::path() {
  if (open_.empty()) return nullptr;
  if (!path_) {
    auto path = std::make_shared<ScopePath>();
    path->reserve(open_.size());
    for (const Open& one : open_) path->push_back(one.name);
    path_ = std::move(path);
  }
  return path_;
}

std::string OpenScopes::creator() const {
  if (open_.empty()) return {};
  const auto module = std::find_if(open_.rbegin(), open_.rend(), [](const Open& one) {
    return range_name(one.name).kind == RangeName::Kind::Module;
  });
  return std::string(range_name(module == open_.rend() ? open_.back().name : module->name).label);
}

void NodeScopes::add(std::uint64_t graph, std::uint64_t node, NodeOrigin origin) {
  if (!origin.scope && !origin.operations) {
    nodes_.erase(node);  // the address was reused
    return;
  }
  nodes_[node] = {graph, std::move(origin)};
  of_graph_[graph].push_back(node);
}

void NodeScopes::copy(std::uint64_t from, std::uint64_t to_graph, std::uint64_t to) {
  add(to_graph, to, find(from));
}

void NodeScopes::remove_node(std::uint64_t node) { nodes_.erase(node); }

void NodeScopes::remove_graph(std::uint64_t graph) {
  const auto found = of_graph_.find(graph);
  if (found == of_graph_.end()) return;
  for (const std::uint64_t node : found->second) {
    const auto at = nodes_.find(node);
    if (at != nodes_.end() && at->second.graph == graph) nodes_.erase(at);
  }
  of_graph_.erase(found);
}

NodeOrigin NodeScopes::find(std::uint64_t node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? NodeOrigin{} : found->second.origin;
}

}  // namespace reprise::detail
