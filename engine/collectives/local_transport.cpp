#include "collectives/local_transport.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/call_rules.hpp"
#include "collectives/job_failure.hpp"
#include "collectives/reduce_elements.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint64_t kChunkBytes = 128 << 10;
constexpr std::uint32_t kChunksPerPoll = 16;
constexpr std::size_t kBlockBytes = 4096;  // of an intermediate result, on the stack

// One collective, or a send with its receive. Members are added under the mutex of the job; once
// all are there, any threads move the chunks.
class Transfer {
 public:
  struct Member {
    std::uint32_t rank = 0;
    std::optional<CollectiveCall> call;  // empty: the rank has not started it
  };

  // `members` of a send with its receive: the sender, then the receiver.
  explicit Transfer(std::vector<Member> members)
      : members_(std::move(members)), missing_(members_.size()) {}

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  // The member that was added first; null before.
  [[nodiscard]] const Member* first() const {
    return missing_ == members_.size() ? nullptr : &members_[first_];
  }
  // True if that was the last one.
  bool add(std::size_t member, const CollectiveCall& call) {
    if (first() == nullptr) first_ = member;
    members_[member].call = call;
    if (--missing_ != 0) return false;
    count_ = call.count;
    element_bytes_ = size_of(call.type);
    chunk_elements_ = kChunkBytes / element_bytes_;
    chunks_per_part_ = (count_ + chunk_elements_ - 1) / chunk_elements_;
    chunks_ = chunks_per_part_ * parts();
    is_ready_.store(true, std::memory_order_release);
    return true;
  }

