// Series: a long chain of steps as one graph, in which everything may change between replays; and
// what plain C++ says comes out. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

namespace samples {

struct SeriesDesc {
  std::uint32_t steps = 1000;
  std::uint32_t values = 4096;
};

class Series {
 public:
  Series(const reprise::Device& device, const SeriesDesc& desc);

  // What a recording is made of; commands that are equal in two of them are not touched by an
  // update from one to the other.
  struct Recipe {
    std::uint32_t term = 1;          // of every step but those below
    std::uint32_t different_at = 0;  // a step that adds `different_term`; 0: none
    std::uint32_t different_term = 0;
    std::uint32_t more_steps = 0;  // than the description says
  };
  [[nodiscard]] reprise::CommandBuffer record(const Recipe& recipe);
  // The step in the middle, whose term is a slot; after record().
  [[nodiscard]] reprise::CommandRef slot_step() const noexcept { return slot_step_; }

  [[nodiscard]] const reprise::GpuRef<unsigned>& input() const noexcept { return input_; }
  void set_last_term(unsigned value) { last_term_.set(value); }
  // What every value is after a replay that began with `first`; `slot_term` is the slot's, `last`
  // the DeviceScalar's.
  struct Now {
    unsigned first = 0, slot_term = 0, last = 0;
    bool slot_step_enabled = true;
  };
  [[nodiscard]] unsigned expected(const Recipe& recipe, const Now& now) const;
  // Every value of the result.
  [[nodiscard]] const reprise::HostRef<unsigned>& result() const noexcept { return result_; }
  [[nodiscard]] reprise::GpuRef<unsigned> filled(const reprise::Queue& queue, unsigned value);

  static constexpr unsigned kFactor = 1664525u, kSlotTerm = 1;

 private:
  reprise::Device device_;
  SeriesDesc desc_;
  std::shared_ptr<reprise::CapturePool> pool_;
  reprise::Kernel step_, step_by_;
  reprise::Queue queue_;
  reprise::GpuRef<unsigned> input_, state_, other_;
  reprise::HostRef<unsigned> result_;
  reprise::DeviceScalar<unsigned> last_term_;
  reprise::CommandRef slot_step_;

 public:
  [[nodiscard]] const reprise::Queue& queue() const noexcept { return queue_; }
  [[nodiscard]] const std::shared_ptr<reprise::CapturePool>& pool() const noexcept { return pool_; }
};

}  // namespace samples
