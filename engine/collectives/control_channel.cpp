#include "collectives/control_channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/background_thread.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/abort_handlers.hpp"
#include "collectives/control_connect.hpp"
#include "collectives/control_peer.hpp"
#include "collectives/gather_table.hpp"
#include "collectives/rank_table.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMaxUnauthenticated = 64;  // in addition to one for each rank
constexpr std::size_t kGatherOverhead = 1024;    // of a frame, for each message
constexpr std::size_t kMaxReasonBytes = 65'536;
constexpr milliseconds kLinger{1500};    // for the last frames and the others' ends
constexpr milliseconds kHubGrace{5000};  // after the limits that rank 0 enforces

[[noreturn]] void reject(const std::string& text) {
  fail(ErrorCode::InvalidArgument, Stage::Open, {}, text);
}

// Takes the same time for all texts of the expected length.
bool is_same_secret(std::string_view expected, std::string_view given) noexcept {
  if (expected.size() != given.size()) return false;
  volatile unsigned different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    different = different | static_cast<unsigned>(expected[i] ^ given[i]);
  return different == 0;
}

}  // namespace

// The part that the thread shares. Members after "Loop" belong to the thread of io_, and to open()
// before it starts; those after "Locked" are protected by mutex_.
class ControlChannel::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(const ControlChannelDesc& desc)
      : desc_(desc),
        table_(desc.size, desc.rank, control_name()),
        peers_(desc.size),
        gathers_(desc.size, desc.gather_limit,
                 {[this](std::uint32_t rank, const Frame& frame) { deliver(rank, frame); },
                  [this](std::uint32_t rank) { return describe(rank); }}) {}

  void start();
  void wait_for_all();
  void leave() noexcept;
  std::vector<std::string> all_gather(std::uint64_t group, std::span<const std::uint32_t> members,
                                      const std::string& message);
  void report_progress(std::string report);
  std::vector<Progress> progress() const;
  void abort(std::string reason) noexcept;
  std::string abort_reason() const;
  std::shared_ptr<const void> on_abort(AbortHandlers::Handler handler);
  const ControlChannelDesc& desc() const noexcept { return desc_; }

 private:
  struct Call {
    bool is_done = false;
    std::vector<std::string> result;
    std::string failure;  // empty: success
    ErrorCode code = ErrorCode::RankLost;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  [[nodiscard]] bool is_hub() const noexcept { return desc_.rank == 0; }
  // "rank 3 (node7, pid 4711)"
  [[nodiscard]] std::string describe(std::uint32_t rank) const;
  // Empty: calls of this rank can succeed. Requires the lock.
  [[nodiscard]] std::string why_ended() const;

  // On the loop.
  void run() noexcept;
  void tick();
  void accept();
  void add_unauthenticated(int socket);
  void authenticate(ControlPeer& peer, FrameType type, std::string_view body);
  void add_rank(ControlPeer& peer, std::uint32_t rank, std::string name);
  void start_peer(ControlPeer& peer);
  void receive(std::uint32_t from, FrameType type, std::string_view body);
  void receive_result(FrameType type, std::string_view body);
  void peer_ended(ControlPeer& peer);
  void rank_left(std::uint32_t rank);
  void deliver(std::uint32_t rank, const Frame& frame);
  enum class Busy : std::uint8_t { Skip, Include };  // peers with unsent frames
  void send_tables(Busy busy);
  void propagate_abort();
  void begin_leave();
  void end_if_left();

  const ControlChannelDesc desc_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<trace::Executor>> work_;
  std::thread thread_;
  const std::shared_ptr<AbortHandlers> handlers_ = std::make_shared<AbortHandlers>();
  std::atomic<std::size_t> refused_ = 0;  // connections with a wrong greeting

  // Locked.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id loop_id_;
  RankTable table_;
  std::map<std::uint64_t, std::uint64_t> next_sequence_;  // by group
  std::map<Key, Call*> calls_;
  bool is_aborted_ = false, is_left_ = false;
  std::string abort_reason_;

  // Loop. Rank 0 has a peer for each other rank, and these have one for rank 0.
  std::vector<std::shared_ptr<ControlPeer>> peers_;
  std::list<std::shared_ptr<ControlPeer>> unauthenticated_;  // oldest first
  std::optional<ControlDoor> door_;
  std::optional<ClosedInFork> door_in_fork_;
  std::uint16_t port_ = 0;
  trace::SteadyTimer heartbeat_{io_}, linger_{io_};
  bool accept_waits_ = false, is_propagated_ = false, is_leaving_ = false;
  GatherTable gathers_;
};

