#include "backend/cuda/segments/segment_marks.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace reprise::detail {
namespace {

class MarkReader {
 public:
  MarkReader(const SegmentRecords& records, std::span<const SegmentMark> marks)
      : records_(records), marks_(marks) {
    for (const SegmentMark& mark : marks) run_ = std::max(run_, mark.run());
  }

  std::vector<UnfinishedNode> read() const {
    std::map<std::uint32_t, UnfinishedNode> running;                            // by node
    std::map<std::pair<std::uint32_t, std::uint32_t>, UnfinishedNode> waiting;  // and what for
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const SegmentMark& mark = marks_[i];
      if (!is_current(mark)) continue;
      const std::uint32_t node = records_.node_of(mark.record);
      if (mark.state() == SegmentMark::kRunning &&
          !is_at_barrier(mark, marks_of(static_cast<std::uint32_t>(i / SegmentMark::kWarps))))
        running[node] = {node, run_};
      if (mark.state() != SegmentMark::kWaiting) continue;
      const std::uint32_t waits_for = open_wait_of(mark.record);
      if (waits_for == kNone) continue;  // about to run
      ++waiting.try_emplace({node, waits_for}, UnfinishedNode{node, run_, waits_for, 0})
            .first->second.waiting_blocks;
    }
    std::vector<UnfinishedNode> found;
    for (const auto& [node, unfinished] : running) found.push_back(unfinished);
    for (const auto& [node, unfinished] : waiting) found.push_back(unfinished);
    return found;
  }

 private:
  [[nodiscard]] std::span<const SegmentMark> marks_of(std::uint32_t list) const {
    return marks_.subspan(std::size_t{list} * SegmentMark::kWarps, SegmentMark::kWarps);
  }
  [[nodiscard]] bool is_current(const SegmentMark& mark) const {
    return mark.run() == run_ && mark.record < records_.records().size();
  }
  // A running record can begin with a barrier, at which its first warps wait for the others.
  [[nodiscard]] bool is_at_barrier(const SegmentMark& mark,
                                   std::span<const SegmentMark> of_list) const {
    if ((records_.records()[mark.record].word & SegmentRecord::kSync) == 0) return false;
    return std::any_of(of_list.begin(), of_list.end(), [&](const SegmentMark& other) {
      if (!is_current(other)) return false;
      return (other.state() == SegmentMark::kRunning && other.record < mark.record) ||
             (other.state() == SegmentMark::kWaiting && other.record <= mark.record);
    });
  }
  [[nodiscard]] bool has_ended(std::uint32_t record) const {
    const auto first = records_.first();
    const auto list = static_cast<std::uint32_t>(
        std::upper_bound(first.begin(), first.end(), record) - first.begin() - 1);
    const auto marks = marks_of(list);
    // Every block has threads in the first warp.
    const SegmentMark& leading = marks.front();
    const bool is_behind = leading.run() != run_ || leading.record < record ||
                           (leading.record == record && leading.state() != SegmentMark::kEnded);
    return !is_behind && std::none_of(marks.begin(), marks.end(), [&](const SegmentMark& mark) {
      return mark.run() == run_ && mark.record == record && mark.state() == SegmentMark::kRunning;
    });
  }
  // The first node that the record waits for and that has not ended.
  [[nodiscard]] std::uint32_t open_wait_of(std::uint32_t record) const {
    for (const std::uint32_t node : records_.waits_of(record)) {
      const auto records = records_.records_of(node);
      if (!std::all_of(records.begin(), records.end(),
                       [this](std::uint32_t of) { return has_ended(of); }))
        return node;
    }
    return kNone;
  }

  const SegmentRecords& records_;
  const std::span<const SegmentMark> marks_;
  std::uint32_t run_ = 0;  // the latest
};

}  // namespace

std::vector<UnfinishedNode> unfinished_in_segment(const SegmentRecords& records,
                                                  std::span<const SegmentMark> marks) {
  return MarkReader(records, marks).read();
}

}  // namespace reprise::detail
