// The share of each node in the total node time. A node that runs others (a loop, a conditional)
// counts without them, so that no time counts twice and all shares add up to 1. Threads: pure
// functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trace/records.hpp"

namespace reprise::model {

// Each node's time without the nodes that it runs. `times`: including them. `parent(n)`: the node
// that runs n; trace::kNone for the graph's own nodes.
template <class Parent>
[[nodiscard]] std::vector<double> self_times(const std::vector<double>& times, Parent parent) {
  std::vector<double> self = times;
  for (std::uint32_t n = 0; n < times.size(); ++n) {
    if (const std::uint32_t p = parent(n); p != trace::kNone) self[p] -= times[n];
  }
  for (double& time : self) time = std::max(time, 0.0);  // nodes that it runs can overlap
  return self;
}

// self_times() as fractions of their sum; all 0 if the sum is 0.
template <class Parent>
[[nodiscard]] std::vector<double> node_shares(const std::vector<double>& times, Parent parent) {
  std::vector<double> shares = self_times(times, parent);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

}  // namespace reprise::model
