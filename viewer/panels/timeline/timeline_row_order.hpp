// The order of the rows of a section of a timeline. Threads: pure functions.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/busy_time.hpp"
#include "panels/timeline/timeline_layout.hpp"

namespace reprise::viewer {

// Numbers in names count as numbers: "lane 2" precedes "lane 10".
[[nodiscard]] bool name_precedes(const std::string& a, const std::string& b);

// Sorts the ids of rows. `busy_of`: the busy time of a row; null if it has none.
template <class Id, class NameOf, class BusyOf>
void order_rows(std::vector<Id>& rows, RowOrder order, NameOf name_of, BusyOf busy_of) {
  struct Keyed {
    Id id;
    std::string name;
    trace::Time busy = 0, first = trace::kMaxTime;
  };
  std::vector<Keyed> keyed;
  for (const Id id : rows) {
    keyed.push_back({id, name_of(id)});
    const model::BusyTime* const busy = busy_of(id);
    if (busy == nullptr || busy->steps().empty()) continue;
    keyed.back().busy = busy->total();
    keyed.back().first = busy->steps().front().at;
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    if (order == RowOrder::BusyTime && a.busy != b.busy) return a.busy > b.busy;
    if (order == RowOrder::FirstUse && a.first != b.first) return a.first < b.first;
    return name_precedes(a.name, b.name);
  });
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].id;
}

}  // namespace reprise::viewer
