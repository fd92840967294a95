// NodeScopes: what the creating thread did when a graph node was created: its open named ranges,
// calls of NCCL and call stack.
// Threads: OpenScopes belongs to one thread; NodeScopes one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "injection/observed_graph.hpp"

namespace reprise::detail {

class OpenScopes {
 public:
  // Ranges nest within their domain.
  void push(std::uint64_t domain, std::string_view name);
  void pop(std::uint64_t domain);
  // Null: no range is open.
  [[nodiscard]] std::shared_ptr<const ScopePath> path();
  // The label (see range_name()) of the innermost open module, otherwise of the innermost range;
  // empty: none is open.
  [[nodiscard]] std::string creator() const;

 private:
  struct Open {
    std::uint64_t domain = 0;
    std::string name;
  };
  std::vector<Open> open_;  // the first `count_`; the others keep their memory for later ranges
  std::size_t count_ = 0;
  std::shared_ptr<const ScopePath> path_;  // cache of open_; null: outdated
};

class NodeScopes {
 public:
  void add(std::uint64_t graph, std::uint64_t node, NodeOrigin origin);
  // The copy gets the origin of the original.
  void copy(std::uint64_t from, std::uint64_t to_graph, std::uint64_t to);
  void remove_node(std::uint64_t node);
  void remove_graph(std::uint64_t graph);
  [[nodiscard]] NodeOrigin find(std::uint64_t node) const;

 private:
  struct Of {
    std::uint64_t graph = 0;
    NodeOrigin origin;
  };
  std::unordered_map<std::uint64_t, Of> nodes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>
      of_graph_;  // may contain nodes that were removed
};

}  // namespace reprise::detail
