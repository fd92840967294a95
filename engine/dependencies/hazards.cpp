#include "dependencies/hazards.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// Minimum length of a reader list for which a search for a writer that already waits for the
// readers pays off.
constexpr std::uint32_t kLongReaderList = 8;

}  // namespace

HazardTracker::HazardTracker(const Recording& recording, std::span<const BufferAccess> in_memory)
    : recording_(recording),
      watch_(Watch::Conflicts),
      accesses_(in_memory),
      buffers_(recording.buffers.size()),
      visit_of_(recording.commands.size(), 0),
      reported_(recording.commands.size()) {
  readers_.reserve(recording.accesses.size());
}

HazardTracker::HazardTracker(const Recording& recording, Watch watch)
    : HazardTracker(recording, recording.accesses) {
  watch_ = watch;
  if (recording.places.empty()) return;
  in_memory_.reserve(recording.accesses.size());
  for (const BufferAccess& access : recording.accesses)
    in_memory_.push_back(recording.in_memory(access));
  accesses_ = in_memory_;
}

std::span<const Conflict> HazardTracker::visit(std::uint32_t command) {
  command_ = command;
  visit_of_[command] = ++visit_;
  list_head_after_ = kNone;
  conflicts_.clear();
  uninitialized_reads_.clear();
  const Command& c = recording_.commands[command];
  for (std::uint32_t i = 0; i < c.access_count; ++i) {
    const BufferAccess& access = accesses_[c.first_access + i];
    if (access.begin >= access.end) continue;
    const BufferAccess& recorded = recording_.accesses[c.first_access + i];
    buffer_ = recorded.buffer;
    offset_ = access.begin - recorded.begin;
    Buffer& buffer = buffers_[access.buffer];
    if (buffer.split == nullptr && access.shape == 0 &&
        (buffer.end == 0 || (access.begin == buffer.begin && access.end == buffer.end))) {
      buffer.begin = access.begin;
      buffer.end = access.end;
      if (buffer.history.writer == kNone && is_watched(access))
        uninitialized_reads_.push_back({access.buffer, access.begin, access.end});
      report(buffer.history, access, access.begin, access.end);
      update(buffer.history, access.access);
      continue;
    }
    if (buffer.split == nullptr) {
      if (!keys_) keys_.emplace(accesses_, buffers_.size());
      buffer.split = std::make_unique<Split>(keys_->of(access.buffer));
      Segments& segments = buffer.split->segments;
      if (buffer.end != 0)
        segments.insert(segments.slot_of(buffer.begin), segments.slot_of(buffer.end),
                        buffer.history);
    }
    visit_split(*buffer.split, access);
  }
  return conflicts_;
}

void HazardTracker::add(std::uint32_t from, Hazard hazard, std::uint64_t begin, std::uint64_t end) {
  if (from == command_) return;
  begin -= offset_;
  end -= offset_;
  Reported& reported = reported_[from];
  if (reported.visit != visit_) {
    reported = {visit_, static_cast<std::uint32_t>(conflicts_.size())};
    conflicts_.push_back({from, buffer_, hazard, begin, end});
    return;
  }
  // A repeated pair: extend the range of its conflict if the bytes are contiguous.
  Conflict& known = conflicts_[reported.conflict];
  if (known.buffer == buffer_ && known.hazard == hazard && known.end == begin) known.end = end;
}

void HazardTracker::report(const History& history, const BufferAccess& access, std::uint64_t begin,
                           std::uint64_t end, std::uint32_t since) {
  if (writes(access.access) &&
      history.readers != kNone) {  // the writer is ordered before its readers
    for (std::uint32_t r = history.readers; r != kNone && visit_of_[readers_[r].command] > since;
         r = readers_[r].next) {
      add(readers_[r].command, Hazard::WriteAfterRead, begin, end);
    }
  } else if (history.writer != kNone) {
    add(history.writer, reads(access.access) ? Hazard::ReadAfterWrite : Hazard::WriteAfterWrite,
        begin, end);
  }
}

void HazardTracker::update(History& history, Access access) {
  if (writes(access)) {
    history = {command_, kNone};
    return;
  }
  if (history.writer == command_) return;
  if (history.readers != kNone && readers_[history.readers].command == command_) return;
  if (list_head_after_ == kNone || list_head_before_ != history.readers) {
    list_head_before_ = history.readers;
    list_head_after_ = static_cast<std::uint32_t>(readers_.size());
    readers_.push_back({command_, history.readers});
  }
  history.readers = list_head_after_;
}

void HazardTracker::visit_split(Split& split, const BufferAccess& access) {
  if (is_watched(access)) find_uninitialized_reads(split, access);
  if (access.shape == 0 && split.rows.empty()) {
    visit_dense(split.segments, access);
    return;
  }
  report_with_rows(split, access);
  if (access.shape == 0) update_segments(split.segments, access);
  update_rows(split, access);
}

// Fast path: most ranges are accessed only as a whole.
void HazardTracker::visit_dense(Segments& segments, const BufferAccess& access) {
  const std::uint32_t first = segments.slot_of(access.begin), last = segments.slot_of(access.end);
  if (!segments.is_segment(first, last)) {
    if (!segments.is_free(first, last)) {
      report_segments(segments, access);
      update_segments(segments, access);
      return;
    }
    segments.insert(first, last, {});
  }
  report(segments[first].value, access, access.begin, access.end);
  update(segments[first].value, access.access);
}

