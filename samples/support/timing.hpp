// The steady-state time of a sample's unit of work: the option --time. Knows nothing of the engine.
// Threads: the main thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "support/program.hpp"

namespace samples {

class Timing {
 public:
  // `program` outlives the object.
  explicit Timing(Program& program) {
    program.options
        .add_option("--time", launches_,
                    "also times the work: blocks of this many launches in a row, after one block "
                    "that is not counted")
        ->check(CLI::Range(1, 1000000));
  }

  [[nodiscard]] bool wanted() const { return launches_ != 0; }
  // With --time, calls `run(launches)` for each block, and prints the median and range of the
  // blocks' times for one unit. `run` launches that many times in a row and waits for the end; a
  // launch does `units` units of work. The line is the same for all samples; programs read it.
  template <class Run>
  void measure(const char* unit, const char* how, std::uint64_t units, const Run& run) const {
    if (!wanted()) return;
    run(launches_);
    std::array<double, 5> us{};
    for (double& one : us) {
      const auto began = std::chrono::steady_clock::now();
      run(launches_);
      const std::chrono::duration<double, std::micro> taken =
          std::chrono::steady_clock::now() - began;
      one = taken.count() / (static_cast<double>(launches_) * static_cast<double>(units));
    }
    std::sort(us.begin(), us.end());
    std::printf("time of one %s, %s: %.3f us (%.3f to %.3f; %zu blocks of %u launches)\n", unit,
                how, us[us.size() / 2], us.front(), us.back(), us.size(), launches_);
  }

 private:
  std::uint32_t launches_ = 0;  // of a block; 0: without --time
};

}  // namespace samples