void ControlChannel::Core::start() {
  if (desc_.size > 1 && is_hub()) {
    door_.emplace(listen_for_ranks(io_, desc_));
    door_in_fork_.emplace(door_->native_handle());
    port_ = door_->local_endpoint().port();
  } else if (desc_.size > 1) {
    HubConnection hub = connect_to_hub(io_, desc_);
    table_.set_name(0, std::move(hub.name));
    peers_[0] = std::make_shared<ControlPeer>(std::move(hub.socket), kMaxFrameBytes);
    start_peer(*peers_[0]);
  }
  io_.restart();
  work_.emplace(io_.get_executor());
  if (desc_.size > 1) asio::post(io_, [this] { tick(); });
  if (door_) asio::post(io_, [this] { accept(); });
  try {
    thread_ =
        start_background_thread("reprise-ranks", [self = shared_from_this()] { self->run(); });
  } catch (const std::system_error& error) {
    fail(ErrorCode::NativeFailure, Stage::Open, {},
         concat("cannot start the thread of the control channel: ", error.what()));
  }
  if (port_ != 0 && desc_.publish) desc_.publish(port_);
}

void ControlChannel::Core::wait_for_all() {
  std::unique_lock lock(mutex_);
  const auto limit = desc_.connect_limit + (is_hub() ? milliseconds(0) : kHubGrace);
  const bool is_over =
      changed_.wait_for(lock, limit, [&] { return table_.is_full() || is_aborted_; });
  if (!is_over) {
    std::string reason;
    if (is_hub()) {
      reason =
          concat(table_.missing(), " did not connect to ", desc_.address, ":", port_, " within ",
                 limit.count(), " ms; ", refused_.load(), " other connections were refused");
    } else {
      reason = concat(table_.describe(0), " does not answer");
    }
    lock.unlock();
    abort(std::move(reason));
    lock.lock();
  }
  if (is_aborted_) fail(ErrorCode::RankLost, Stage::Open, {}, abort_reason_);
}

// --- the loop

void ControlChannel::Core::run() noexcept {
  {
    const std::lock_guard lock(mutex_);
    loop_id_ = std::this_thread::get_id();
  }
  for (;;) {
    try {
      io_.run();
      return;
    } catch (const std::exception& error) {
      abort(error.what());
    }
  }
}

void ControlChannel::Core::tick() {
  if (is_leaving_) return;
  heartbeat_.expires_after(desc_.heartbeat);
  heartbeat_.async_wait([this](const asio::error_code& error) {
    if (!error) tick();
  });
  propagate_abort();
  if (!is_hub()) {
    if (!peers_[0] || peers_[0]->has_unsent()) return;
    FrameWriter writer(FrameType::Report);
    {
      const std::lock_guard lock(mutex_);
      writer.text(table_.own_report());
    }
    return peers_[0]->send(writer.finish());
  }
  const auto now = Clock::now();
  gathers_.expire(now);
  std::erase_if(unauthenticated_, [&](const auto& peer) {
    if (now - peer->created < desc_.greeting_limit) return false;
    peer->close();
    return true;
  });
  if (std::exchange(accept_waits_, false)) accept();
  send_tables(Busy::Skip);
}

void ControlChannel::Core::accept() {
  if (!door_) return;
  door_->async_wait(asio::socket_base::wait_read, [this](const asio::error_code& error) {
    if (error || !door_) return;
    // A limited number, so that a flood does not delay the ranks that are connected.
    for (int i = 0; i < 16; ++i) {
      const int socket =
          ::accept4(door_->native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket >= 0) {
        add_unauthenticated(socket);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        accept_waits_ = true;  // until the next heartbeat
        return;
      } else if (errno == EAGAIN) {
        break;
      }
    }
    accept();
  });
}

void ControlChannel::Core::add_unauthenticated(int socket) {
  trace::StreamSocket stream(io_);
  asio::error_code error;
  stream.assign({door_->local_endpoint().protocol().family(), IPPROTO_TCP}, socket, error);
  if (error) {
    ::close(socket);
    return;
  }
  if (unauthenticated_.size() >= desc_.size + kMaxUnauthenticated) {
    unauthenticated_.front()->close();
    unauthenticated_.pop_front();
  }
  const auto peer = std::make_shared<ControlPeer>(std::move(stream), kMaxGreetingBytes);
  unauthenticated_.push_back(peer);
  start_peer(*peer);
}

void ControlChannel::Core::start_peer(ControlPeer& peer) {
  peer.start(
      [this](ControlPeer& from, FrameType type, std::string_view body) {
        is_hub() && from.rank == 0 ? authenticate(from, type, body)
                                   : receive(from.rank, type, body);
      },
      [this](ControlPeer& from) { peer_ended(from); });
}

