// PlanCache: what the stages made of recordings, kept by the structure of these, for one device and
// within a budget of bytes. Keeps no buffer, no kernel and no value of a recording alive. Threads:
// any.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <reprise/compile_cache.hpp>
#include <reprise/memory_goal.hpp>
#include <reprise/types.hpp>

#include "lowering/lowering_config.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class PlanCache {
 public:
  static constexpr std::uint64_t kDefaultBudget = std::uint64_t{64} << 20;

  // What a plan is made of besides the structure of its recording: all that lowering and placing
  // look at, or a hit would not be one.
  struct Way {
    Lowering lowering = Lowering::Auto;
    std::uint32_t alignment = 1;
    MemoryGoal memory_goal = MemoryGoal::Speed;
    std::chrono::nanoseconds memory_search_budget = {};
  };
  // A number that recordings of one structure, made in one way, have in common; others rarely.
  [[nodiscard]] static std::uint64_t number_of(const Recording& recording, const Way& way);

  // A plan to make that of `recording` like: its schedule, lowering and placement are those that
  // the stages would find. Null where there is none.
  [[nodiscard]] std::shared_ptr<const Plan> find(std::uint64_t number, const Recording& recording,
                                                 const Way& way);
  // After find() found none: keeps what is needed of the plan, if it is not the first of its
  // structure and has room.
  void note(std::uint64_t number, const Plan& plan, const Way& way);

  // What no longer has room goes at once; 0: everything, and nothing is kept from then on.
  void set_budget(std::uint64_t bytes);
  [[nodiscard]] CompileCacheReport report() const;

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;  // of a recording without payloads
    Way way;
    NodeHints hints;  // what lowering knew of the commands
    std::uint64_t bytes = 0, used = 0;
  };
  [[nodiscard]] bool is_seen_again(std::uint64_t number);  // under mutex_
  void make_room();                                        // under mutex_

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::array<std::uint64_t, 256> seen_{};  // numbers that came lately
  std::uint64_t clock_ = 0;
  CompileCacheReport report_{.budget = kDefaultBudget};
};

}  // namespace reprise::detail
