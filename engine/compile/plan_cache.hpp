// PlanCache: plans of recordings, keyed by the recordings' structure, for one device and within a
// budget of bytes. On a cache hit only validation, hashing and instantiation run. Keeps no buffer,
// kernel or value of a recording alive. Threads: any thread.
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

  // The inputs of lowering and placement besides the structure of a recording.
  struct PlanKeyOptions {
    Lowering lowering = Lowering::Auto;
    std::uint32_t alignment = 1;
    MemoryGoal memory_goal = MemoryGoal::Speed;
    std::chrono::nanoseconds memory_search_budget = {};
    bool may_have_segments = false;  // see compile/stages.hpp
  };
  // Equal for recordings of the same structure and equal options; otherwise rarely equal.
  [[nodiscard]] static std::uint64_t structure_hash(const Recording& recording,
                                                    const PlanKeyOptions& options);

  // A plan with the dependencies, lowering and placement that the stages would compute for
  // `recording`; null on a miss.
  [[nodiscard]] std::shared_ptr<const Plan> find(std::uint64_t hash, const Recording& recording,
                                                 const PlanKeyOptions& options);
  // Call after find() missed. Keeps the structure of the plan if a plan with this hash was inserted
  // recently and the budget allows it.
  void insert(std::uint64_t hash, const Plan& plan, const PlanKeyOptions& options);

  // Evicts what exceeds `bytes`; 0 disables the cache.
  void set_budget(std::uint64_t bytes);
  [[nodiscard]] CompileCacheReport report() const;

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;  // of a recording without payloads
    PlanKeyOptions options;
    NodeHints hints;  // that the commands were lowered with
    std::uint64_t bytes = 0, used = 0;
  };
  [[nodiscard]] bool was_inserted(std::uint64_t hash);  // under mutex_
  void evict();                                         // under mutex_

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::array<std::uint64_t, 256> recent_{};  // hashes of recent insert() calls
  std::uint64_t clock_ = 0;
  CompileCacheReport report_{.budget = kDefaultBudget};
};

}  // namespace reprise::detail