void ControlChannel::Core::authenticate(ControlPeer& peer, FrameType type, std::string_view body) {
  FrameReader reader(body);
  if (type != FrameType::Hello || reader.u64() != kControlMagic || reader.u32() != kControlVersion)
    throw MalformedFrame{};
  const std::uint32_t rank = reader.u32();
  const std::uint32_t size = reader.u32();
  if (!is_same_secret(desc_.secret, reader.text()) || size != desc_.size || rank == 0 ||
      rank >= size)
    throw MalformedFrame{};
  std::string name = reader.text();
  reader.expect_end();
  std::string refusal;
  {
    const std::lock_guard lock(mutex_);
    if (table_.has_name(rank)) refusal = concat(table_.describe(rank), " is connected already");
  }
  if (!refusal.empty()) {
    peer.send(FrameWriter(FrameType::Refused)
                  .u64(kControlMagic)
                  .u32(kControlVersion)
                  .text(refusal)
                  .finish());
    return peer.finish();
  }
  add_rank(peer, rank, name.empty() ? "unknown host" : std::move(name));
}

void ControlChannel::Core::add_rank(ControlPeer& peer, std::uint32_t rank, std::string name) {
  peer.rank = rank;
  peer.set_max_frame_bytes(kMaxFrameBytes);
  peers_[rank] = peer.shared_from_this();
  unauthenticated_.remove(peers_[rank]);
  FrameWriter welcome(FrameType::Welcome);
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    table_.set_name(rank, std::move(name));
    is_last = table_.is_full();
    welcome.u64(kControlMagic).u32(kControlVersion).text(table_.name(0));
    changed_.notify_all();
  }
  peer.send(welcome.finish());
  if (!is_last) return;
  door_in_fork_.reset();
  door_.reset();
  for (const auto& other : unauthenticated_) other->close();
  unauthenticated_.clear();
  send_tables(Busy::Include);
}

void ControlChannel::Core::receive(std::uint32_t from, FrameType type, std::string_view body) {
  {
    const std::lock_guard lock(mutex_);
    table_.set_heard(from);
  }
  FrameReader reader(body);
  if (type == FrameType::Abort) return abort(reader.text());
  if (type == FrameType::Goodbye) return rank_left(from);
  if (!is_hub()) {
    if (type == FrameType::Table) {
      const std::lock_guard lock(mutex_);
      table_.apply(body);
      return changed_.notify_all();
    }
    if (type == FrameType::Gathered || type == FrameType::Failed) return receive_result(type, body);
  } else if (type == FrameType::Gather) {
    return gathers_.add(from, body, Clock::now());
  } else if (type == FrameType::Report) {
    std::string report = reader.text();
    const std::lock_guard lock(mutex_);
    table_.set_report(from, std::move(report));
    return;
  }
  throw MalformedFrame{};
}

void ControlChannel::Core::send_tables(Busy busy) {
  const std::lock_guard lock(mutex_);
  std::map<std::uint64_t, Frame> tables;  // by the version that the peer has
  for (const auto& peer : peers_) {
    if (!peer || (busy == Busy::Skip && peer->has_unsent())) continue;
    Frame& table = tables[peer->sent_version];
    if (!table) table = table_.changes_since(peer->sent_version);
    peer->send(table);
    peer->sent_version = table_.version();
  }
}

void ControlChannel::Core::receive_result(FrameType type, std::string_view body) {
  FrameReader reader(body);
  const std::uint64_t group = reader.u64();
  const Key key(group, reader.u64());
  Call result;
  result.is_done = true;
  if (type == FrameType::Failed) {
    if (reader.u32() == 1) result.code = ErrorCode::RankMismatch;
    result.failure = reader.text();
  } else {
    result.result.reserve(desc_.size);
    for (std::uint32_t left = reader.u32(); left > 0; --left)
      result.result.push_back(reader.text());
  }
  reader.expect_end();
  const std::lock_guard lock(mutex_);
  const auto at = calls_.find(key);
  if (at == calls_.end()) return;  // the call has failed
  *at->second = std::move(result);
  changed_.notify_all();
}

void ControlChannel::Core::deliver(std::uint32_t rank, const Frame& frame) {
  if (rank != 0) {
    if (peers_[rank]) peers_[rank]->send(frame);
    return;
  }
  FrameReader reader(*frame);
  const auto type = static_cast<FrameType>(reader.u32());
  receive_result(type, std::string_view(*frame).substr(kFrameHeaderBytes));
}

