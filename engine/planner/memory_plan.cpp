#include <reprise/memory_plan.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <reprise/error.hpp>

#include "planner/ejection_descent.hpp"
#include "planner/greedy_pack.hpp"
#include "planner/interval_fit.hpp"
#include "planner/keep_offsets.hpp"
#include "planner/merged_lifetimes.hpp"
#include "planner/pack_improver.hpp"
#include "planner/portfolio_search.hpp"

namespace reprise {

namespace detail {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
// Pairs of buffers that live at once, for ways that look at each: without a budget and with one.
constexpr std::uint64_t kQuickPairs = 1'000'000, kMostPairs = 30'000'000;
// Pairs that are looked at without a budget, for packings in orders: fewer orders of longer lists.
constexpr std::uint64_t kPackedPairs = 700'000;
// Items of a group at most, and steps, for a look at what a search finds at once.
constexpr std::uint32_t kQuickSearch = 500;
constexpr std::uint64_t kQuickSteps = 1000;
// At one buffer beside another, for ejections from what orders find.
constexpr std::uint64_t kQuickLooks = 800'000;
// Blocks are planned by themselves where they are at most so many times the buffers; with a budget
// after the first part of so many, up to three quarters.
constexpr double kFewerBlocks = 0.95;
constexpr int kPartBeforeBlocks = 16;

[[noreturn]] void refuse(const std::string& text) {
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Memory;
  throw Error(std::move(details), "plan_memory: " + text);
}

void check(std::span<const BufferLifetime> buffers) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferLifetime& buffer = buffers[i];
    const auto named = [&] { return "buffer " + std::to_string(i); };
    if (buffer.lower >= buffer.upper) {
      refuse(named() + " ends at " + std::to_string(buffer.upper) + ", not after " +
             std::to_string(buffer.lower) + " where it begins");
    }
    if (buffer.alignment == 0) refuse(named() + " has alignment 0");
    if (buffer.alignment > kMostBytes || buffer.size > kMostBytes ||
        (sum += buffer.size + buffer.alignment) > kMostBytes) {
      refuse(named() + " makes more than 2^62 bytes together with those before it");
    }
  }
}

// The most bytes at once. Offsets are multiples of what all alignments have in common, so that all
// but the topmost of those alive need as much more as it takes to the next one.
std::uint64_t most_at_once(std::span<const PackItem> items, const LifetimeCliques& sections) {
  std::uint64_t common = 0;
  for (const PackItem& item : items) common = std::gcd(common, item.alignment);
  std::vector<std::vector<std::uint32_t>> ending(sections.sections + std::size_t{1});
  std::multiset<std::uint64_t> more;
  std::uint64_t live = 0, most = 0;
  std::size_t next = 0;
  for (std::uint32_t section = 0; section < sections.sections; ++section) {
    for (const std::uint32_t i : ending[section]) {
      const std::uint64_t pitch = aligned_up(items[i].bytes, common);
      live -= pitch;
      more.erase(more.find(pitch - items[i].bytes));
    }
    for (; next < items.size() && sections.ranges[sections.by_begin[next]].begin == section;
         ++next) {
      const std::uint32_t i = sections.by_begin[next];
      const std::uint64_t pitch = aligned_up(items[i].bytes, common);
      live += pitch;
      more.insert(pitch - items[i].bytes);
      ending[sections.ranges[i].end].push_back(i);
    }
    most = std::max(most, live - *more.rbegin());
  }
  return most;
}

// A stretch of time that shares no buffer with others.
struct Group {
  std::vector<std::uint32_t> which;  // buffers, by item
  std::unique_ptr<PackProblem> problem;
  std::unique_ptr<PackImprover> improver;
};

// Plans buffers of some bytes.
class LifetimePlanner {
 public:
  // Both outlive this.
  LifetimePlanner(std::span<const BufferLifetime> buffers, const MemoryPlanDesc& desc)
      : buffers_(buffers), desc_(desc), began_(Clock::now()) {
    for (const BufferLifetime& buffer : buffers) items_.push_back({buffer.size, buffer.alignment});
    sections_ = find_cliques(buffers);
    bound_ = most_at_once(items_, sections_);
  }

