#include "injection/program_waits.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxRanges = 100'000;  // between two calls of collect()

}  // namespace

void ProgramWaits::launched(std::uint64_t stream, std::uint32_t graph, std::uint64_t replay) {
  const std::lock_guard lock(mutex_);
  streams_[stream] = {graph, replay};
}

void ProgramWaits::removed(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

void ProgramWaits::began(Wait wait, std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  if (wait.what == Wait::For::Stream) {
    if (const auto last = streams_.find(stream); last != streams_.end()) {
      wait.graph = last->second.graph;
      wait.replay = last->second.replay;
    }
  }
  waits_[wait.thread] = {wait};
}

void ProgramWaits::ended(std::uint32_t thread, Result result, trace::Time at) {
  const std::lock_guard lock(mutex_);
  const auto found = waits_.find(thread);
  if (found == waits_.end()) return;
  const Wait wait = found->second.wait;
  waits_.erase(found);
  const bool ends_replays =
      wait.what == Wait::For::Everything || (wait.graph != trace::kNone && wait.replay != 0);
  if (result == Result::Failure || !ends_replays || ranges_.size() >= kMaxRanges) return;
  ranges_.push_back({thread, 0, wait.started, at, wait.call, wait.graph, wait.replay});
}

std::optional<ProgramWaits::Wait> ProgramWaits::take_hang(trace::Time limit, trace::Time now) {
  const std::lock_guard lock(mutex_);
  for (auto& [thread, current] : waits_) {
    if (current.is_reported || now - current.wait.started < limit) continue;
    current.is_reported = true;
    return current.wait;
  }
  return std::nullopt;
}

void ProgramWaits::collect(std::vector<trace::Record>& records) {
  const std::lock_guard lock(mutex_);
  for (trace::HostRange& range : ranges_) records.emplace_back(std::move(range));
  ranges_.clear();
}

}  // namespace reprise::detail
