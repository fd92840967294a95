#include "trace/live/live_loop.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <type_traits>
#include <utility>

#include "base/background_thread.hpp"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

void require(const asio::error_code& error, const std::string& what) {
  if (error) throw TraceError(TraceErrorCode::Io, what + ": " + error.message());
}

// Child processes must not keep connections open.
void close_on_exec(int socket) { ::fcntl(socket, F_SETFD, FD_CLOEXEC); }

}  // namespace

LiveLoop::LiveLoop(ConnectionContext context, std::size_t max_connections)
    : context_(std::move(context)),
      max_connections_(max_connections),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  context_.on_welcome = [this] {
    const std::lock_guard lock(stats_mutex_);
    ++stats_.welcomed;
  };
  context_.on_refused_request = [this] {
    const std::lock_guard lock(stats_mutex_);
    ++stats_.refused_requests;
  };
}

LiveLoop::~LiveLoop() {
  stop();
  if (spare_ >= 0) ::close(spare_);
}

bool LiveLoop::open_path(const std::filesystem::path& path) {
  asio::error_code error;
  AcceptorOf<asio::local::stream_protocol> door(io_);
  door.open({}, error);
  require(error, path.string() + ": cannot open a socket");
  close_on_exec(door.native_handle());
  // bind() creates the file with this mode, so other users can connect at no time.
  if (::fchmod(door.native_handle(), 0600) != 0)
    require(asio::error_code(errno, asio::system_category()), path.string());
  door.bind(asio::local::stream_protocol::endpoint(path.native()), error);
  if (error == asio::error::address_in_use) return false;
  require(error, path.string() + ": cannot create the socket of a live session");
  door.listen(asio::socket_base::max_listen_connections, error);
  if (error) ::unlink(path.c_str());
  require(error, path.string() + ": cannot listen");
  path_door_.emplace(std::move(door));
  return true;
}

std::uint16_t LiveLoop::open_tcp(const std::string& host, const std::string& port) {
  const std::string where = host + ":" + port;
  asio::error_code error;
  TcpResolver resolver(io_);
  const auto found = resolver.resolve(host, port, asio::ip::resolver_base::passive, error);
  require(error, where + ": cannot resolve the address");
  // A name may have addresses on which this machine cannot listen, such as ::1 without IPv6.
  for (const auto& one : found) {
    AcceptorOf<asio::ip::tcp> door = listen_on(one.endpoint(), error);
    if (!error) {
      const std::uint16_t bound = door.local_endpoint(error).port();
      tcp_door_.emplace(std::move(door));
      return bound;
    }
  }
  throw TraceError(TraceErrorCode::Io, where + ": cannot listen: " + error.message());
}

AcceptorOf<asio::ip::tcp> LiveLoop::listen_on(const asio::ip::tcp::endpoint& endpoint,
                                              asio::error_code& error) {
  AcceptorOf<asio::ip::tcp> door(io_);
  door.open(endpoint.protocol(), error);
  if (error) return door;
  close_on_exec(door.native_handle());
  asio::error_code ignored;
  door.set_option(asio::socket_base::reuse_address(true), ignored);
  door.bind(endpoint, error);
  if (!error) door.listen(asio::socket_base::max_listen_connections, error);
  return door;
}

void LiveLoop::start() {
  work_.emplace(io_.get_executor());
  path_waits_ = path_door_.has_value();
  tcp_waits_ = tcp_door_.has_value();
  open_doors();
  thread_ = detail::start_background_thread("reprise-live", [this] {
    for (bool more = true; more;) {
      try {
        io_.run();
        more = false;
      } catch (const std::exception&) {
        // An exception of the application's request handler must not end the live session.
      }
    }
  });
}

void LiveLoop::wake() {
  asio::post(io_, [this] {
    context_.broadcast.take_wake();
    for (const auto& connection : std::vector(connections_)) connection->send();
    open_doors();
  });
}

void LiveLoop::stop() {
  if (!thread_.joinable()) return;
  const auto end = [this] {
    stopped_ = true;
    asio::error_code ignored;
    if (path_door_) path_door_->close(ignored);
    if (tcp_door_) tcp_door_->close(ignored);
    try {
      for (const auto& connection : std::vector(connections_))
        connection->end(ConnectionEnd::Stopped);
    } catch (const std::bad_alloc&) {
      io_.stop();  // the destructors close the connections
    }
    work_.reset();
  };
  try {
    asio::post(io_, end);
  } catch (const std::bad_alloc&) {
    io_.stop();
  }
  thread_.join();
}

