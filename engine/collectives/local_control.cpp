#include "collectives/local_control.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/abort_handlers.hpp"

namespace reprise::detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kGatherLimit{60};

// State that the ranks share; `mutex` guards it.
struct LocalRanks {
  struct Rank {
    std::string report;
    Clock::time_point heard = Clock::now();
    bool has_left = false;
    std::map<std::uint64_t, std::uint64_t> calls;  // of all_gather, by group
  };
  struct Gather {
    std::map<std::uint32_t, std::string> messages;  // by rank
    std::size_t returned = 0;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Rank> ranks;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Gather> gathers;  // by group and call
  std::string abort_reason;
  const std::shared_ptr<AbortHandlers> handlers = std::make_shared<AbortHandlers>();
};

class LocalControl final : public RankControl {
 public:
  LocalControl(std::shared_ptr<LocalRanks> job, std::uint32_t rank)
      : job_(std::move(job)), rank_(rank) {}
  LocalControl(const LocalControl&) = delete;
  LocalControl& operator=(const LocalControl&) = delete;
  ~LocalControl() override {
    {
      const std::lock_guard lock(job_->mutex);
      job_->ranks[rank_].has_left = true;
    }
    job_->changed.notify_all();
  }

  std::uint32_t rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(job_->ranks.size());
  }

  std::vector<std::string> all_gather(std::uint64_t group, std::span<const std::uint32_t> members,
                                      std::string message) override {
    std::unique_lock lock(job_->mutex);
    const auto key = std::pair(group, job_->ranks[rank_].calls[group]++);
    LocalRanks::Gather& gather = job_->gathers[key];
    gather.messages[rank_] = std::move(message);
    if (gather.messages.size() == members.size()) job_->changed.notify_all();
    const auto is_missing = [&](std::uint32_t member) { return !gather.messages.contains(member); };
    const Clock::time_point deadline = Clock::now() + kGatherLimit;
    while (gather.messages.size() < members.size()) {
      if (!job_->abort_reason.empty()) lose(job_->abort_reason);
      for (const std::uint32_t member : members)
        if (job_->ranks[member].has_left && is_missing(member))
          lose(concat("rank ", member, " has left the job"));
      if (job_->changed.wait_until(lock, deadline) != std::cv_status::timeout) continue;
      const auto late = std::find_if(members.begin(), members.end(), is_missing);
      if (late != members.end())
        lose(concat("rank ", *late, " did not call within ", kGatherLimit.count(), " s"));
    }
    std::vector<std::string> messages;
    for (const std::uint32_t member : members) messages.push_back(gather.messages[member]);
    if (++gather.returned == members.size()) job_->gathers.erase(key);
    return messages;
  }

  void end_group(std::uint64_t group) noexcept override {
    const std::lock_guard lock(job_->mutex);
    job_->ranks[rank_].calls.erase(group);
  }

  std::size_t max_report_bytes() const noexcept override { return std::string().max_size(); }
  void report_progress(std::string report) override {
    const std::lock_guard lock(job_->mutex);
    job_->ranks[rank_].report = std::move(report);
    job_->ranks[rank_].heard = Clock::now();
  }
  std::vector<Progress> progress() const override {
    const std::lock_guard lock(job_->mutex);
    std::vector<Progress> all;
    for (std::uint32_t rank = 0; rank < job_->ranks.size(); ++rank) {
      const LocalRanks::Rank& of = job_->ranks[rank];
      all.push_back({of.report, Clock::now() - of.heard, !of.has_left, "this process"});
    }
    return all;
  }

  void abort(std::string reason) noexcept override {
    {
      const std::lock_guard lock(job_->mutex);
      if (!job_->abort_reason.empty()) return;
      job_->abort_reason = reason;
    }
    job_->changed.notify_all();
    job_->handlers->run(reason);
  }
  std::string abort_reason() const override {
    const std::lock_guard lock(job_->mutex);
    return job_->abort_reason;
  }
  std::shared_ptr<const void> on_abort(std::function<void(const std::string&)> handler) override {
    if (const std::string reason = abort_reason(); !reason.empty()) {
      handler(reason);
      return nullptr;
    }
    return job_->handlers->add(std::move(handler));
  }

 private:
  [[noreturn]] static void lose(const std::string& reason) {
    fail(ErrorCode::RankLost, Stage::Wait, "", reason);
  }

  const std::shared_ptr<LocalRanks> job_;
  const std::uint32_t rank_;
};

}  // namespace

std::vector<std::shared_ptr<RankControl>> make_local_controls(std::uint32_t size) {
  const auto job = std::make_shared<LocalRanks>();
  job->ranks.resize(size);
  std::vector<std::shared_ptr<RankControl>> controls;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    controls.push_back(std::make_shared<LocalControl>(job, rank));
  return controls;
}

}  // namespace reprise::detail
