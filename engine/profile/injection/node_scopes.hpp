// NodeScopes: the named ranges that a program had open on the thread that made a node of a graph,
// while it did. Threads: push() and pop() of the calling thread; the rest one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/injection/observed_graph.hpp"

namespace reprise::detail {

class OpenScopes {
 public:
  // Ranges of each domain nest among themselves.
  void push(std::uint64_t domain, std::string name);
  void pop(std::uint64_t domain);
  // Null: none is open.
  [[nodiscard]] std::shared_ptr<const ScopePath> path();

 private:
  struct Open {
    std::uint64_t domain = 0;
    std::string name;
  };
  std::vector<Open> open_;
  std::shared_ptr<const ScopePath> path_;  // of open_; null: to be made
};

class NodeScopes {
 public:
  void add(std::uint64_t graph, std::uint64_t node, std::shared_ptr<const ScopePath> path);
  // A copy has what its original has.
  void copy(std::uint64_t from, std::uint64_t to_graph, std::uint64_t to);
  void forget_node(std::uint64_t node);
  void forget_graph(std::uint64_t graph);
  // Null: none.
  [[nodiscard]] std::shared_ptr<const ScopePath> find(std::uint64_t node) const;

 private:
  struct Of {
    std::uint64_t graph = 0;
    std::shared_ptr<const ScopePath> path;
  };
  std::unordered_map<std::uint64_t, Of> nodes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>
      of_graph_;  // those that were added; some may be gone
};

}  // namespace reprise::detail
