// Reference order of a recording, derived from its definition by checking every pair of commands,
// O(n^3). Tests compare dependency graphs against it. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::test {

// A relation over commands or nodes: before(a, b) is true if a precedes b.
class Relation {
 public:
  explicit Relation(std::uint32_t size) : size_(size), before_(std::size_t{size} * size, 0) {}
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return before_[std::size_t{a} * size_ + b] != 0;
  }
  void set(std::uint32_t a, std::uint32_t b) { before_[std::size_t{a} * size_ + b] = 1; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  void close();                          // computes the transitive closure
  [[nodiscard]] bool is_cyclic() const;  // requires close()
  friend bool operator==(const Relation&, const Relation&) = default;

 private:
  std::uint32_t size_;
  std::vector<std::uint8_t> before_;
};

// True if two commands, a recorded first, share a byte and at least one writes it.
[[nodiscard]] bool conflict(const detail::Recording& recording, std::uint32_t a, std::uint32_t b);
// True if the barrier orders a before b.
[[nodiscard]] bool orders(const detail::Recording& recording, std::uint32_t barrier,
                          std::uint32_t a, std::uint32_t b);
// The pairs that the recording's ordering, barriers and edges order directly. Excludes barriers.
[[nodiscard]] Relation direct_order(const detail::Recording& recording);
// The closure over commands of a dependency graph's edges, through its joins.
[[nodiscard]] Relation order_of(const detail::Recording& recording,
                                const detail::DependencyGraph& dependencies);
// The closure over nodes.
[[nodiscard]] Relation node_order(const detail::DependencyGraph& dependencies);

}  // namespace reprise::test
