#include "collectives/control/gather_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {

GatherTable::GatherTable(std::uint32_t size, std::chrono::milliseconds limit, Callbacks callbacks)
    : limit_(limit), callbacks_(std::move(callbacks)), ranks_(size) {}

Frame GatherTable::call(std::uint64_t group, std::uint64_t sequence,
                        const std::vector<std::uint32_t>& members, std::string_view message) {
  FrameWriter writer(FrameType::Gather);
  writer.u64(group).u64(sequence).u32(static_cast<std::uint32_t>(members.size()));
  for (const std::uint32_t member : members) writer.u32(member);
  return writer.text(message).finish();
}

void GatherTable::add(std::uint32_t rank, std::string_view body, Clock::time_point now) {
  FrameReader reader(body);
  const std::uint64_t group = reader.u64();
  const Key key(group, reader.u64());
  std::vector<std::uint32_t> members;
  for (std::uint32_t left = reader.u32(); left > 0; --left) {
    members.push_back(reader.u32());
    const std::size_t count = members.size();
    if (members.back() >= ranks_.size() || (count > 1 && members[count - 2] >= members[count - 1]))
      throw MalformedFrame{};
  }
  std::string message = reader.text();
  reader.expect_end();
  if (!std::ranges::binary_search(members, rank)) throw MalformedFrame{};
  Rank& caller = ranks_[rank];
  if (caller.open_calls == kMaxOpenCalls || caller.open_bytes + message.size() > kMaxOpenBytes)
    throw MalformedFrame(
        "has more than 1,024 open calls of all_gather, or more than 64 MiB in them");

  const auto [at, is_new] = calls_.try_emplace(key);
  Call& call = at->second;
  if (is_new) {
    call.members = std::move(members);
    call.deadline = now + limit_;
  } else if (!call.failed && call.members != members) {
    fail_call(key, call, ErrorCode::RankMismatch,
              concat(callbacks_.describe(rank), " and ",
                     callbacks_.describe(call.messages.begin()->first),
                     " call all_gather of group ", group, " with different members"));
  }
  const std::size_t bytes = message.size();
  if (!call.messages.emplace(rank, std::move(message)).second) throw MalformedFrame{};
  ++caller.open_calls;
  caller.open_bytes += bytes;
  if (call.failed) {
    deliver_failure(rank, key, call);
  } else if (call.messages.size() == call.members.size()) {
    FrameWriter writer(FrameType::Gathered);
    writer.u64(key.first).u64(key.second).u32(static_cast<std::uint32_t>(call.messages.size()));
    for (const auto& [from, text] : call.messages) writer.text(text);
    const Frame frame = writer.finish();
    for (const std::uint32_t member : call.members) callbacks_.deliver(member, frame);
    erase(at);
    return;
  } else {
    for (const std::uint32_t member : call.members) {
      if (!ranks_[member].is_gone || call.messages.contains(member)) continue;
      fail_call(key, call, ErrorCode::RankLost,
                concat(callbacks_.describe(member), " has left the job"));
      break;
    }
  }
  if (is_complete(call)) erase(at);
}

GatherTable::Calls::iterator GatherTable::erase(Calls::iterator at) {
  for (const auto& [rank, message] : at->second.messages) {
    --ranks_[rank].open_calls;
    ranks_[rank].open_bytes -= message.size();
  }
  return calls_.erase(at);
}

void GatherTable::erase_complete() {
  for (auto at = calls_.begin(); at != calls_.end();)
    at = is_complete(at->second) ? erase(at) : std::next(at);
}

void GatherTable::remove(std::uint32_t rank) {
  ranks_[rank].is_gone = true;
  for (auto& [key, call] : calls_) {
    if (call.failed || call.messages.contains(rank) ||
        !std::ranges::binary_search(call.members, rank))
      continue;
    fail_call(key, call, ErrorCode::RankLost,
              concat(callbacks_.describe(rank), " has left the job"));
  }
  erase_complete();
}

void GatherTable::expire(Clock::time_point now) {
  for (auto& [key, call] : calls_) {
    if (call.failed || now < call.deadline) continue;
    fail_call(key, call, ErrorCode::RankLost,
              concat(missing(call), " did not call all_gather of group ", key.first, " within ",
                     limit_.count(), " ms"));
  }
}

void GatherTable::fail_call(const Key& key, Call& call, ErrorCode code, std::string text) {
  call.failed = code;
  call.failure = std::move(text);
  for (auto& [rank, message] : call.messages) {
    ranks_[rank].open_bytes -= std::exchange(message, {}).size();
    deliver_failure(rank, key, call);
  }
}

void GatherTable::deliver_failure(std::uint32_t rank, const Key& key, const Call& call) const {
  callbacks_.deliver(rank, FrameWriter(FrameType::Failed)
                               .u64(key.first)
                               .u64(key.second)
                               .u32(*call.failed == ErrorCode::RankMismatch ? 1 : 0)
                               .text(call.failure)
                               .finish());
}

bool GatherTable::is_complete(const Call& call) const {
  return call.failed && std::ranges::all_of(call.members, [&](std::uint32_t member) {
           return ranks_[member].is_gone || call.messages.contains(member);
         });
}

std::string GatherTable::missing(const Call& call) const {
  std::string text;
  for (const std::uint32_t member : call.members) {
    if (call.messages.contains(member)) continue;
    if (!text.empty()) text += ", ";
    text += callbacks_.describe(member);
  }
  return text;
}

}  // namespace reprise::detail