  [[nodiscard]] bool is_ready() const { return is_ready_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_complete() const {
    return is_ready() && completed_.load(std::memory_order_acquire) == chunks_;
  }

  // Moves at most `budget` chunks, which it subtracts. Only if is_ready().
  void advance(std::uint32_t& budget) {
    while (budget > 0 && next_.load(std::memory_order_relaxed) < chunks_ && !is_cancelled_.load()) {
      --budget;
      active_.fetch_add(1);
      if (!is_cancelled_.load()) {
        const std::uint64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
        if (chunk < chunks_) {
          move_chunk(chunk);
          completed_.fetch_add(1, std::memory_order_release);
        }
      }
      active_.fetch_sub(1);
    }
  }

  // After the call no thread accesses the buffers. Waits for at most one chunk of each thread.
  void cancel() noexcept {
    is_cancelled_.store(true);
    while (active_.load() != 0) std::this_thread::yield();
  }

 private:
  [[nodiscard]] const CollectiveCall& call(std::size_t member) const {
    return *members_[member].call;
  }

  // The parts of `count_` elements that the data is divided into.
  [[nodiscard]] std::uint64_t parts() const {
    switch (call(0).kind) {
      case CollectiveKind::AllGather:
      case CollectiveKind::ReduceScatter: return members_.size();
      case CollectiveKind::AllToAll: return members_.size() * members_.size();
      case CollectiveKind::AllReduce:
      case CollectiveKind::Reduce:
      case CollectiveKind::Broadcast:
      case CollectiveKind::Send:
      case CollectiveKind::Receive: return 1;
    }
    return 0;
  }

  void move_chunk(std::uint64_t chunk) const {
    const std::uint64_t part = chunk / chunks_per_part_;
    const std::uint64_t first = chunk % chunks_per_part_ * chunk_elements_;
    const std::uint64_t count = std::min(chunk_elements_, count_ - first);
    const std::uint64_t offset = first * element_bytes_, bytes = count * element_bytes_;
    const std::uint64_t in_part = part * count_ * element_bytes_ + offset;
    switch (call(0).kind) {
      case CollectiveKind::AllReduce:
      case CollectiveKind::Reduce:
        for (std::uint64_t done = 0; done < bytes; done += kBlockBytes)
          reduce_block(offset + done, offset + done, std::min(bytes - done, kBlockBytes), part);
        return;
      case CollectiveKind::ReduceScatter:
        for (std::uint64_t done = 0; done < bytes; done += kBlockBytes)
          reduce_block(in_part + done, offset + done, std::min(bytes - done, kBlockBytes), part);
        return;
      case CollectiveKind::Broadcast:
        for (const Member& member : members_)
          copy_bytes(at(member.call->receive, offset), at(call(call(0).peer).send, offset), bytes);
        return;
      case CollectiveKind::AllGather:
        for (const Member& member : members_)
          copy_bytes(at(member.call->receive, in_part), at(call(part).send, offset), bytes);
        return;
      case CollectiveKind::AllToAll: exchange_parts(part, offset, bytes); return;
      case CollectiveKind::Send:
      case CollectiveKind::Receive:
        copy_bytes(at(call(1).receive, offset), at(call(0).send, offset), bytes);
        return;
    }
  }

  // Reduces the bytes from `source` on of all send buffers, and writes the result from `target` on
  // to the receive buffers. All sources are read before the first target is written, so that any
  // rank may reduce in place.
  void reduce_block(std::uint64_t source, std::uint64_t target, std::size_t bytes,
                    std::uint64_t part) const {
    alignas(64) std::byte block[kBlockBytes];
    const CollectiveCall& any = call(0);
    const std::size_t count = bytes / element_bytes_;
    std::memcpy(block, at(any.send, source), bytes);
    for (std::size_t rank = 1; rank < members_.size(); ++rank)
      reduce_elements(any.type, any.reduce, block, at(call(rank).send, source), count);
    if (any.reduce == ReduceOperator::Average)
      divide_elements(any.type, block, count, static_cast<std::uint32_t>(members_.size()));
    if (any.kind == CollectiveKind::AllReduce) {
      for (const Member& member : members_)
        std::memcpy(at(member.call->receive, target), block, bytes);
    } else {
      const std::uint64_t rank = any.kind == CollectiveKind::Reduce ? any.peer : part;
      std::memcpy(at(call(rank).receive, target), block, bytes);
    }
  }

  // Both directions of a pair of ranks at once, so that any rank may exchange in place.
  void exchange_parts(std::uint64_t part, std::uint64_t offset, std::uint64_t bytes) const {
    const std::uint64_t a = part / members_.size(), b = part % members_.size();
    if (a > b) return;
    const std::uint64_t part_bytes = count_ * element_bytes_;
    std::byte from_a[kBlockBytes], from_b[kBlockBytes];
    for (std::uint64_t done = 0; done < bytes; done += kBlockBytes) {
      const std::uint64_t n = std::min(bytes - done, kBlockBytes);
      const std::uint64_t of_a = a * part_bytes + offset + done;
      const std::uint64_t of_b = b * part_bytes + offset + done;
      std::memcpy(from_a, at(call(a).send, of_b), n);
      std::memcpy(from_b, at(call(b).send, of_a), n);
      std::memcpy(at(call(b).receive, of_a), from_a, n);
      std::memcpy(at(call(a).receive, of_b), from_b, n);
    }
  }

  std::vector<Member> members_;
  std::size_t missing_, first_ = 0;
  std::uint64_t count_ = 0, element_bytes_ = 1;
  std::uint64_t chunk_elements_ = 1, chunks_per_part_ = 0, chunks_ = 0;
  std::atomic<bool> is_ready_{false};
  std::atomic<std::uint64_t> next_{0}, completed_{0};  // chunks
  std::atomic<std::uint32_t> active_{0};               // threads that may access the buffers
  std::atomic<bool> is_cancelled_{false};
};

using TransferPtr = std::shared_ptr<Transfer>;

// State that all transports of one make_local_transports() share.
struct LocalJob {
  std::mutex mutex;  // of the groups and of the members of transfers; held briefly
  std::condition_variable changed;
  JobFailure failure;

  void fail(ErrorCode code, std::string reason) noexcept {
    failure.set(code, std::move(reason));
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }
};

// The ranks of one communicator: matches their calls.
class LocalGroup {
 public:
  LocalGroup(std::shared_ptr<LocalJob> job, std::uint32_t size)
      : job_(std::move(job)), has_ended_(size), next_(size), colors_(size) {}

  [[nodiscard]] LocalJob& job() const { return *job_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(next_.size()); }

  [[nodiscard]] TransferPtr start(std::uint32_t rank, const CollectiveCall& call) {
    const std::lock_guard lock(job_->mutex);
    return is_point_to_point(call.kind) ? start_pair(rank, call) : start_collective(rank, call);
  }

  void end(std::uint32_t rank) noexcept {
    const std::lock_guard lock(job_->mutex);
    has_ended_[rank] = true;
    any_ended_.store(true, std::memory_order_release);
    job_->changed.notify_all();
  }

