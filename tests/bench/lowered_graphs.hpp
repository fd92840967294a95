// Executables of one graph, lowered in a way that an axis names. Threads: one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "profiled_graph.hpp"

namespace reprise::bench {

// CUDA makes some executables of the same graph faster than others, whoever asks for them: so many
// are measured in turns.
inline constexpr std::uint32_t kSeveralExecutables = 3;

struct LoweredGraphsDesc {
  std::string lowering;  // as lowering_of() takes it
  CompileDesc compile = {};
  TuneDesc tune = {};  // where lowering is "tuned"
};

class LoweredGraphs {
 public:
  using Compile = std::function<CapturedGraph(const CompileDesc&)>;
  // `queue` and `stream`, which are the same, outlive it.
  LoweredGraphs(const LoweredGraphsDesc& desc, Compile compile, const Queue& queue,
                const TimedStream& stream);
  LoweredGraphs(const LoweredGraphs&) = delete;
  LoweredGraphs& operator=(const LoweredGraphs&) = delete;
  ~LoweredGraphs();

  // Another one, launched once. "tuned": the first is, and those after it are compiled with what it
  // was tuned to.
  void make_one();

  [[nodiscard]] std::vector<CapturedGraph>& graphs() noexcept { return graphs_; }
  [[nodiscard]] const std::string& chosen() const noexcept {
    return chosen_;
  }  // by tune(); empty: it was not asked

 private:
  void tune();

  LoweredGraphsDesc desc_;
  Compile compile_;
  const Queue& queue_;
  const TimedStream& stream_;
  std::vector<CapturedGraph> graphs_;
  std::string chosen_;
};

// So many of each, one of each at a time and each first in its turn: that what is made earlier is
// faster is then nobody's merit.
void make_in_turns(std::span<const std::function<void()>> makers, std::uint32_t several);

}  // namespace reprise::bench
