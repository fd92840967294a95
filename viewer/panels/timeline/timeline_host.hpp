// HostRows: the host ranges of a document by thread and depth, so that what is in sight is found at
// once. Draws nothing. Threads: a HostRows is a value that many may read; its builder belongs to
// one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::viewer {

struct HostSpan {
  trace::Time began = 0, ended = 0;
  std::uint32_t range = 0;  // place in the document's list
};

struct HostRows {
  using Key = std::pair<std::uint32_t, std::uint16_t>;  // thread, depth
  model::ListView<trace::HostRange> ranges;
  std::map<Key, model::ListView<HostSpan>> rows;  // by begin; those of a row do not overlap
};

class HostRowsBuilder {
 public:
  // Takes what `ranges` has beyond the last call.
  [[nodiscard]] HostRows extend(const model::ListView<trace::HostRange>& ranges);

 private:
  std::size_t taken_ = 0;
  std::map<HostRows::Key, model::GrowingList<HostSpan>> rows_;
};

}  // namespace reprise::viewer