  void run() {
    plan_quickly();
    if (desc_.budget.count() == 0) return;
    if (blocks_) {
      improve(desc_.budget / kPartBeforeBlocks);
      improve_blocks(desc_.budget / 4 * 3);
    }
    improve(desc_.budget);
  }

  // Takes the packing that leaves buffers where they were, if it is not much higher.
  void keep(std::span<const std::uint64_t> earlier) {
    Packing kept = keep_offsets(sections_, items_, earlier);
    if (static_cast<double>(kept.height) <=
        static_cast<double>(best_.height) * (1 + desc_.keep_within))
      best_ = std::move(kept);
  }

  [[nodiscard]] const Packing& best() const noexcept { return best_; }
  [[nodiscard]] std::uint64_t bound() const noexcept { return bound_; }
  // The height is proved to be the least of all.
  [[nodiscard]] bool is_optimal() const noexcept {
    return best_.height <= bound_ || (is_searched_ && best_.height <= least_);
  }

 private:
  void plan_quickly() {
    best_ = fit_intervals(sections_, items_, bound_);
    if (best_.height <= bound_) return;
    plan_blocks();
    const std::uint64_t most = desc_.budget.count() > 0 ? kMostPairs : kQuickPairs;
    if (best_.height > bound_ && sections_.pairs <= most) pack_groups();
  }

  // What is likely to lie well together, which is much less, is planned by itself.
  void plan_blocks() {
    merged_ = MergedLifetimes(buffers_);
    if (static_cast<double>(merged_.blocks().size()) >
        kFewerBlocks * static_cast<double>(buffers_.size()))
      return;
    desc_of_blocks_.budget = desc_.budget;
    desc_of_blocks_.capacity = desc_.capacity;
    blocks_ = std::make_unique<LifetimePlanner>(merged_.blocks(), desc_of_blocks_);
    blocks_->plan_quickly();
    take_from_blocks();
  }
  void improve_blocks(std::chrono::nanoseconds until) {
    if (best_.height <= bound_) return;
    desc_of_blocks_.progress = [this](const MemoryPlanProgress& at) {
      report(std::min(at.height, best_.height));
    };
    blocks_->improve(until);
    take_from_blocks();
  }
  void take_from_blocks() {
    if (blocks_->best().height >= best_.height) return;
    best_.offsets = merged_.offsets_of_buffers(blocks_->best().offsets);
    best_.height = blocks_->best().height;
    for (Group& group : groups_) group.improver->offer(packing_of(group));
  }

  // The lowest packing of each group on its own; only those that the first one has above the bound.
  void pack_groups() {
    for (const IndexRange& range : independent_groups(sections_)) {
      Group group;
      group.which.assign(sections_.by_begin.begin() + range.begin,
                         sections_.by_begin.begin() + range.end);
      Packing packing = packing_of(group);
      if (packing.height <= bound_) continue;
      group.problem =
          std::make_unique<PackProblem>(interval_problem(sections_, items_, group.which));
      Packing greedy = best_greedy(*group.problem, bound_, most_packings());
      if (greedy.height < packing.height) packing = std::move(greedy);
      packing = descend_by_ejections(*group.problem, std::move(packing),
                                     {.target = bound_, .looks = kQuickLooks});
      group.improver = std::make_unique<PackImprover>(*group.problem, std::move(packing), bound_,
                                                      desc_.capacity);
      groups_.push_back(std::move(group));
    }
    for (Group& group : groups_) try_quickly(*group.improver, group.problem->size());
    collect();
  }

  // Its part of the best one.
  [[nodiscard]] Packing packing_of(const Group& group) const {
    Packing packing;
    for (const std::uint32_t buffer : group.which) {
      packing.offsets.push_back(best_.offsets[buffer]);
      packing.height = std::max(packing.height, best_.offsets[buffer] + items_[buffer].bytes);
    }
    return packing;
  }

