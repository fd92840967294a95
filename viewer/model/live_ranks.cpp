#include "model/live_ranks.hpp"

#include <algorithm>
#include <utility>

namespace reprise::model {

namespace {

// Clocks of two hosts drift apart by less.
constexpr double kDrift = 100e-6;

}  // namespace

void LiveRanks::open(std::size_t connection, const trace::Session& session) {
  if (sessions_.contains(connection) || session.rank == trace::kNone) return;
  if (sessions_.empty()) job_ = session.job;
  // A clock without a name is shared by nobody.
  const std::string name =
      session.clock.empty() ? "connection " + std::to_string(connection) : session.clock;
  HostClock& clock = clocks_[name];
  clock.is_of_rank_0 |= session.rank == 0;
  if (reference_ == nullptr) reference_ = &clock;
  const auto index = static_cast<std::uint32_t>(sessions_.size());
  sessions_.emplace(connection, Session{index, &clock, {ids_, {.session = index}}});
}

void LiveRanks::note_clocks(HostClock& clock, const trace::Records& records) {
  for (const trace::Clock& c : records.clocks)
    if (c.device == trace::kNone) clock.utc = c.other - c.host;
  for (const trace::ClockExchange& exchange : records.clock_exchanges) {
    if (exchange.rank != 0) continue;
    clock.exchanges.push_back(exchange);
    if (clock.exchanges.size() > kExchanges) clock.exchanges.pop_front();
  }
}

LiveRanks::Offset LiveRanks::offset_of(const HostClock& clock, trace::Time now) {
  if (clock.is_of_rank_0) return {};
  Offset best{0, trace::kUnknownError};
  for (const trace::ClockExchange& exchange : clock.exchanges) {
    const trace::Time half = (exchange.received - exchange.sent + 1) / 2;
    const auto age = static_cast<double>(std::max<trace::Time>(now - exchange.received, 0));
    const trace::Time error = half + static_cast<trace::Time>(kDrift * age);
    if (error < best.error) best = {exchange.other - exchange.sent - half, error};
  }
  return best;
}

trace::ClockAlignment LiveRanks::alignment_of(const Session& session) const {
  trace::ClockAlignment alignment{.session = session.index};
  if (session.clock == reference_) return alignment;
  const auto latest = [](const HostClock& clock) {
    return clock.exchanges.empty() ? 0 : clock.exchanges.back().received;
  };
  alignment.at = latest(*session.clock);
  const Offset own = offset_of(*session.clock, alignment.at),
               reference = offset_of(*reference_, latest(*reference_));
  if (own.error == trace::kUnknownError || reference.error == trace::kUnknownError) {
    alignment.error = trace::kUnknownError;
    if (session.clock->utc != 0 && reference_->utc != 0)
      alignment.offset = session.clock->utc - reference_->utc;
    return alignment;
  }
  alignment.offset = own.value - reference.value;
  alignment.error = own.error + reference.error;
  alignment.exchanges = session.clock->exchanges.size() + reference_->exchanges.size();
  return alignment;
}

void LiveRanks::convert(std::size_t connection, trace::Records& records) {
  for (const trace::Session& session : records.sessions) open(connection, session);
  const auto found = sessions_.find(connection);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  note_clocks(*session.clock, records);
  const bool has_news = !records.clock_exchanges.empty() || !records.sessions.empty();
  const trace::ClockAlignment alignment = alignment_of(session);
  session.converter.set_alignment(alignment);
  session.converter.convert(records);
  if (has_news) records.clock_alignments.push_back(alignment);
}

}  // namespace reprise::model