// Resumes accepting after a lack of descriptors.
void LiveLoop::open_doors() {
  waiting_ = false;
  if (std::exchange(path_waits_, false)) accept(*path_door_, Connection::Door::Path);
  if (std::exchange(tcp_waits_, false)) accept(*tcp_door_, Connection::Door::Tcp);
}

template <class Acceptor>
void LiveLoop::accept(Acceptor& acceptor, Connection::Door door) {
  // Waits for readiness first: accept() needs a free descriptor and fails without one even if no
  // connection is pending.
  acceptor.async_wait(asio::socket_base::wait_read, [this, &acceptor,
                                                     door](asio::error_code error) {
    if (stopped_) return;
    SocketOf<typename Acceptor::protocol_type> socket(io_);
    if (!error) acceptor.non_blocking(true, error);
    if (!error) acceptor.accept(socket, error);
    const bool exhausted = error == asio::error::no_descriptors ||
                           error == asio::error_code(ENFILE, asio::system_category()) ||
                           error == asio::error::no_buffer_space || error == asio::error::no_memory;
    if (!error) {
      if constexpr (std::is_same_v<typename Acceptor::protocol_type, asio::ip::tcp>) {
        asio::error_code ignored;
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
        socket.set_option(asio::socket_base::keep_alive(true), ignored);
      }
      take(std::move(socket), door);
    } else if (exhausted && !refuse_one(acceptor)) {
      (door == Connection::Door::Path ? path_waits_ : tcp_waits_) = true;
      waiting_ = true;
      return;
    }
    accept(acceptor, door);
  });
}

// Accepts and closes one connection with the reserve descriptor. Otherwise the pending connection
// would keep the acceptor ready, and accept() would fail in a busy loop.
template <class Acceptor>
bool LiveLoop::refuse_one(Acceptor& acceptor) {
  if (spare_ < 0) return false;
  ::close(spare_);
  asio::error_code error;
  {
    SocketOf<typename Acceptor::protocol_type> refused(io_);
    acceptor.non_blocking(true, error);
    acceptor.accept(refused, error);
  }
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::lock_guard lock(stats_mutex_);
  ++stats_.too_many;
  return spare_ >= 0 && (!error || error == asio::error::would_block);
}

// Peers that do not complete the handshake must not keep viewers out: the oldest one is closed.
bool LiveLoop::make_room(Connection::Door door) {
  std::shared_ptr<Connection> oldest;
  std::size_t count = 0;
  for (const auto& connection : connections_) {
    if (connection->door() != door) continue;
    ++count;
    if (!oldest && !connection->is_viewer()) oldest = connection;
  }
  if (count < max_connections_) return true;
  if (!oldest) return false;
  oldest->end(ConnectionEnd::Displaced);
  return true;
}

void LiveLoop::take(StreamSocket socket, Connection::Door door) {
  if (!make_room(door)) {
    const std::lock_guard lock(stats_mutex_);
    ++stats_.too_many;
    return;  // the destructor of `socket` closes the connection
  }
  close_on_exec(socket.native_handle());
  const auto connection = std::make_shared<Connection>(
      std::move(socket), door, context_,
      [this](const std::shared_ptr<Connection>& which, ConnectionEnd why) { ended(which, why); });
  connections_.push_back(connection);
  {
    const std::lock_guard lock(stats_mutex_);
    stats_.connections = connections_.size();
  }
  connection->start();
}

void LiveLoop::ended(const std::shared_ptr<Connection>& connection, ConnectionEnd why) {
  std::erase(connections_, connection);
  {
    const std::lock_guard lock(stats_mutex_);
    stats_.connections = connections_.size();
    switch (why) {
      case ConnectionEnd::Left: ++stats_.left; break;
      case ConnectionEnd::Garbage: ++stats_.garbage; break;
      case ConnectionEnd::WrongToken: ++stats_.wrong_tokens; break;
      case ConnectionEnd::Deadline: ++stats_.late; break;
      case ConnectionEnd::Displaced: ++stats_.too_many; break;
      case ConnectionEnd::TooSlow: ++stats_.too_slow; break;
      case ConnectionEnd::Stopped: break;
    }
  }
  if (!stopped_) open_doors();
}

LiveServerStats LiveLoop::stats() const {
  const std::lock_guard lock(stats_mutex_);
  return stats_;
}

}  // namespace reprise::trace
