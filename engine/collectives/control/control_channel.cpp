#include "collectives/control/control_channel.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/control/control_core.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kGatherOverhead = 1024;  // of a frame, for each message

[[noreturn]] void reject(const std::string& text) {
  fail(ErrorCode::InvalidArgument, Stage::Open, {}, text);
}

}  // namespace

std::string ControlChannel::Core::describe(std::uint32_t rank) const {
  const std::lock_guard lock(mutex_);
  return table_.describe(rank);
}

std::string ControlChannel::Core::why_ended() const {
  if (is_aborted_) return abort_reason_;
  for (const std::uint32_t rank : {desc_.rank, std::uint32_t{0}})
    if (rank == desc_.rank ? is_left_ : table_.has_left(rank))
      return concat(table_.describe(rank), " has left the job");
  return {};
}

std::vector<std::string> ControlChannel::Core::all_gather(std::uint64_t group,
                                                          std::span<const std::uint32_t> members,
                                                          const std::string& message) {
  if (!std::ranges::binary_search(members, desc_.rank) || members.back() >= desc_.size ||
      std::ranges::adjacent_find(members, std::ranges::greater_equal()) != members.end())
    reject(concat("the members of group ", group, " must be ascending ranks below ", desc_.size,
                  " and include rank ", desc_.rank));
  if ((message.size() + kGatherOverhead) * members.size() > kMaxFrameBytes)
    reject(concat("a message of ", message.size(), " bytes is too long for ", members.size(),
                  " ranks; the limit of a gather is ", kMaxFrameBytes, " bytes"));
  Call call;
  call.members = members.size();
  std::unique_lock lock(mutex_);
  std::string ended = why_ended();
  if (!ended.empty()) fail(ErrorCode::RankLost, Stage::Wait, {}, ended);
  if (members.size() == 1) return {message};
  const Key key(group, next_sequence_[group]++);
  const Frame frame =
      GatherTable::call(group, key.second, {members.begin(), members.end()}, message);
  calls_.emplace(key, &call);
  struct Removal {
    std::map<Key, Call*>& calls;
    const Key& key;
    ~Removal() { calls.erase(key); }
  } const removal{calls_, key};
  asio::post(io_, [this, frame] {
    if (is_hub()) {
      try {
        gathers_.add(0, std::string_view(*frame).substr(kFrameHeaderBytes), Clock::now());
      } catch (const MalformedFrame& error) {
        abort(concat(describe(0), " ", error.what()));
      }
    } else if (peers_[0]) {
      peers_[0]->send(frame);
    }
  });
  // The hub enforces the limit; this one is for a hub that does not answer.
  const bool is_over = changed_.wait_for(lock, desc_.gather_limit + kHubGrace, [&] {
    ended = call.is_done ? std::string() : why_ended();
    return call.is_done || !ended.empty();
  });
  if (!is_over) ended = concat(table_.describe(0), " does not answer");
  if (!call.is_done) fail(ErrorCode::RankLost, Stage::Wait, {}, ended);
  if (!call.failure.empty()) fail(call.code, Stage::Wait, {}, call.failure);
  return std::move(call.result);
}

void ControlChannel::Core::end_group(std::uint64_t group) noexcept {
  const std::lock_guard lock(mutex_);
  next_sequence_.erase(group);
}

void ControlChannel::Core::report_progress(std::string report) {
  if (report.size() > max_report_bytes())
    reject(concat("a report of ", report.size(), " bytes is too long; the limit is ",
                  max_report_bytes()));
  const std::lock_guard lock(mutex_);
  table_.set_report(desc_.rank, std::move(report));
}

std::vector<RankControl::Progress> ControlChannel::Core::progress() const {
  const std::lock_guard lock(mutex_);
  return table_.progress();
}

std::vector<RankAgreement::ClockExchange> ControlChannel::Core::take_clock_exchanges() {
  const std::lock_guard lock(mutex_);
  return std::exchange(exchanges_, {});
}

std::string ControlChannel::Core::abort_reason() const {
  const std::lock_guard lock(mutex_);
  return abort_reason_;
}

// --- the public class

ControlChannelDesc control_channel_desc(const RankEnvironment& environment, std::string secret) {
  ControlChannelDesc desc;
  desc.rank = environment.rank;
  desc.size = environment.size;
  desc.launched_rank = environment.rank;
  desc.address = environment.master_address;
  const int port = environment.master_port, count = desc.port_count;
  desc.port = static_cast<std::uint16_t>(port + count < 65'536 ? port + 1 : port - count);
  desc.secret = std::move(secret);
  return desc;
}

ControlChannel::ControlChannel(std::shared_ptr<Core> core) noexcept : core_(std::move(core)) {}

std::shared_ptr<ControlChannel> ControlChannel::open(const ControlChannelDesc& desc) {
  check_control_channel(desc);
  const auto core = std::make_shared<Core>(desc);
  std::shared_ptr<ControlChannel> channel(new ControlChannel(core));
  core->start();
  core->wait_for_all();
  return channel;
}

// In a forked child, the thread's reference keeps the object.
ControlChannel::~ControlChannel() {
  if (process_.is_current()) core_->leave();
}

void ControlChannel::leave() noexcept { core_->leave(); }
std::uint32_t ControlChannel::rank() const noexcept { return core_->desc().rank; }
std::uint32_t ControlChannel::size() const noexcept { return core_->desc().size; }
std::vector<std::string> ControlChannel::all_gather(std::uint64_t group,
                                                    std::span<const std::uint32_t> members,
                                                    std::string message) {
  return core_->all_gather(group, members, message);
}
void ControlChannel::end_group(std::uint64_t group) noexcept { core_->end_group(group); }
std::size_t ControlChannel::max_report_bytes() const noexcept { return core_->max_report_bytes(); }
void ControlChannel::report_progress(std::string report) {
  core_->report_progress(std::move(report));
}
std::vector<RankControl::Progress> ControlChannel::progress() const { return core_->progress(); }
std::vector<RankAgreement::ClockExchange> ControlChannel::take_clock_exchanges() {
  return core_->take_clock_exchanges();
}
std::uint64_t ControlChannel::job_id() const noexcept { return core_->job_id(); }
void ControlChannel::abort(std::string reason) noexcept { core_->abort(std::move(reason)); }
std::string ControlChannel::abort_reason() const { return core_->abort_reason(); }

std::shared_ptr<const void> ControlChannel::on_abort(
    std::function<void(const std::string& reason)> handler) {
  return core_->on_abort(std::move(handler));
}

}  // namespace reprise::detail
