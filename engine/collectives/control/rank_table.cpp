#include "collectives/control/rank_table.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {

using std::chrono::milliseconds;

RankTable::RankTable(std::uint32_t size, std::uint32_t own_rank, std::string own_name)
    : own_rank_(own_rank), rows_(size) {
  set_name(own_rank, std::move(own_name));
}

RankTable::Row& RankTable::change(std::uint32_t rank) {
  rows_[rank].version = ++version_;
  return rows_[rank];
}

void RankTable::set_name(std::uint32_t rank, std::string name) {
  Row& row = change(rank);
  if (row.name.empty()) ++named_;
  row.name = std::move(name);
  row.heard = Clock::now();
}

void RankTable::set_report(std::uint32_t rank, std::string report) {
  if (rows_[rank].report != report) change(rank).report = std::move(report);
}

void RankTable::set_disconnected(std::uint32_t rank) { change(rank).is_connected = false; }

void RankTable::set_left(std::uint32_t rank) {
  Row& row = change(rank);
  row.is_connected = false;
  row.has_left = true;
}

void RankTable::set_heard(std::uint32_t rank) { rows_[rank].heard = Clock::now(); }

std::string RankTable::missing() const {
  std::string list;
  for (std::uint32_t rank = 0; rank < rows_.size(); ++rank)
    if (!has_name(rank)) list += concat(list.empty() ? "" : ", ", rank);
  return concat(rows_.size() - named_ == 1 ? "rank " : "ranks ", list);
}

std::string RankTable::describe(std::uint32_t rank) const {
  if (!has_name(rank)) return concat("rank ", rank);
  return concat("rank ", rank, " (", rows_[rank].name, ")");
}

std::vector<RankControl::Progress> RankTable::progress() const {
  const auto now = Clock::now();
  std::vector<RankControl::Progress> out;
  for (const Row& row : rows_) {
    const bool is_own = &row == &rows_[own_rank_];
    out.push_back(
        {row.report, is_own ? Clock::duration(0) : now - row.heard, row.is_connected, row.name});
  }
  return out;
}

Frame RankTable::changes_since(std::uint64_t version) const {
  const auto now = Clock::now();
  FrameWriter writer(FrameType::Table);
  for (std::uint32_t rank = 0; rank < rows_.size(); ++rank) {
    const auto age = std::chrono::duration_cast<milliseconds>(now - rows_[rank].heard);
    writer.u32(rank == own_rank_ ? 0 : static_cast<std::uint32_t>(age.count()));
  }
  const auto is_new = [version](const Row& row) { return row.version > version; };
  writer.u32(static_cast<std::uint32_t>(std::ranges::count_if(rows_, is_new)));
  for (std::uint32_t rank = 0; rank < rows_.size(); ++rank) {
    const Row& row = rows_[rank];
    if (!is_new(row)) continue;
    writer.u32(rank).u32(row.is_connected ? 1 : 0).text(row.name).text(row.report);
  }
  return writer.finish();
}

void RankTable::apply(std::string_view body) {
  FrameReader reader(body);
  const auto now = Clock::now();
  for (Row& row : rows_) row.heard = now - milliseconds(reader.u32());
  for (std::uint32_t left = reader.u32(); left > 0; --left) {
    const std::uint32_t rank = reader.u32();
    if (rank >= rows_.size()) throw MalformedFrame{};
    Row& row = rows_[rank];
    row.is_connected = reader.u32() != 0;
    row.name = reader.text();
    std::string report = reader.text();
    if (rank != own_rank_) row.report = std::move(report);
  }
  reader.expect_end();
  named_ = static_cast<std::size_t>(
      std::ranges::count_if(rows_, [](const Row& row) { return !row.name.empty(); }));
}

}  // namespace reprise::detail
