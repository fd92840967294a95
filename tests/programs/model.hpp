// The meaning of a program in plain C++: commands one after the other, in recorded order. Knows no
// device. Threads: one at a time.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "programs/program.hpp"

namespace reprise::test::programs {

using Bytes = std::vector<std::uint8_t>;

// A graph between launches.
struct GraphState {
  std::uint32_t recording = 0;
  std::vector<std::uint32_t> slots;
  std::set<std::uint32_t> disabled;  // ids
  std::vector<std::uint32_t> bound;  // by memory: the memory that replays use
};

class Model {
 public:
  // `copies`: of every memory, as many as the program has replicas.
  Model(const Program& program, std::uint32_t copies);

  [[nodiscard]] GraphState& graph(std::uint32_t index) { return graphs_[index]; }
  // The graph becomes its recording `index`, as after a compile.
  void reset(std::uint32_t graph, std::uint32_t index);
  void launch(std::uint32_t graph, std::uint32_t replica);
  void set_scalar(std::uint32_t value);
  // Writes pinned and borrowed memory, as the host does between launches.
  void change_host_memory(std::uint32_t seed);
  [[nodiscard]] Bytes& contents(std::uint32_t memory, std::uint32_t copy) {
    return contents_[copy][memory];
  }

 private:
  struct Replay {
    const GraphState& state;
    std::vector<Bytes>& contents;
  };
  static void execute(const Recording& recording, const Replay& replay);
  static void execute(const Command& command, const Replay& replay);

  const Program& program_;
  std::vector<GraphState> graphs_;
  std::vector<std::vector<Bytes>> contents_;  // by copy, then memory
};

}  // namespace reprise::test::programs