  // A reason if a rank that the transfer waits for has ended.
  [[nodiscard]] std::optional<std::string> lost_member(const Transfer& transfer) const {
    if (!any_ended_.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(job_->mutex);
    const CollectiveCall* waiting = nullptr;
    const Transfer::Member* lost = nullptr;
    for (const Transfer::Member& member : transfer.members()) {
      if (member.call)
        waiting = &*member.call;
      else if (has_ended_[member.rank])
        lost = &member;
    }
    if (lost == nullptr || waiting == nullptr) return {};
    return concat("rank ", lost->rank, " ended, and other ranks wait for it in ",
                  describe(*waiting));
  }

  using Membership = std::pair<std::shared_ptr<LocalGroup>, std::uint32_t>;  // and the rank there
  [[nodiscard]] Membership split(std::uint32_t rank, std::uint32_t color) {
    std::unique_lock lock(job_->mutex);
    colors_[rank] = color;
    if (std::all_of(colors_.begin(), colors_.end(), [](const auto& c) { return c.has_value(); })) {
      complete_split();
      return memberships_[rank];
    }
    const std::uint64_t before = splits_;
    std::optional<std::uint32_t> lost;
    job_->changed.wait(lock, [&] {
      for (std::uint32_t other = 0; other < size() && splits_ == before; ++other)
        if (!colors_[other] && has_ended_[other]) lost = other;
      return splits_ != before || lost || job_->failure.is_set();
    });
    if (splits_ != before) return memberships_[rank];
    lock.unlock();
    if (lost)
      job_->fail(ErrorCode::RankLost, concat("rank ", *lost, " ended before it called split"));
    job_->failure.throw_if_set(Stage::Open);
    return {};
  }

 private:
  [[nodiscard]] TransferPtr start_collective(std::uint32_t rank, const CollectiveCall& call) {
    const std::uint64_t sequence = next_[rank]++;
    if (sequence - first_open_ == open_.size()) {
      std::vector<Transfer::Member> members(size());
      for (std::uint32_t other = 0; other < size(); ++other) members[other].rank = other;
      open_.push_back(std::make_shared<Transfer>(std::move(members)));
    }
    const TransferPtr transfer = open_[sequence - first_open_];
    if (const Transfer::Member* const other = transfer->first(); other != nullptr)
      require_same(rank, call, other->rank, *other->call);
    if (transfer->add(rank, call)) {
      open_.pop_front();
      ++first_open_;
    }
    return transfer;
  }

  [[nodiscard]] TransferPtr start_pair(std::uint32_t rank, const CollectiveCall& call) {
    const bool sends = call.kind == CollectiveKind::Send;
    const std::uint32_t sender = sends ? rank : call.peer, receiver = sends ? call.peer : rank;
    // The transfers of one direction that wait for the other.
    const std::uint64_t pair = std::uint64_t{sender} * size() + receiver;
    std::deque<TransferPtr>& waiting = pairs_[pair];
    const std::size_t own = sends ? 0 : 1;
    if (waiting.empty() || waiting.front()->members()[own].call) {
      waiting.push_back(
          std::make_shared<Transfer>(std::vector<Transfer::Member>{{sender, {}}, {receiver, {}}}));
      waiting.back()->add(own, call);
      return waiting.back();
    }
    const TransferPtr transfer = waiting.front();
    const Transfer::Member& other = transfer->members()[1 - own];
    require_same(rank, call, other.rank, *other.call);
    transfer->add(own, call);
    waiting.pop_front();
    if (waiting.empty()) pairs_.erase(pair);
    return transfer;
  }

  void require_same(std::uint32_t rank, const CollectiveCall& call, std::uint32_t other_rank,
                    const CollectiveCall& other) const {
    const bool is_pair = is_point_to_point(call.kind);
    const bool same = (is_pair || call.kind == other.kind) && call.type == other.type &&
                      call.count == other.count &&
                      (!is_reduction(call.kind) || call.reduce == other.reduce) &&
                      (!has_root(call.kind) || call.peer == other.peer);
    if (same) return;
    std::string reason = concat("ranks start different collectives: rank ", other_rank, " ",
                                describe(other), ", rank ", rank, " ", describe(call));
    job_->failure.set(ErrorCode::RankMismatch, std::move(reason));
    job_->changed.notify_all();
    job_->failure.throw_if_set(Stage::Launch);
  }

  void complete_split() {
    memberships_.assign(size(), {});
    std::map<std::uint32_t, std::vector<std::uint32_t>> ranks_of;
    for (std::uint32_t rank = 0; rank < size(); ++rank) ranks_of[*colors_[rank]].push_back(rank);
    for (const auto& [color, ranks] : ranks_of) {
      const auto part =
          std::make_shared<LocalGroup>(job_, static_cast<std::uint32_t>(ranks.size()));
      for (std::uint32_t i = 0; i < ranks.size(); ++i) memberships_[ranks[i]] = {part, i};
    }
    colors_.assign(size(), {});
    ++splits_;
    job_->changed.notify_all();
  }

  std::shared_ptr<LocalJob> job_;
  std::vector<bool> has_ended_;
  std::atomic<bool> any_ended_{false};
  std::vector<std::uint64_t> next_;  // by rank: the number of its next collective
  std::uint64_t first_open_ = 0;     // the number of open_.front()
  std::deque<TransferPtr> open_;     // collectives that some ranks have not started
  // By sender * size + receiver: the transfers that one of them has not started, if any.
  std::unordered_map<std::uint64_t, std::deque<TransferPtr>> pairs_;
  std::vector<std::optional<std::uint32_t>> colors_;
  // Result of the latest split, by rank. The next split completes only after all ranks have read
  // it.
  std::vector<Membership> memberships_;
  std::uint64_t splits_ = 0;
};

class LocalOperation final : public HostTransport::Operation {
 public:
  LocalOperation(std::shared_ptr<LocalGroup> group, std::uint32_t rank, std::size_t calls)
      : group_(std::move(group)), rank_(rank) {
    transfers_.reserve(calls);
  }
  LocalOperation(const LocalOperation&) = delete;
  LocalOperation& operator=(const LocalOperation&) = delete;
  ~LocalOperation() override {
    if (std::all_of(transfers_.begin(), transfers_.end(),
                    [](const TransferPtr& t) { return t->is_complete(); }))
      return;
    if (!group_->job().failure.is_set()) {
      group_->job().fail(ErrorCode::RankLost,
                         concat("rank ", rank_, " discarded a collective that was not complete"));
    }
    for (const TransferPtr& transfer : transfers_) transfer->cancel();
  }