void HazardTracker::report_segments(Segments& segments, const BufferAccess& access) {
  const std::uint32_t last = segments.slot_of(access.end), first = segments.slot_of(access.begin);
  segments.cut(last);
  segments.cut(first);
  for (std::uint32_t at = segments.at_or_after(first);
       at < last;) {  // adjacent segments with equal history form one conflict
    const std::uint32_t begin = at;
    const History history = segments[at].value;
    std::uint32_t end = begin;
    do {
      end = segments[at].end;
      at = segments.at_or_after(end);
    } while (at == end && at < last && segments[at].value == history);
    report(history, access, segments.byte_of(begin), segments.byte_of(end));
  }
}

std::uint32_t HazardTracker::first_touched(const Segments& segments,
                                           const BufferAccess& access) noexcept {
  const std::uint32_t slot = segments.slot_of(access.begin);
  const std::uint32_t before = segments.at_or_before(slot);
  return before == kNone ? segments.at_or_after(slot) : before;
}

void HazardTracker::report_with_rows(Split& split, const BufferAccess& access) {
  touched_.clear();
  const Segments& segments = split.segments;
  for (std::uint32_t at = first_touched(segments, access);
       at != kNone && segments.byte_of(at) < access.end; at = segments.at_or_after(at + 1)) {
    const BufferAccess dense{access.buffer, Access::Read, 0, segments.byte_of(at),
                             segments.byte_of(segments[at].end)};
    if (overlaps(recording_, dense, access)) touched_.push_back({dense, segments[at].value});
  }
  for (const Rows& rows : split.rows) {
    if (rows.access.end <= access.begin || access.end <= rows.access.begin) continue;
    if (overlaps(recording_, rows.access, access)) touched_.push_back({rows.access, rows.history});
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const Touched& t = touched_[i];
    report(t.history, access, std::max(t.access.begin, access.begin),
           std::min(t.access.end, access.end), writes(access.access) ? newest_writer_over(i) : 0);
  }
}

// Rows are not split, so a write of rows leaves other histories of its bytes unchanged. A command
// that waits for such a writer need not wait for the readers that the writer waited for. Returns
// the writer's visit; 0 if there is none or the reader list is short.
std::uint32_t HazardTracker::newest_writer_over(std::size_t touched) const {
  std::uint32_t count = 0;
  for (std::uint32_t r = touched_[touched].history.readers; r != kNone && count < kLongReaderList;
       r = readers_[r].next)
    ++count;
  if (count < kLongReaderList) return 0;
  std::uint32_t newest = 0;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const std::uint32_t writer = touched_[i].history.writer;
    if (i == touched || writer == kNone || writer == command_ || visit_of_[writer] <= newest)
      continue;
    if (overlaps(recording_, touched_[i].access, touched_[touched].access))
      newest = visit_of_[writer];
  }
  return newest;
}

void HazardTracker::update_segments(Segments& segments, const BufferAccess& access) {
  const std::uint32_t last = segments.slot_of(access.end), first = segments.slot_of(access.begin);
  segments.cut(last);
  segments.cut(first);
  std::uint32_t at = segments.at_or_after(first);
  if (writes(access.access)) {
    for (; at < last; at = segments.at_or_after(at + 1)) segments.erase(at);
    segments.insert(first, last, {command_, kNone});
    return;
  }
  for (std::uint32_t next = first; next < last;) {  // first byte without this access in its history
    if (next < std::min(at, last)) {
      const std::uint32_t gap_end = std::min(at, last);
      segments.insert(next, gap_end, {});
      update(segments[next].value, access.access);
      next = gap_end;
      continue;
    }
    update(segments[at].value, access.access);
    next = segments[at].end;
    at = segments.at_or_after(next);
  }
}

void HazardTracker::update_rows(Split& split, const BufferAccess& access) {
  if (access.shape == 0) {  // a dense write replaces the rows that it covers
    if (writes(access.access)) {
      std::erase_if(split.rows, [&](const Rows& rows) {
        return access.begin <= rows.access.begin && rows.access.end <= access.end;
      });
    }
    return;
  }
  for (Rows& rows : split.rows) {
    if (same_rows(rows.access, access)) {
      update(rows.history, access.access);
      return;
    }
  }
  split.rows.push_back({access, {}});
  update(split.rows.back().history, access.access);
}

void HazardTracker::find_uninitialized_reads(const Split& split, const BufferAccess& access) {
  std::uint64_t next = access.begin;
  const Segments& segments = split.segments;
  for (std::uint32_t at = first_touched(segments, access);
       at != kNone && segments.byte_of(at) < access.end; at = segments.at_or_after(at + 1)) {
    const std::uint64_t begin = segments.byte_of(at), end = segments.byte_of(segments[at].end);
    if (segments[at].value.writer == kNone || end <= next) continue;
    if (next < begin) add_uninitialized_read(split, access, next, begin);
    next = end;
  }
  if (next < access.end) add_uninitialized_read(split, access, next, access.end);
}

void HazardTracker::add_uninitialized_read(const Split& split, const BufferAccess& access,
                                           std::uint64_t begin, std::uint64_t end) {
  const BufferAccess gap{access.buffer, Access::Read, 0, begin, end};
  if (!overlaps(recording_, gap, access)) return;  // between the rows of the access
  for (const Rows& rows : split.rows) {            // gaps between written rows are not tracked
    if (rows.history.writer != kNone && overlaps(recording_, rows.access, gap)) return;
  }
  uninitialized_reads_.push_back({access.buffer, begin, end});
}

bool HazardTracker::is_watched(const BufferAccess& access) const {
  return watch_ == Watch::ConflictsAndTransients && reads(access.access) &&
         recording_.buffers[access.buffer]->kind == BufferKind::Transient;
}

bool HazardTracker::same_rows(const BufferAccess& a, const BufferAccess& b) const {
  return a.begin == b.begin && a.end == b.end &&
         recording_.shapes[a.shape - 1] == recording_.shapes[b.shape - 1];
}

}  // namespace reprise::detail
