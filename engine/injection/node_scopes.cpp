#include "injection/node_scopes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "injection/range_name.hpp"

namespace reprise::detail {

void OpenScopes::push(std::uint64_t domain, std::string_view name) {
  if (count_ == open_.size()) open_.emplace_back();
  open_[count_].domain = domain;
  open_[count_].name.assign(name);
  ++count_;
  path_.reset();
}

void OpenScopes::pop(std::uint64_t domain) {
  const auto end = open_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto last = std::find_if(std::make_reverse_iterator(end), open_.rend(),
                                 [&](const Open& one) { return one.domain == domain; });
  if (last == open_.rend()) return;  // opened before observation started
  std::rotate(std::prev(last.base()), last.base(), end);
  --count_;
  path_.reset();
}

std::shared_ptr<const ScopePath> OpenScopes::path() {
  if (count_ == 0) return nullptr;
  if (!path_) {
    auto path = std::make_shared<ScopePath>();
    path->reserve(count_);
    for (std::size_t i = 0; i < count_; ++i) path->push_back(open_[i].name);
    path_ = std::move(path);
  }
  return path_;
}

std::string OpenScopes::creator() const {
  if (count_ == 0) return {};
  std::size_t at = count_;
  while (at-- > 0) {
    const RangeName name = range_name(open_[at].name);
    if (name.kind == RangeName::Kind::Module) return std::string(name.label);
  }
  return std::string(range_name(open_[count_ - 1].name).label);
}

void NodeScopes::add(std::uint64_t graph, std::uint64_t node, NodeOrigin origin) {
  if (!origin.is_known()) {
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
