// PlanCache: plans of recordings, keyed by the recordings' structure, for one device and within a
// budget of bytes. On a cache hit only validation, hashing and instantiation run. Keeps no buffer,
// kernel or value of a recording alive. Threads: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <reprise/compile_cache.hpp>

#include "compile/plan_options.hpp"
#include "lowering/lowering_config.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class PlanCache {
 public:
  static constexpr std::uint64_t kDefaultBudget = std::uint64_t{64} << 20;

  // Equal for recordings of the same structure and equal options; otherwise rarely equal.
  [[nodiscard]] static std::uint64_t structure_hash(const Recording& recording,
                                                    const PlanOptions& options);

  // A plan with the dependencies, lowering and placement that the stages would compute for
  // `recording`; null on a miss.
  [[nodiscard]] std::shared_ptr<const Plan> find(std::uint64_t hash, const Recording& recording,
                                                 const PlanOptions& options);
  // Call after find() missed. Keeps the structure of the plan if a plan with this hash was inserted
  // recently and the budget allows it.
  void insert(std::uint64_t hash, const Plan& plan, const PlanOptions& options);

  // Evicts plans beyond `bytes`, the least recently used first; 0 disables the cache.
  void set_budget(std::uint64_t bytes);
  [[nodiscard]] CompileCacheReport report() const;

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;  // of a recording without payloads
    PlanOptions options;
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

// The lookup of one recording in a plan cache, at most once. Never hits if the plan depends on
// costs or on numbers of blocks, which are not part of the structure. Threads: one at a time.
class CacheLookup {
 public:
  // All references outlive the object.
  CacheLookup(PlanCache& cache, const Recording& recording, const PlanOptions& options)
      : cache_(cache), recording_(recording), options_(options) {}
  CacheLookup(const CacheLookup&) = delete;
  CacheLookup& operator=(const CacheLookup&) = delete;

  // A plan of the same structure, valid as long as this object; null: a miss.
  [[nodiscard]] const Plan* find();
  // Inserts a plan that the stages made from the recording and the options alone. No effect unless
  // find() missed.
  void insert(const Plan& plan);

 private:
  PlanCache& cache_;
  const Recording& recording_;
  const PlanOptions& options_;
  bool was_asked_ = false;
  std::optional<std::uint64_t> hash_;
  std::shared_ptr<const Plan> found_;
};

}  // namespace reprise::detail
