// BodyTimestamps: the end times of the nodes in a profiling clone's bodies, by iteration. They work
// like those of the graph itself (node_timestamps.hpp), with one more timestamp kernel at the start
// of each body that counts iterations in device memory. Iterations beyond the reserved slots are
// counted only. Threads: as TimestampRing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/timing/gpu_clock.hpp"
#include "backend/cuda/timing/readback.hpp"
#include "plan/timing_layout.hpp"

namespace reprise::detail {

class BodyTimestamps {
 public:
  enum class Keep : std::uint8_t {
    Times,      // of every body
    Iterations  // iteration counts only
  };
  // The location of a body's words in a replay's row; see timestamps.cu.
  struct Words {
    std::uint32_t first = 0, nodes = 0, kept = 0;
  };

  // Null if there is nothing to record, or if `timing`, the layout of the recorded times, describes
  // other nodes than the plan's.
  [[nodiscard]] static std::unique_ptr<BodyTimestamps> make(
      const std::shared_ptr<const CudaContext>& context, const std::shared_ptr<Readback>& readback,
      const Plan& plan, const TimingLayout& timing, Keep keep);

  [[nodiscard]] std::uint64_t* memory() const noexcept { return memory_.words(); }
  // Number of replays whose rows fit.
  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint32_t row_words() const noexcept { return row_words_; }
  // True if the body has a timestamp kernel at its start. A body that runs as often as its parent
  // needs no counter.
  [[nodiscard]] bool counts(std::uint32_t body) const noexcept {
    return counts(timing_.bodies[body], keep_);
  }
  [[nodiscard]] bool records_times() const noexcept { return keep_ == Keep::Times; }
  [[nodiscard]] const Words& words_of(std::uint32_t body) const noexcept { return words_[body]; }
  [[nodiscard]] const TimingLayout& timing() const noexcept { return timing_; }

  // Fetches the row of `replay` (a timestamp number) for the two functions below.
  void read(std::uint64_t replay);
  [[nodiscard]] std::uint64_t iterations_of_body(std::uint32_t body) const noexcept {
    return iterations_[body];
  }
  // Adds the fetched times to `times`, which has the layout of the plan.
  void fill(NodeTime* times, const GpuClock& clock) const;

 private:
  [[nodiscard]] static bool counts(const BodyLayout& layout, Keep keep) noexcept {
    return keep == Keep::Times || layout.kind != BodyLayout::Kind::Nested;
  }
  struct Layout {
    std::vector<Words> words;
    std::uint32_t row_words = 0;
  };
  [[nodiscard]] static Layout make_layout(const TimingLayout& timing, Keep keep);
  BodyTimestamps(const std::shared_ptr<const CudaContext>& context,
                 const std::shared_ptr<Readback>& readback, const Plan& plan, TimingLayout timing,
                 Keep keep, Layout layout);
  void fill_iteration(std::uint32_t body, std::uint64_t iteration, NodeTime* times,
                      const GpuClock& clock) const;

  const std::shared_ptr<Readback> readback_;
  const TimingLayout timing_;
  const Keep keep_;
  const std::vector<Words> words_;  // by body
  const std::uint32_t row_words_, rows_;
  std::vector<LoweredGraph> lowered_;  // by body; copies, because this object outlives the plan
  const InstrumentationMemory memory_;
  std::vector<std::uint64_t> row_, iterations_;
};

}  // namespace reprise::detail
