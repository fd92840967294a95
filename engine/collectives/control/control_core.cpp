#include "collectives/control/control_core.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <random>
#include <system_error>

#include "base/background_thread.hpp"
#include "base/failure.hpp"
#include "base/steady_clock.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMaxUnauthenticated = 64;  // in addition to one for each rank
constexpr std::size_t kMaxReasonBytes = 65'536;
constexpr milliseconds kLinger{1500};  // for the last frames and the others' ends

}  // namespace

void ControlChannel::Core::start() {
  if (desc_.size > 1 && is_hub()) {
    door_.emplace(listen_for_ranks(io_, desc_));
    door_in_fork_.emplace(door_->native_handle());
    port_ = door_->local_endpoint().port();
    std::random_device random;
    while (job_id_ == 0) job_id_ = std::uint64_t{random()} << 32 | random();
  } else if (desc_.size > 1) {
    HubConnection hub = connect_to_hub(io_, desc_);
    table_.set_name(0, std::move(hub.name));
    job_id_ = hub.job_id;
    hub_launched_ = hub.launched_rank;
    peers_[0] = std::move(hub.peer);
    peers_[0]->set_max_frame_bytes(kMaxFrameBytes);
    peers_[0]->change_owner(on_frame(), on_end());
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
    return send_report(Busy::Skip);
  }
  const auto now = Clock::now();
  gathers_.expire(now);
  std::erase_if(unauthenticated_, [&](const auto& peer) {
    if (now - peer->created < desc_.greeting_limit) return false;
    peer->close();
    return true;
  });
  if (std::exchange(accept_waits_, false)) accept();
  // The bytes of all tables grow with the square of the number of ranks, so tables of large jobs
  // are sent less often.
  if (ticks_++ % (1 + desc_.size / kRanksPerTick) == 0) send_tables(Busy::Skip);
}

void ControlChannel::Core::receive_time(FrameReader& reader) {
  const std::int64_t received = steady_now();
  RankAgreement::ClockExchange exchange{hub_launched_, static_cast<std::int64_t>(reader.u64()),
                                        received, static_cast<std::int64_t>(reader.u64())};
  reader.expect_end();
  {
    const std::lock_guard lock(mutex_);
    if (exchanges_.size() == kKeptExchanges) exchanges_.erase(exchanges_.begin());
    exchanges_.push_back(exchange);
  }
  if (++exchange_count_ < kFirstExchanges && !is_leaving_) send_report(Busy::Skip);
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
  StreamSocket stream(io_);
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
  peer->handshake.emplace(desc_.secret, port_, desc_.size);
  unauthenticated_.push_back(peer);
  peer->start(on_frame(), on_end());
}

ControlPeer::OnFrame ControlChannel::Core::on_frame() {
  return [this](ControlPeer& from, FrameType type, std::string_view body) {
    from.handshake ? authenticate(from, type, body) : receive(from.rank, type, body);
  };
}

ControlPeer::OnEnd ControlChannel::Core::on_end() {
  return [this](ControlPeer& from) { peer_ended(from); };
}

void ControlChannel::Core::authenticate(ControlPeer& peer, FrameType type, std::string_view body) {
  if (type == FrameType::Hello) return peer.send(peer.handshake->challenge(body));
  if (type != FrameType::Proof) throw MalformedFrame{};
  std::string name = peer.handshake->verify(body);
  const std::uint32_t rank = peer.handshake->rank();
  std::string refusal;
  {
    const std::lock_guard lock(mutex_);
    if (table_.has_name(rank)) refusal = concat(table_.describe(rank), " is connected already");
  }
  if (!refusal.empty()) {
    peer.send(FrameWriter(FrameType::Refused).text(refusal).finish());
    return peer.finish();
  }
  add_rank(peer, rank, name.empty() ? "unknown host" : std::move(name));
}

void ControlChannel::Core::add_rank(ControlPeer& peer, std::uint32_t rank, std::string name) {
  peer.rank = rank;
  peer.handshake.reset();
  peer.set_max_frame_bytes(kMaxFrameBytes);
  peers_[rank] = peer.shared_from_this();
  unauthenticated_.remove(peers_[rank]);
  FrameWriter welcome(FrameType::Welcome);
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    table_.set_name(rank, std::move(name));
    is_last = table_.is_full();
    welcome.text(table_.name(0)).u64(job_id_).u32(desc_.launched_rank);
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
    if (type == FrameType::Time) return receive_time(reader);
    if (type == FrameType::Gathered || type == FrameType::Failed) return receive_result(type, body);
  } else if (type == FrameType::Gather) {
    return gathers_.add(from, body, Clock::now());
  } else if (type == FrameType::Report) {
    std::string report = reader.text();
    const std::uint64_t sent = reader.u64();
    reader.expect_end();
    if (report.size() > max_report_bytes()) throw MalformedFrame{};
    if (peers_[from] && !peers_[from]->has_unsent())
      peers_[from]->send(FrameWriter(FrameType::Time)
                             .u64(sent)
                             .u64(static_cast<std::uint64_t>(steady_now()))
                             .finish());
    const std::lock_guard lock(mutex_);
    table_.set_report(from, std::move(report));
    return;
  }
  throw MalformedFrame{};
}

void ControlChannel::Core::send_report(Busy busy) {
  if (!peers_[0] || (busy == Busy::Skip && peers_[0]->has_unsent())) return;
  FrameWriter writer(FrameType::Report);
  {
    const std::lock_guard lock(mutex_);
    writer.text(table_.own_report());
  }
  peers_[0]->send(writer.u64(static_cast<std::uint64_t>(steady_now())).finish());
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
  std::uint32_t messages = 0;
  if (type == FrameType::Failed) {
    if (reader.u32() == 1) result.code = ErrorCode::RankMismatch;
    result.failure = reader.text();
  } else {
    messages = reader.u32();
    for (std::uint32_t i = 0; i < messages; ++i) result.result.push_back(reader.text());
  }
  reader.expect_end();
  const std::lock_guard lock(mutex_);
  const auto at = calls_.find(key);
  if (at == calls_.end()) return;  // the call has failed
  result.members = at->second->members;
  if (type == FrameType::Gathered && messages != result.members) throw MalformedFrame{};
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
    if (peer.fault != nullptr) ++refused_;
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
  abort(concat(describe(rank), " ",
               peer.fault != nullptr ? peer.fault : "ended without leaving the job"));
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
  is_hub() ? send_tables(Busy::Include) : send_report(Busy::Include);
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

}  // namespace reprise::detail
