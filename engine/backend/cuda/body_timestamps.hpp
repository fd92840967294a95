// BodyTimestamps: when the nodes of a twin's bodies ended, round by round, noted like those of the
// graph itself (node_stamps.hpp), with a stamp more before everything in a body, which counts its
// rounds in device memory. Of rounds that have no slots only the number is known. Threads: as
// TimestampRing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/gpu_clock.hpp"
#include "backend/cuda/readback.hpp"
#include "plan/timing_layout.hpp"

namespace reprise::detail {

class BodyTimestamps {
 public:
  enum class Keep : std::uint8_t {
    Times,  // of every body
    Rounds  // how often they ran
  };
  // Where a body's words are in a replay's row; see stamps.cu.
  struct Words {
    std::uint32_t first = 0, nodes = 0, kept = 0;
  };

  // Null where there is nothing to be kept, or `slots`, where times are to go, are of other nodes
  // than the plan's.
  [[nodiscard]] static std::unique_ptr<BodyTimestamps> make(
      const std::shared_ptr<const CudaContext>& context, const std::shared_ptr<Readback>& readback,
      const Plan& plan, const TimingLayout& slots, Keep keep);

  [[nodiscard]] std::uint64_t* memory() const noexcept { return memory_.words(); }
  [[nodiscard]] std::uint32_t rows() const noexcept {
    return rows_;
  }  // replays in a row that there is room for
  [[nodiscard]] std::uint32_t row_words() const noexcept { return row_words_; }
  // Whether the body has a stamp before everything: one that runs as often as what it is in needs
  // none to be counted.
  [[nodiscard]] bool counts(std::uint32_t body) const noexcept {
    return counts(slots_.bodies[body], keep_);
  }
  [[nodiscard]] bool notes_times() const noexcept { return keep_ == Keep::Times; }
  [[nodiscard]] const Words& words_of(std::uint32_t body) const noexcept { return words_[body]; }
  [[nodiscard]] const TimingLayout& slots() const noexcept { return slots_; }

  // What is known of `replay`, numbered as stamps are, is looked at by the next two.
  void read(std::uint64_t replay);
  [[nodiscard]] std::uint64_t rounds_of_body(std::uint32_t body) const noexcept {
    return rounds_[body];
  }
  // Adds it to `times`, which has the slots of the plan.
  void fill(NodeTime* times, const GpuClock& clock) const;

 private:
  [[nodiscard]] static bool counts(const BodyPlace& place, Keep keep) noexcept {
    return keep == Keep::Times || place.kind != BodyPlace::Kind::Nested;
  }
  struct Layout {
    std::vector<Words> words;
    std::uint32_t row_words = 0;
  };
  [[nodiscard]] static Layout lay_out(const TimingLayout& slots, Keep keep);
  BodyTimestamps(const std::shared_ptr<const CudaContext>& context,
                 const std::shared_ptr<Readback>& readback, const Plan& plan, TimingLayout slots,
                 Keep keep, Layout layout);
  void fill_round(std::uint32_t body, std::uint64_t round, NodeTime* times,
                  const GpuClock& clock) const;

  const std::shared_ptr<Readback> readback_;
  const TimingLayout slots_;
  const Keep keep_;
  const std::vector<Words> words_;  // by body
  const std::uint32_t row_words_, rows_;
  std::vector<LoweredGraph> lowered_;  // by body; copies: this outlives the plan
  const InstrumentationMemory memory_;
  std::vector<std::uint64_t> row_, rounds_;
};

}  // namespace reprise::detail
