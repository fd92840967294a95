// PlanOptions: everything besides a recording and its label that determines the recording's plan. A
// graph keeps them for the plans of its updates and of tune(). Knows no device: device facts are
// members. Threads: a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

#include <reprise/cost_profile.hpp>
#include <reprise/memory_goal.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {

struct PlanOptions {
  Lowering lowering = Lowering::Auto;
  std::uint32_t alignment = 1;      // bytes, of transients
  std::uint32_t segment_lists = 1;  // of segments: DeviceLimits::max_segment_blocks
  // Lowering::Auto may make segments: may_have_segments() of the recording.
  bool may_have_segments = false;
  MemoryGoal memory_goal = MemoryGoal::Speed;
  std::chrono::nanoseconds memory_search_budget = {};
  std::shared_ptr<const CostProfile> costs = nullptr;  // null: no measured costs
  std::filesystem::path tuning_file = {};              // empty: none
};

}  // namespace reprise::detail
