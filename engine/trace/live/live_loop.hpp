// LiveLoop: the thread of a live server with its acceptors and connections. Threads: call open_*()
// before start(). wake(), stats() and stop() may be called from any thread; all other members run
// on the loop's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "trace/live/connection.hpp"
#include "trace/live/live_server.hpp"

namespace reprise::trace {

class LiveLoop {
 public:
  LiveLoop(ConnectionContext context, std::size_t max_connections);
  LiveLoop(const LiveLoop&) = delete;
  LiveLoop& operator=(const LiveLoop&) = delete;
  ~LiveLoop();  // calls stop()

  // Listens on a socket file of mode 0600. Returns false if the path exists. Throws TraceError
  // (Io).
  [[nodiscard]] bool open_path(const std::filesystem::path& path);
  // Listens on TCP and returns the port. Throws TraceError (Io).
  [[nodiscard]] std::uint16_t open_tcp(const std::string& host, const std::string& port);
  void start();
  void wake();  // notifies the thread that chunks are queued
  void stop();  // closes every connection and joins the thread

  // True while accepting is suspended because the process has no free file descriptor.
  [[nodiscard]] bool waiting() const noexcept { return waiting_; }
  [[nodiscard]] LiveServerStats stats() const;
  [[nodiscard]] std::thread::native_handle_type thread() noexcept {
    return thread_.native_handle();
  }

 private:
  template <class Acceptor>
  void accept(Acceptor& acceptor, Connection::Door door);
  template <class Acceptor>
  bool refuse_one(Acceptor& acceptor);
  void take(StreamSocket socket, Connection::Door door);
  void ended(const std::shared_ptr<Connection>& connection, ConnectionEnd why);
  void open_doors();
  // Closes a connection if the door has too many. Returns false if all of them are viewers.
  [[nodiscard]] bool make_room(Connection::Door door);
  [[nodiscard]] AcceptorOf<asio::ip::tcp> listen_on(const asio::ip::tcp::endpoint& endpoint,
                                                    asio::error_code& error);

  ConnectionContext context_;
  const std::size_t max_connections_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<Executor>> work_;
  std::optional<AcceptorOf<asio::local::stream_protocol>> path_door_;
  std::optional<AcceptorOf<asio::ip::tcp>> tcp_door_;
  bool path_waits_ = false, tcp_waits_ = false, stopped_ = false;
  // Reserve descriptor: closed to accept and reject a connection when no descriptor is free.
  int spare_ = -1;
  std::vector<std::shared_ptr<Connection>> connections_;  // oldest first
  std::atomic<bool> waiting_ = false;
  mutable std::mutex stats_mutex_;
  LiveServerStats stats_;
  std::thread thread_;
};

}  // namespace reprise::trace
