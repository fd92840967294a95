// FaultMarks: the nodes of a host graph that have started and not ended, for a plan with fault
// markers. After a device loss no end is recorded, so the running nodes stay known. Threads: any;
// the end of a node follows all its starts.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/device_generation.hpp"

namespace reprise::detail {

class FaultMarks {
 public:
  FaultMarks(const DeviceGeneration& generation, std::size_t nodes)
      : generation_(generation), marks_(nodes) {}

  void begin(std::uint32_t node, std::uint64_t replay) noexcept {
    marks_[node].begun.store(replay, std::memory_order_release);
  }
  void end(std::uint32_t node, std::uint64_t replay) noexcept {
    if (!generation_.is_lost()) marks_[node].ended.store(replay, std::memory_order_release);
  }
  [[nodiscard]] std::vector<UnfinishedNode> unfinished() const {
    std::vector<UnfinishedNode> found;
    for (std::uint32_t node = 0; node < marks_.size(); ++node) {
      const std::uint64_t begun = marks_[node].begun.load(std::memory_order_acquire);
      if (begun > marks_[node].ended.load(std::memory_order_acquire))
        found.push_back({node, begun});
    }
    return found;
  }

 private:
  struct Mark {
    std::atomic<std::uint64_t> begun{0}, ended{0};  // replays
  };
  const DeviceGeneration generation_;
  std::vector<Mark> marks_;
};

}  // namespace reprise::detail
