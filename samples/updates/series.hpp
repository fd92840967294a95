// Series: a long chain of steps as one graph in which everything may change between replays, and
// its expected result in plain C++. Threads: one.
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

  // The contents of a recording. An update does not touch commands that are equal in the old and
  // the new recording.
  struct Recipe {
    std::uint32_t term = 1;          // of every step except those below
    std::uint32_t different_at = 0;  // a step that adds `different_term`; 0: none
    std::uint32_t different_term = 0;
    std::uint32_t more_steps = 0;  // in addition to the description's steps
  };
  [[nodiscard]] reprise::CommandBuffer record(const Recipe& recipe);
  // The step in the middle, whose term is a slot; valid after record().
  [[nodiscard]] reprise::CommandRef slot_step() const noexcept { return slot_step_; }

  [[nodiscard]] const reprise::GpuRef<unsigned>& input() const noexcept { return input_; }
  void set_last_term(unsigned value) { last_term_.set(value); }
  // The value of every element after a replay that started with `first`. `slot_term` is the slot's
  // value, `last` the DeviceScalar's.
  struct Now {
    unsigned first = 0, slot_term = 0, last = 0;
    bool slot_step_enabled = true;
  };
  [[nodiscard]] unsigned expected(const Recipe& recipe, const Now& now) const;
  // All values of the result.
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
