// Executables of one graph with a given lowering. Threads: one.
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

// The speed of equal CUDA executables varies from one instantiation to the next, so several are
// measured in turn.
inline constexpr std::uint32_t kSeveralExecutables = 3;

struct LoweredGraphsDesc {
  std::string lowering;  // as lowering_of() accepts it
  CompileDesc compile = {};
  TuneDesc tune = {};  // used if lowering is "tuned"
};

class LoweredGraphs {
 public:
  using Compile = std::function<CapturedGraph(const CompileDesc&)>;
  // `queue` and `stream` denote the same stream and must outlive this object.
  LoweredGraphs(const LoweredGraphsDesc& desc, Compile compile, const Queue& queue,
                const TimedStream& stream);
  LoweredGraphs(const LoweredGraphs&) = delete;
  LoweredGraphs& operator=(const LoweredGraphs&) = delete;
  ~LoweredGraphs();

  // Compiles another executable and launches it once. With "tuned", the first one is tuned and the
  // others use its result.
  void make_one();

  [[nodiscard]] std::vector<CapturedGraph>& graphs() noexcept { return graphs_; }
  [[nodiscard]] const std::string& chosen() const noexcept {
    return chosen_;
  }  // the choice of tune(); empty if not tuned

 private:
  void tune();

  LoweredGraphsDesc desc_;
  Compile compile_;
  const Queue& queue_;
  const TimedStream& stream_;
  std::vector<CapturedGraph> graphs_;
  std::string chosen_;
};

// Creates this many of each, interleaved and rotating the first, so that no lowering profits from
// executables that are created earlier.
void make_in_turns(std::span<const std::function<void()>> makers, std::uint32_t several);

}  // namespace reprise::bench
