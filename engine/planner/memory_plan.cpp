#include <reprise/memory_plan.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <reprise/error.hpp>

#include "base/aligned_up.hpp"
#include "planner/ejection_descent.hpp"
#include "planner/greedy_pack.hpp"
#include "planner/interval_fit.hpp"
#include "planner/keep_offsets.hpp"
#include "planner/merged_lifetimes.hpp"
#include "planner/pack_improver.hpp"
#include "planner/portfolio_search.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMaxTotalBytes = std::uint64_t{1} << 62;
// Methods that inspect each pair of overlapping lifetimes run up to this many pairs.
constexpr std::uint64_t kMaxPairsWithoutBudget = 1'000'000, kMaxPairs = 30'000'000;
// Pairs inspected by greedy packings without a budget; longer lists try fewer orders.
constexpr std::uint64_t kGreedyPairs = 700'000;
// Every plan includes an exact search of a few steps for groups of up to this many items.
constexpr std::uint32_t kShortSearchItems = 500;
constexpr std::uint64_t kShortSearchSteps = 1000;
// Step budget of the ejection search after the greedy packings.
constexpr std::uint64_t kEjectionSteps = 800'000;
// Blocks are planned separately if their number is at most this part of the number of buffers. With
// a budget, their search starts after 1/16 and ends after 3/4 of it.
constexpr double kMaxBlocksPart = 0.95;
constexpr int kBlocksStartDivisor = 16;

[[noreturn]] void throw_invalid(const std::string& text) {
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Memory;
  throw Error(std::move(details), "plan_memory: " + text);
}

void check(std::span<const BufferLifetime> buffers) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferLifetime& buffer = buffers[i];
    const auto name = [&] { return "buffer " + std::to_string(i); };
    if (buffer.lower >= buffer.upper) {
      throw_invalid(name() + ": upper " + std::to_string(buffer.upper) + " is not above lower " +
                    std::to_string(buffer.lower));
    }
    if (buffer.alignment == 0) throw_invalid(name() + " has alignment 0");
    if (buffer.alignment > kMaxTotalBytes || buffer.size > kMaxTotalBytes ||
        (sum += buffer.size + buffer.alignment) > kMaxTotalBytes) {
      throw_invalid(name() + ": the sum of sizes and alignments up to here exceeds 2^62");
    }
  }
}

// The maximum number of bytes alive at one time. Offsets are multiples of the common divisor of all
// alignments, so every live item except the topmost one occupies its size rounded up to that
// divisor.
std::uint64_t max_live_bytes(std::span<const PackItem> items, const LifetimeCliques& cliques) {
  std::uint64_t common = 0;
  for (const PackItem& item : items) common = std::gcd(common, item.alignment);
  std::vector<std::vector<std::uint32_t>> ending(cliques.count + std::size_t{1});
  std::multiset<std::uint64_t> padding;  // of live items
  std::uint64_t live = 0, max = 0;
  std::size_t next = 0;
  for (std::uint32_t clique = 0; clique < cliques.count; ++clique) {
    for (const std::uint32_t i : ending[clique]) {
      const std::uint64_t pitch = aligned_up(items[i].bytes, common);
      live -= pitch;
      padding.erase(padding.find(pitch - items[i].bytes));
    }
    for (; next < items.size() && cliques.ranges[cliques.by_start[next]].begin == clique; ++next) {
      const std::uint32_t i = cliques.by_start[next];
      const std::uint64_t pitch = aligned_up(items[i].bytes, common);
      live += pitch;
      padding.insert(pitch - items[i].bytes);
      ending[cliques.ranges[i].end].push_back(i);
    }
    max = std::max(max, live - *padding.rbegin());
  }
  return max;
}

// Buffers whose lifetimes overlap no buffer outside the group.
struct Group {
  std::vector<std::uint32_t> buffers;  // by item
  std::unique_ptr<PackProblem> problem;
  std::unique_ptr<PackImprover> improver;
};

// Plans buffers that are not empty.
class LifetimePlanner {
 public:
  // `buffers` and `desc` outlive the planner.
  LifetimePlanner(std::span<const BufferLifetime> buffers, const MemoryPlanDesc& desc)
      : buffers_(buffers), desc_(desc), start_(Clock::now()) {
    for (const BufferLifetime& buffer : buffers) items_.push_back({buffer.size, buffer.alignment});
    cliques_ = find_cliques(buffers);
    lower_bound_ = max_live_bytes(items_, cliques_);
  }