  [[nodiscard]] std::uint64_t most_packings() const {
    return desc_.budget.count() > 0
               ? 2 * kPackOrders
               : 1 + kPackedPairs / std::max<std::uint64_t>(sections_.pairs, 1);
  }

  // A few steps of a search, the same on every run.
  static void try_quickly(PackImprover& improver, std::uint32_t size) {
    if (size > kQuickSearch) return;
    for (int attempt = 0; attempt < 4 && !improver.is_done(); ++attempt)
      improver.attempt(nullptr, kQuickSteps);
  }

  void collect() {
    for (const Group& group : groups_) {
      for (std::size_t i = 0; i < group.which.size(); ++i)
        best_.offsets[group.which[i]] = group.improver->best().offsets[i];
    }
    best_.height = 0;
    for (std::size_t i = 0; i < items_.size(); ++i)
      best_.height = std::max(best_.height, best_.offsets[i] + items_[i].bytes);
  }

  // Always the highest group, until it cannot get lower.
  void improve(std::chrono::nanoseconds until) {
    const auto is_complete = [&] { return Clock::now() - began_ >= until; };
    const Group* searched = nullptr;
    std::unique_ptr<PortfolioSearch> search;  // of that group
    const auto lower = [](const Group& a, const Group& b) {
      return a.improver->best().height < b.improver->best().height;
    };
    while (!groups_.empty()) {
      Group& highest = *std::max_element(groups_.begin(), groups_.end(), lower);
      if (highest.improver->is_done()) {
        is_searched_ = true;
        least_ = highest.improver->best().height;
        break;
      }
      if (is_complete()) break;
      if (searched != &highest) {
        search.reset();
        search = std::make_unique<PortfolioSearch>(*highest.problem, *highest.improver, bound_,
                                                   desc_.capacity);
        searched = &highest;
      }
      search->attempt(is_complete);
      report(highest.improver->best().height);
    }
    collect();
  }

  void report(std::uint64_t height) const {
    if (!desc_.progress) return;
    const auto spent = std::chrono::duration<double>(Clock::now() - began_),
               all = std::chrono::duration<double>(desc_.budget);
    desc_.progress({height, bound_, std::min(1.0, spent / all)});
  }

  const std::span<const BufferLifetime> buffers_;
  const MemoryPlanDesc& desc_;
  Clock::time_point began_;
  std::vector<PackItem> items_;
  LifetimeCliques sections_;
  std::uint64_t bound_ = 0, least_ = 0;
  Packing best_;
  MergedLifetimes merged_;
  MemoryPlanDesc desc_of_blocks_;
  std::unique_ptr<LifetimePlanner> blocks_;  // null: they are no fewer than the buffers
  std::vector<Group> groups_;
  bool is_searched_ = false;  // to the end: there is nothing below least_
};

// Those of some bytes, and where they are in the list.
struct Sized {
  std::vector<BufferLifetime> buffers;
  std::vector<std::uint32_t> which;
};

Sized with_bytes(std::span<const BufferLifetime> buffers) {
  Sized sized;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size == 0) continue;
    sized.which.push_back(i);
    sized.buffers.push_back(buffers[i]);
  }
  return sized;
}

}  // namespace

}  // namespace detail

MemoryPlan plan_memory(std::span<const BufferLifetime> buffers, const MemoryPlanDesc& desc) {
  using namespace detail;
  check(buffers);
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  const Sized sized = with_bytes(buffers);
  if (sized.which.empty()) {
    plan.is_optimal = true;
    return plan;
  }
  LifetimePlanner planner(sized.buffers, desc);
  planner.run();
  if (!desc.keep.empty()) {
    std::vector<std::uint64_t> earlier;
    for (const std::uint32_t i : sized.which)
      earlier.push_back(i < desc.keep.size() ? desc.keep[i] : kUnplaced);
    planner.keep(earlier);
  }
  for (std::size_t i = 0; i < sized.which.size(); ++i)
    plan.offsets[sized.which[i]] = planner.best().offsets[i];
  plan.height = planner.best().height;
  plan.bound = planner.bound();
  plan.is_optimal = planner.is_optimal();
  return plan;
}

}  // namespace reprise