void ControlChannel::Core::peer_ended(ControlPeer& peer) {
  if (is_hub() && peer.rank == 0) {
    if (peer.was_malformed) ++refused_;
    unauthenticated_.remove(peer.shared_from_this());
    return end_if_left();
  }
  const std::uint32_t rank = peer.rank;
  peers_[rank].reset();
  {
    const std::lock_guard lock(mutex_);
    table_.set_disconnected(rank);
  }
  if (is_leaving_) return end_if_left();
  abort(concat(describe(rank), peer.was_malformed ? " sent a malformed message"
                                                  : " ended without leaving the job"));
}

void ControlChannel::Core::rank_left(std::uint32_t rank) {
  bool are_all_connected = false;
  {
    const std::lock_guard lock(mutex_);
    table_.set_left(rank);
    are_all_connected = table_.is_full();
    changed_.notify_all();
  }
  if (peers_[rank]) peers_[rank]->close();
  peers_[rank].reset();
  if (!are_all_connected) abort(concat(describe(rank), " has left the job"));
  if (is_hub()) gathers_.remove(rank);
  end_if_left();
}

// --- abort

void ControlChannel::Core::abort(std::string reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) return;
    is_aborted_ = true;
    abort_reason_ = std::move(reason);
    if (abort_reason_.empty()) abort_reason_ = "no reason given";
    abort_reason_.resize(std::min(abort_reason_.size(), kMaxReasonBytes));
    changed_.notify_all();
  }
  try {
    asio::post(io_, [this] { propagate_abort(); });
  } catch (const std::exception&) {
    // Without memory, the next heartbeat propagates it.
  }
}

void ControlChannel::Core::propagate_abort() {
  const std::string reason = abort_reason();
  if (reason.empty() || std::exchange(is_propagated_, true)) return;
  const Frame frame = FrameWriter(FrameType::Abort).text(reason).finish();
  for (const auto& peer : peers_)
    if (peer) peer->send(frame);
  handlers_->run(reason);
}

std::shared_ptr<const void> ControlChannel::Core::on_abort(AbortHandlers::Handler handler) {
  auto result = handlers_->add(std::move(handler));
  if (!abort_reason().empty()) asio::post(io_, [this] { handlers_->run(abort_reason()); });
  return result;
}

// --- leaving

void ControlChannel::Core::leave() noexcept {
  bool is_loop = false;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_left_, true)) return;
    changed_.notify_all();
    is_loop = loop_id_ == std::this_thread::get_id();
  }
  if (!thread_.joinable()) return;
  try {
    asio::post(io_, [this] { begin_leave(); });
  } catch (const std::exception&) {
    io_.stop();
  }
  is_loop ? thread_.detach() : thread_.join();
}

void ControlChannel::Core::begin_leave() {
  is_leaving_ = true;
  work_.reset();
  heartbeat_.cancel();
  door_in_fork_.reset();
  door_.reset();
  for (const auto& peer : unauthenticated_) peer->close();
  unauthenticated_.clear();
  linger_.expires_after(kLinger);
  linger_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    for (const auto& peer : peers_)
      if (peer) peer->close();
  });
  const Frame goodbye = FrameWriter(FrameType::Goodbye).finish();
  for (const auto& peer : peers_) {
    if (!peer) continue;
    peer->send(goodbye);
    peer->finish();
  }
  end_if_left();
}

void ControlChannel::Core::end_if_left() {
  if (is_leaving_ && std::ranges::none_of(peers_, [](const auto& peer) { return peer != nullptr; }))
    linger_.cancel();
}

// --- calls

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
    reject(concat("the members of group ", group, " are not ascending ranks with rank ", desc_.rank,
                  " among them"));
  if ((message.size() + kGatherOverhead) * members.size() > kMaxFrameBytes)
    reject(concat("a message of ", message.size(), " bytes is too long for ", members.size(),
                  " ranks"));
  Call call;
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
      gathers_.add(0, std::string_view(*frame).substr(kFrameHeaderBytes), Clock::now());
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

void ControlChannel::Core::report_progress(std::string report) {
  report.resize(std::min<std::size_t>(report.size(), std::min(4096U, (4U << 20) / desc_.size)));
  const std::lock_guard lock(mutex_);
  table_.set_report(desc_.rank, std::move(report));
}

std::vector<RankControl::Progress> ControlChannel::Core::progress() const {
  const std::lock_guard lock(mutex_);
  return table_.progress();
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
void ControlChannel::report_progress(std::string report) {
  core_->report_progress(std::move(report));
}
std::vector<RankControl::Progress> ControlChannel::progress() const { return core_->progress(); }
void ControlChannel::abort(std::string reason) noexcept { core_->abort(std::move(reason)); }
std::string ControlChannel::abort_reason() const { return core_->abort_reason(); }

std::shared_ptr<const void> ControlChannel::on_abort(
    std::function<void(const std::string& reason)> handler) {
  return core_->on_abort(std::move(handler));
}

}  // namespace reprise::detail
