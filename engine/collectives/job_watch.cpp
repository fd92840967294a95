// JobRank's thread: what it reports to the other ranks, and what it concludes from their reports.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "collectives/job_rank.hpp"

namespace reprise::detail {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{100};
constexpr std::chrono::seconds kSilence{2};  // several heartbeats

}  // namespace

void JobRank::end_communicator(std::uint64_t id) noexcept {
  if (control_) control_->end_group(id);
  const std::lock_guard lock(mutex_);
  const auto ended = launches_.find(id);
  if (ended == launches_.end()) return;
  std::erase_if(graphs_, [&](const auto& graph) {
    return std::ranges::any_of(graph.second.communicators,
                               [&](const auto& in) { return in.launches == &ended->second; });
  });
  ended->second.has_ended = true;
  if (!watch_.joinable()) launches_.erase(ended);
}

void JobRank::watch() {
  std::vector<OtherRank> others(control_->size());
  auto ticked = std::chrono::steady_clock::time_point::min();
  for (;;) {
    std::string report;
    bool ends = false;
    {
      std::unique_lock lock(mutex_);
      ends = ended_.wait_for(lock, kWatchInterval, [this] { return ends_; });
      report = next_report();
    }
    control_->report_progress(std::move(report));
    if (ends) return;
    // A process that was stopped has not heard of the others meanwhile.
    const auto now = std::chrono::steady_clock::now();
    if (now - kSilence > ticked)
      for (OtherRank& other : others) other.since = now;
    ticked = now;
    if (std::string stall = find_stall(others); !stall.empty()) control_->abort(std::move(stall));
    if (is_lost()) continue;
    for (const Launch& old : old_launches())
      if (const auto graph = old.graph.lock()) graph->report_wait(old.replay, stall_limit_);
  }
}

std::string JobRank::next_report() {
  std::vector<ReportedLaunches> reported;
  for (const auto& [id, launches] : launches_)
    reported.push_back({id, launches.count, launches.has_ended});
  return report_of(reported, control_->max_report_bytes(), random_());
}

std::vector<JobRank::Launch> JobRank::old_launches() {
  // Later than a rank that lacks a launch is noticed.
  const auto limit = std::chrono::steady_clock::now() - stall_limit_ - 5 * kWatchInterval;
  std::vector<Launch> old;
  const std::lock_guard lock(mutex_);
  for (auto& [id, launches] : launches_) {
    if (launches.count == launches.checked) continue;
    const Launch& last = launches.kept[(launches.count - 1) % kKeptLaunches];
    if (last.time > limit) continue;
    launches.checked = launches.count;
    old.push_back(last);
  }
  return old;
}

std::string JobRank::find_stall(std::vector<OtherRank>& others) {
  const std::vector<RankControl::Progress> progress = control_->progress();
  const auto now = std::chrono::steady_clock::now();
  for (std::uint32_t rank = 0; rank < others.size(); ++rank) {
    OtherRank& other = others[rank];
    if (rank == control_->rank()) continue;
    const RankControl::Progress& its = progress[rank];
    if (other.reports.take(its.report, its.age, now)) other.since = now;
    std::shared_ptr<const Graph> graph;
    std::string how, missed, detail;
    bool lacks_any = false;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, launches] : launches_) {
        const auto& members = launches.members;
        if (!std::binary_search(members.begin(), members.end(), rank)) continue;
        const LaunchReports::Known* const known = other.reports.find(id);
        if (!known && its.age < stall_limit_) continue;
        const bool is_silent = !known || its.age > kSilence;
        const std::uint64_t reached = known ? known->launches.count : 0;
        if (reached >= launches.count) continue;
        lacks_any = true;
        if (known && known->is_in_latest && (!its.is_connected || known->launches.has_ended)) {
          how = its.is_connected ? "has destroyed the communicator before "
                                 : "has left the job before ";
        } else if (its.is_connected && now - other.since >= stall_limit_ &&
                   (is_silent || known->as_of - other.since >= stall_limit_)) {
          how = "has not reported ";
          detail = concat(" for ", stall_limit_.count(), " ms", is_silent ? ", and is silent" : "");
        } else {
          continue;
        }
        const std::uint64_t kept =
            launches.count > kKeptLaunches ? launches.count - kKeptLaunches : 0;
        const Launch& first = launches.kept[std::max(reached, kept) % kKeptLaunches];
        const auto label = graphs_.find(first.hash);
        missed = concat(
            first.replay == 0 ? std::string("a measured replay") : concat("replay ", first.replay),
            " of graph ", label == graphs_.end() ? "" : label->second.label);
        graph = first.graph.lock();
        break;
      }
    }
    if (!lacks_any) other.since = now;
    if (missed.empty()) continue;
    const std::string unfinished = graph ? graph->unfinished() : std::string();
    return concat("rank ", rank, " (", its.name, ") ", how, missed, detail, ", for which rank ",
                  control_->rank(), " waits", unfinished.empty() ? "" : concat("; ", unfinished));
  }
  const std::lock_guard lock(mutex_);
  forget_ended(others, progress);
  return {};
}

// The others know how many launches there were, or have ended the communicator too.
void JobRank::forget_ended(const std::vector<OtherRank>& others,
                           std::span<const RankControl::Progress> progress) {
  std::erase_if(launches_, [&](const auto& entry) {
    const auto& [id, launches] = entry;
    return launches.has_ended && std::ranges::all_of(launches.members, [&](std::uint32_t rank) {
             if (rank == control_->rank() || !progress[rank].is_connected) return true;
             const LaunchReports::Known* const known = others[rank].reports.find(id);
             return known == nullptr || known->launches.has_ended;
           });
  });
}

}  // namespace reprise::detail
