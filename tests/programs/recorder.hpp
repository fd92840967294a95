// Records the recordings of one graph of a program. Under Ordering::Explicit it adds barriers and
// edges that order all commands that share memory. Threads: one at a time.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "programs/program.hpp"

namespace reprise::test::programs {

struct Kernels {
  explicit Kernels(const Device& device);
  Kernel add, mix, mix_early, reverse, sum, decide, count_down;
};

// The memories of a program on a device.
struct DeviceMemories {
  std::vector<BufferView> views;                    // by memory; empty: borrowed
  std::vector<std::vector<std::uint8_t>> borrowed;  // by memory; empty: not borrowed
};

class GraphRecorder {
 public:
  // The arguments outlive the recorder, and it outlives the launches of its recordings.
  GraphRecorder(const Device& device, CapturePool& pool, const Kernels& kernels,
                const Program& program, const Graph& graph, DeviceMemories& memories);

  struct Commands {
    CommandBuffer buffer;
    std::map<std::uint32_t, CommandRef> refs = {};  // by id
  };
  [[nodiscard]] Commands record(const Recording& recording);

 private:
  // Accesses of a command, by memory.
  struct Uses {
    std::set<std::uint32_t> read, written;
  };
  struct Recorded {
    Uses uses;
    CommandRef ref;
  };
  // One level of a recording.
  struct Scope {
    Recorder& into;
    std::map<std::uint32_t, CommandRef>& refs;
    Ordering ordering;
    const std::vector<std::uint32_t>& slots;
    std::vector<Recorded> unordered = {};  // since the last global barrier
  };

  void record(Scope& scope, const Recording& recording);
  void record(Scope& scope, const Command& command);
  void record_conditional(Scope& scope, const Command& command);
  CommandRef record_transfer(Scope& scope, const Command& command) const;
  [[nodiscard]] CommandBuffer secondary(const Scope& scope, const Recording& body);
  // Orders the next command after those that it conflicts with. Returns the commands that still
  // need an edge to it.
  [[nodiscard]] std::vector<CommandRef> order(Scope& scope, std::uint32_t id,
                                              const Uses& uses) const;
  static void barrier(Scope& scope);

  [[nodiscard]] BufferView view(const Location& at, std::uint64_t bytes) const;
  [[nodiscard]] GpuRef<const unsigned> source(const Command& command, std::uint32_t words) const;
  [[nodiscard]] GpuRef<unsigned> destination(const Command& command, std::uint32_t words) const;

  const Device& device_;
  const Kernels& kernels_;
  const Program& program_;
  DeviceMemories& memories_;
  GpuRef<unsigned> counters_;                      // of loops, by id
  std::map<std::uint32_t, Condition> conditions_;  // by id
};

}  // namespace reprise::test::programs
