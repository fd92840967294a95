#include "faults/candidates.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "base/kernel_name.hpp"

namespace reprise::faults {

namespace {

using Parameters = Candidate::Parameters;

std::vector<std::uint64_t> words_of(const std::vector<std::byte>& bytes) {
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(words[0]));
  return words;
}

// The trace has each address of a node once, at its first occurrence.
Parameters compare(const trace::GraphVersion& graph, const trace::Node& node,
                   const TraceFacts& facts, const std::vector<std::uint64_t>& words) {
  if (words.empty()) return Parameters::Unknown;
  auto at = words.begin();
  bool has_addresses = false;
  for (std::uint32_t i = 0; i < node.access_count; ++i) {
    const trace::NodeAccess& access = graph.accesses[node.first_access + i];
    const auto buffer = facts.buffers.find(graph.buffers[access.buffer].id);
    if (access.inferred == 0 || buffer == facts.buffers.end()) continue;
    has_addresses = true;
    at = std::find(at, words.end(), buffer->second + access.begin);
    if (at == words.end()) return Parameters::Different;
    ++at;
  }
  return has_addresses ? Parameters::Equal : Parameters::Unknown;
}

bool fits(const trace::GraphVersion& graph, const trace::Node& node, const DumpedGrid& grid,
          const std::string& kernel) {
  if (node.kernel == trace::kNone) return false;
  if (!kernel.empty() && graph.strings[graph.kernels[node.kernel].full_name] != kernel)
    return false;
  if (grid.grid[0] == 0) return !kernel.empty();
  return std::equal(grid.grid.begin(), grid.grid.end(), node.grid) &&
         std::equal(grid.block.begin(), grid.block.end(), node.block);
}

}  // namespace

Candidates find_candidates(const DumpedGrid& grid, const TraceFacts& facts) {
  const std::string kernel = detail::demangled(grid.kernel);
  const std::vector<std::uint64_t> words = words_of(grid.parameters);
  std::vector<Candidate> all;
  for (const auto& [id, graph] : facts.graphs) {
    const auto replays = facts.replays.find(id);
    const bool is_running = replays != facts.replays.end() && !replays->second.empty();
    for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
      if (!fits(graph, graph.nodes[n], grid, kernel)) continue;
      Candidate one{.graph = id, .node = n};
      if (is_running) {
        one.first_replay = replays->second.front().replay;
        one.last_replay = replays->second.back().replay;
        one.launched = replays->second.back().launched;
      }
      one.parameters = compare(graph, graph.nodes[n], facts, words);
      all.push_back(one);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    const auto order = [](const Candidate& one) {
      return std::tuple(one.parameters, one.last_replay == 0, -one.launched);
    };
    return order(a) < order(b);
  });
  Candidates found;
  for (const Candidate& one : all) {
    const bool is_excluded =
        one.parameters == Parameters::Different && all.front().parameters == Parameters::Equal;
    if (is_excluded) {
      ++found.excluded;
    } else {
      found.nodes.push_back(one);
    }
  }
  return found;
}

std::vector<std::uint32_t> successors(const trace::GraphVersion& graph, std::uint32_t node) {
  std::vector<bool> follows(graph.nodes.size());
  std::vector<std::uint32_t> found;
  if (node >= follows.size()) return found;
  follows[node] = true;
  for (const trace::Edge& edge : graph.edges) {  // sorted by `to`, which follows `from`
    if (!follows[edge.from] || follows[edge.to]) continue;
    follows[edge.to] = true;
    found.push_back(edge.to);
  }
  return found;
}

}  // namespace reprise::faults
