// The order that a recording asks for, straight from its definition: every pair of commands looked
// at, O(n^3). What the schedule is checked against. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::test {

// A relation over commands or nodes: before(a, b) says that a comes before b.
class Relation {
 public:
  explicit Relation(std::uint32_t size) : size_(size), before_(std::size_t{size} * size, 0) {}
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return before_[std::size_t{a} * size_ + b] != 0;
  }
  void set(std::uint32_t a, std::uint32_t b) { before_[std::size_t{a} * size_ + b] = 1; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  void close();                          // adds what follows
  [[nodiscard]] bool is_cyclic() const;  // of a closed one
  friend bool operator==(const Relation&, const Relation&) = default;

 private:
  std::uint32_t size_;
  std::vector<std::uint8_t> before_;
};

// Two commands, a recorded first, that touch a byte in common, at least one writing.
[[nodiscard]] bool conflict(const detail::Recording& recording, std::uint32_t a, std::uint32_t b);
// Whether that barrier orders a before b.
[[nodiscard]] bool orders(const detail::Recording& recording, std::uint32_t barrier,
                          std::uint32_t a, std::uint32_t b);
// Pairs that the recording's ordering, barriers and edges order directly. Barriers come in no pair.
[[nodiscard]] Relation direct_order(const detail::Recording& recording);
// The closure over commands of a schedule's edges, through its joins.
[[nodiscard]] Relation order_of(const detail::Recording& recording,
                                const detail::DependencyGraph& dependencies);
// The closure over nodes.
[[nodiscard]] Relation node_order(const detail::DependencyGraph& dependencies);

}  // namespace reprise::test