  void run() {
    plan_without_search();
    if (desc_.budget.count() == 0) return;
    if (blocks_) {
      improve(desc_.budget / kBlocksStartDivisor);
      improve_blocks(desc_.budget / 4 * 3);
    }
    improve(desc_.budget);
  }

  // Switches to the packing that keeps the earlier offsets, if its peak is within desc.keep_within.
  void keep(std::span<const std::uint64_t> earlier) {
    Packing kept = keep_offsets(cliques_, items_, earlier);
    if (static_cast<double>(kept.peak_bytes) <=
        static_cast<double>(best_.peak_bytes) * (1 + desc_.keep_within))
      best_ = std::move(kept);
  }

  [[nodiscard]] const Packing& best() const noexcept { return best_; }
  [[nodiscard]] std::uint64_t lower_bound() const noexcept { return lower_bound_; }
  // True if the peak is proved to be minimal.
  [[nodiscard]] bool is_optimal() const noexcept {
    return best_.peak_bytes <= lower_bound_ || (is_exhausted_ && best_.peak_bytes <= optimum_);
  }

 private:
  void plan_without_search() {
    best_ = fit_intervals(cliques_, items_, lower_bound_);
    if (best_.peak_bytes <= lower_bound_) return;
    plan_blocks();
    const std::uint64_t max_pairs = desc_.budget.count() > 0 ? kMaxPairs : kMaxPairsWithoutBudget;
    if (best_.peak_bytes > lower_bound_ && cliques_.overlaps <= max_pairs) pack_groups();
  }

  // Plans the blocks of merged lifetimes, a shorter list, and adopts the plan if its peak is lower.
  void plan_blocks() {
    merged_ = MergedLifetimes(buffers_);
    if (static_cast<double>(merged_.blocks().size()) >
        kMaxBlocksPart * static_cast<double>(buffers_.size()))
      return;
    blocks_desc_.budget = desc_.budget;
    blocks_desc_.capacity = desc_.capacity;
    blocks_ = std::make_unique<LifetimePlanner>(merged_.blocks(), blocks_desc_);
    blocks_->plan_without_search();
    adopt_blocks();
  }
  void improve_blocks(std::chrono::nanoseconds until) {
    if (best_.peak_bytes <= lower_bound_) return;
    blocks_desc_.progress = [this](const MemoryPlanProgress& at) {
      report(std::min(at.peak_bytes, best_.peak_bytes));
    };
    blocks_->improve(until);
    adopt_blocks();
  }
  void adopt_blocks() {
    if (blocks_->best().peak_bytes >= best_.peak_bytes) return;
    best_.offsets = merged_.offsets_of_buffers(blocks_->best().offsets);
    best_.peak_bytes = blocks_->best().peak_bytes;
    for (Group& group : groups_) group.improver->offer(packing_of(group));
  }

  // Packs separately each group whose peak is above the lower bound.
  void pack_groups() {
    for (const IndexRange& range : independent_groups(cliques_)) {
      Group group;
      group.buffers.assign(cliques_.by_start.begin() + range.begin,
                           cliques_.by_start.begin() + range.end);
      Packing packing = packing_of(group);
      if (packing.peak_bytes <= lower_bound_) continue;
      group.problem =
          std::make_unique<PackProblem>(interval_problem(cliques_, items_, group.buffers));
      Packing greedy = best_greedy(*group.problem, lower_bound_, max_packings());
      if (greedy.peak_bytes < packing.peak_bytes) packing = std::move(greedy);
      packing = descend_by_ejections(*group.problem, std::move(packing),
                                     {.target = lower_bound_, .step_budget = kEjectionSteps});
      group.improver = std::make_unique<PackImprover>(*group.problem, std::move(packing),
                                                      lower_bound_, desc_.capacity.value_or(0));
      groups_.push_back(std::move(group));
    }
    for (Group& group : groups_) search_briefly(*group.improver, group.problem->size());
    collect();
  }

  // The part of the best packing that belongs to the group.
  [[nodiscard]] Packing packing_of(const Group& group) const {
    Packing packing;
    for (const std::uint32_t buffer : group.buffers) {
      packing.offsets.push_back(best_.offsets[buffer]);
      packing.peak_bytes =
          std::max(packing.peak_bytes, best_.offsets[buffer] + items_[buffer].bytes);
    }
    return packing;
  }

  [[nodiscard]] std::uint64_t max_packings() const {
    return desc_.budget.count() > 0
               ? 2 * kPackOrders
               : 1 + kGreedyPairs / std::max<std::uint64_t>(cliques_.overlaps, 1);
  }

