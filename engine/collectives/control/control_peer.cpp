#include "collectives/control/control_peer.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <utility>

#include "trace/live/stream_io.hpp"

namespace reprise::detail {

namespace {

struct ForkState {
  std::mutex mutex;
  std::multiset<int> sockets;  // a socket that changes its owner is twice in it
};

// Never destroyed: fork() may be called during process exit.
ForkState& fork_state() {
  static ForkState* const state = new ForkState;
  static const int registered =
      ::pthread_atfork([] { fork_state().mutex.lock(); }, [] { fork_state().mutex.unlock(); },
                       [] {
                         for (const int socket : fork_state().sockets) ::close(socket);
                         fork_state().sockets.clear();
                         fork_state().mutex.unlock();
                       });
  static_cast<void>(registered);
  return *state;
}

}  // namespace

ClosedInFork::ClosedInFork(int socket) : socket_(socket) {
  const std::lock_guard lock(fork_state().mutex);
  fork_state().sockets.insert(socket);
}

ClosedInFork::~ClosedInFork() {
  const std::lock_guard lock(fork_state().mutex);
  auto& sockets = fork_state().sockets;
  sockets.erase(sockets.find(socket_));
}

int open_tcp_socket(int family) noexcept {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
}

ControlPeer::ControlPeer(StreamSocket socket, std::uint32_t max_frame_bytes)
    : socket_(std::move(socket)),
      closed_in_fork_(std::make_unique<ClosedInFork>(socket_.native_handle())),
      max_frame_bytes_(max_frame_bytes) {
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
}

void ControlPeer::start(OnFrame on_frame, OnEnd on_end) {
  change_owner(std::move(on_frame), std::move(on_end));
  read_header();
}

void ControlPeer::change_owner(OnFrame on_frame, OnEnd on_end) {
  on_frame_ = std::move(on_frame);
  on_end_ = std::move(on_end);
}

void ControlPeer::read_header() {
  trace::async_read_all(socket_, asio::buffer(header_),
                        [self = shared_from_this()](const asio::error_code& error) {
                          if (self->is_closed_) return;
                          error ? self->end() : self->read_body();
                        });
}

void ControlPeer::read_body() {
  FrameReader reader({header_.data(), header_.size()});
  const std::uint32_t type = reader.u32();
  const std::uint32_t length = reader.u32();
  if (length > max_frame_bytes_) {
    fault = MalformedFrame{}.what();
    return end();
  }
  body_.resize(length);
  trace::async_read_all(socket_, asio::buffer(body_),
                        [self = shared_from_this(), type](const asio::error_code& error) {
                          if (self->is_closed_) return;
                          if (error) return self->end();
                          try {
                            self->on_frame_(*self, static_cast<FrameType>(type), self->body_);
                          } catch (const MalformedFrame& malformed) {
                            self->fault = malformed.what();
                            return self->end();
                          }
                          if (!self->is_closed_) self->read_header();
                        });
}

void ControlPeer::send(Frame frame) {
  if (is_closed_ || is_finishing_ || fault != nullptr) return;
  unsent_bytes_ += frame->size();
  if (unsent_bytes_ > kMaxUnsentBytes) {
    fault = "does not read what it is sent";
    // Not from here: callers go through their peers.
    return asio::post(socket_.get_executor(), [self = shared_from_this()] { self->end(); });
  }
  unsent_.push_back(std::move(frame));
  if (unsent_.size() == 1) write();
}

void ControlPeer::write() {
  const asio::const_buffer bytes[] = {asio::buffer(*unsent_.front())};
  trace::async_write_all(socket_, bytes,
                         [self = shared_from_this()](const asio::error_code& error) {
                           if (self->is_closed_) return;
                           // Receiving continues after an error: the last frames of the other end
                           // may explain it.
                           self->unsent_bytes_ -= self->unsent_.front()->size();
                           self->unsent_.pop_front();
                           if (error) {
                             self->unsent_.clear();
                             self->unsent_bytes_ = 0;
                           }
                           if (!self->unsent_.empty()) return self->write();
                           asio::error_code ignored;
                           if (self->is_finishing_)
                             self->socket_.shutdown(asio::socket_base::shutdown_send, ignored);
                         });
}

void ControlPeer::finish() {
  if (is_closed_ || std::exchange(is_finishing_, true) || !unsent_.empty()) return;
  asio::error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

void ControlPeer::close() {
  if (std::exchange(is_closed_, true)) return;
  closed_in_fork_.reset();
  asio::error_code ignored;
  socket_.close(ignored);
}

void ControlPeer::end() {
  if (is_closed_) return;
  close();
  if (on_end_) on_end_(*this);
}

}  // namespace reprise::detail
