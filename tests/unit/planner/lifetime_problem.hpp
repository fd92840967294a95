// Packing problems made of lifetimes. Threads: any.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "planner/lifetime_cliques.hpp"

namespace reprise::test {

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 20;  // the bytes that cut_lifetimes() fills

inline detail::PackProblem problem_of(const std::vector<BufferLifetime>& buffers) {
  std::vector<detail::PackItem> items;
  for (const BufferLifetime& buffer : buffers) items.push_back({buffer.size, buffer.alignment});
  std::vector<std::uint32_t> all(buffers.size());
  std::iota(all.begin(), all.end(), 0u);
  return detail::interval_problem(detail::find_cliques(buffers), items, all);
}

}  // namespace reprise::test