  // A few steps of an exact search; the same on every run.
  static void search_briefly(PackImprover& improver, std::uint32_t size) {
    if (size > kShortSearchItems) return;
    for (int attempt = 0; attempt < 4 && !improver.is_done(); ++attempt)
      improver.attempt(nullptr, kShortSearchSteps);
  }

  void collect() {
    for (const Group& group : groups_) {
      for (std::size_t i = 0; i < group.buffers.size(); ++i)
        best_.offsets[group.buffers[i]] = group.improver->best().offsets[i];
    }
    best_.peak_bytes = 0;
    for (std::size_t i = 0; i < items_.size(); ++i)
      best_.peak_bytes = std::max(best_.peak_bytes, best_.offsets[i] + items_[i].bytes);
  }

  // Searches the group with the highest peak until that peak cannot decrease, or until `until`
  // after the start.
  void improve(std::chrono::nanoseconds until) {
    const auto is_expired = [&] { return Clock::now() - start_ >= until; };
    const Group* searched = nullptr;
    std::unique_ptr<PortfolioSearch> search;  // of that group
    const auto lower = [](const Group& a, const Group& b) {
      return a.improver->best().peak_bytes < b.improver->best().peak_bytes;
    };
    while (!groups_.empty()) {
      Group& highest = *std::max_element(groups_.begin(), groups_.end(), lower);
      if (highest.improver->is_done()) {
        is_exhausted_ = true;
        optimum_ = highest.improver->best().peak_bytes;
        break;
      }
      if (is_expired()) break;
      if (searched != &highest) {
        search.reset();
        search = std::make_unique<PortfolioSearch>(*highest.problem, *highest.improver,
                                                   lower_bound_, desc_.capacity.value_or(0));
        searched = &highest;
      }
      search->attempt(is_expired);
      report(highest.improver->best().peak_bytes);
    }
    collect();
  }

  void report(std::uint64_t peak_bytes) const {
    if (!desc_.progress) return;
    const auto spent = std::chrono::duration<double>(Clock::now() - start_),
               total = std::chrono::duration<double>(desc_.budget);
    desc_.progress({peak_bytes, lower_bound_, std::min(1.0, spent / total)});
  }

  const std::span<const BufferLifetime> buffers_;
  const MemoryPlanDesc& desc_;
  Clock::time_point start_;
  std::vector<PackItem> items_;
  LifetimeCliques cliques_;
  std::uint64_t lower_bound_ = 0, optimum_ = 0;
  Packing best_;
  MergedLifetimes merged_;
  MemoryPlanDesc blocks_desc_;
  std::unique_ptr<LifetimePlanner> blocks_;  // null: merging does not shorten the list enough
  std::vector<Group> groups_;
  bool is_exhausted_ = false;  // a search proved that no peak is below optimum_
};

// The buffers that are not empty, and their indices in the list.
struct NonEmpty {
  std::vector<BufferLifetime> buffers;
  std::vector<std::uint32_t> indices;
};

NonEmpty select_non_empty(std::span<const BufferLifetime> buffers) {
  NonEmpty selected;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size == 0) continue;
    selected.indices.push_back(i);
    selected.buffers.push_back(buffers[i]);
  }
  return selected;
}

}  // namespace

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

MemoryPlan plan_memory(std::span<const BufferLifetime> buffers, const MemoryPlanDesc& desc) {
  using namespace detail;
  if (buffers.data() == nullptr && !buffers.empty())
    throw_invalid(std::to_string(buffers.size()) + " buffers at a null address");
  if (desc.keep.data() == nullptr && !desc.keep.empty())
    throw_invalid(std::to_string(desc.keep.size()) + " offsets to keep at a null address");
  check(buffers);
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  const NonEmpty selected = select_non_empty(buffers);
  if (selected.indices.empty()) {
    plan.is_optimal = true;
    return plan;
  }
  LifetimePlanner planner(selected.buffers, desc);
  planner.run();
  if (!desc.keep.empty()) {
    std::vector<std::uint64_t> earlier;
    for (const std::uint32_t i : selected.indices)
      earlier.push_back(i < desc.keep.size() ? desc.keep[i] : kUnplaced);
    planner.keep(earlier);
  }
  for (std::size_t i = 0; i < selected.indices.size(); ++i)
    plan.offsets[selected.indices[i]] = planner.best().offsets[i];
  plan.peak_bytes = planner.best().peak_bytes;
  plan.lower_bound = planner.lower_bound();
  plan.is_optimal = planner.is_optimal();
  return plan;
}

}  // namespace reprise::inline REPRISE_ABI
