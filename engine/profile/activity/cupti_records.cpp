#include "profile/activity/cupti_records.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace reprise::detail {
namespace {

template <class Record>
std::optional<NodeRecord> read_as(const CUpti_Activity& activity) {
  const auto& record = reinterpret_cast<const Record&>(activity);
  if (record.graphNodeId == 0) return std::nullopt;
  NodeRecord read{record.graphNodeId, record.start, record.end, record.correlationId,
                  record.streamId};
  if constexpr (requires { record.gridX; }) read.kernel = record.name;
  return read;
}

bool is_begin(const NodeRun& run) { return run.node == NodeRun::kBegin; }
bool starts_before(const NodeRun& a, const NodeRun& b) { return a.started < b.started; }

}  // namespace

std::optional<NodeRecord> node_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL: return read_as<CUpti_ActivityKernel10>(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return read_as<CUpti_ActivityMemcpy6>(record);
    case CUPTI_ACTIVITY_KIND_MEMSET: return read_as<CUpti_ActivityMemset4>(record);
    default: return std::nullopt;  // CUDA's enumeration has many more kinds
  }
}

void ReplayRuns::add(const NodeRun& run) {
  if (!runs_.empty() && starts_before(run, runs_.back())) sorted_ = false;
  runs_.push_back(run);
}

ReplayRuns::Runs::iterator ReplayRuns::find(const Wanted& wanted) {
  const auto first = std::find_if(runs_.begin(), runs_.end(), is_begin);
  if (!broken_) return first;
  auto best = runs_.end();
  std::int64_t min_error = wanted.tolerance + 1;
  for (auto at = first; at != runs_.end(); at = std::find_if(at + 1, runs_.end(), is_begin)) {
    const std::int64_t error = std::abs(at->started - wanted.started);
    if (error >= min_error) continue;
    min_error = error;
    best = at;
  }
  return best;
}

std::optional<std::vector<NodeRun>> ReplayRuns::take(const Wanted& wanted) {
  if (!std::exchange(sorted_, true)) std::stable_sort(runs_.begin(), runs_.end(), starts_before);
  const auto begin = find(wanted);
  if (begin == runs_.end()) {
    const bool is_past =
        broken_ && std::any_of(runs_.begin(), runs_.end(), [&](const NodeRun& run) {
          return is_begin(run) && run.started > wanted.started + wanted.tolerance;
        });
    if (is_past || wanted.more == More::NoneExpected) return Runs{};
    return std::nullopt;
  }
  const auto end = std::find_if(begin + 1, runs_.end(), is_begin);
  const bool is_whole = static_cast<std::size_t>(end - begin) == expected_ + wanted.besides;
  // An incomplete replay may still receive records, until later replays have arrived: one after
  // lost records, two otherwise.
  const bool is_past =
      end != runs_.end() && (broken_ || std::any_of(end + 1, runs_.end(), is_begin));
  if (!is_whole && wanted.more == More::Expected && !is_past) return std::nullopt;
  Runs taken(begin, end);
  runs_.erase(runs_.begin(), end);
  return taken;
}

}  // namespace reprise::detail