  void add(TransferPtr transfer) { transfers_.push_back(std::move(transfer)); }

  bool poll() override {
    group_->job().failure.throw_if_set(Stage::Launch);
    std::uint32_t budget = kChunksPerPoll;
    bool is_complete = true;
    for (const TransferPtr& transfer : transfers_) {
      if (transfer->is_ready()) {
        transfer->advance(budget);
      } else if (std::optional<std::string> reason = group_->lost_member(*transfer)) {
        group_->job().fail(ErrorCode::RankLost, std::move(*reason));
        group_->job().failure.throw_if_set(Stage::Launch);
      }
      is_complete = is_complete && transfer->is_complete();
    }
    return is_complete;
  }

 private:
  std::shared_ptr<LocalGroup> group_;
  std::uint32_t rank_;
  std::vector<TransferPtr> transfers_;
};

class LocalTransport final : public HostTransport {
 public:
  LocalTransport(std::shared_ptr<LocalGroup> group, std::uint32_t rank)
      : group_(std::move(group)), rank_(rank) {}
  LocalTransport(const LocalTransport&) = delete;
  LocalTransport& operator=(const LocalTransport&) = delete;
  ~LocalTransport() override { group_->end(rank_); }

  std::uint32_t rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return group_->size(); }

  std::unique_ptr<Operation> start(std::span<const CollectiveCall> group) override {
    group_->job().failure.throw_if_set(Stage::Launch);
    for (const CollectiveCall& call : group) check_call(call, rank_, size());
    auto operation = std::make_unique<LocalOperation>(group_, rank_, group.size());
    for (const CollectiveCall& call : group) operation->add(group_->start(rank_, call));
    return operation;
  }

  std::unique_ptr<HostTransport> split(std::uint32_t color) override {
    group_->job().failure.throw_if_set(Stage::Open);
    auto [group, rank] = group_->split(rank_, color);
    return std::make_unique<LocalTransport>(std::move(group), rank);
  }

  void abort(std::string reason) noexcept override {
    group_->job().fail(ErrorCode::RankLost, std::move(reason));
  }

 private:
  std::shared_ptr<LocalGroup> group_;
  std::uint32_t rank_;
};

}  // namespace

std::vector<std::unique_ptr<HostTransport>> make_local_transports(std::uint32_t size) {
  if (size == 0 || size > kMaxLocalRanks)
    fail(ErrorCode::InvalidArgument, Stage::Open, "",
         concat("local_communicators: the number of ranks is ", size, "; it must be 1 to ",
                kMaxLocalRanks));
  const auto group = std::make_shared<LocalGroup>(std::make_shared<LocalJob>(), size);
  std::vector<std::unique_ptr<HostTransport>> transports;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    transports.push_back(std::make_unique<LocalTransport>(group, rank));
  return transports;
}

}  // namespace reprise::detail
