// LiveLoop: the thread of a live server: its doors and its connections. Threads: open_*() before start(); then wake(), stats() and stop()
// from any thread; all else on its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "trace/live/connection.hpp"
#include "trace/live/live_server.hpp"

namespace reprise::trace {

class LiveLoop {
 public:
  LiveLoop(ConnectionContext context, std::size_t max_connections);
  LiveLoop(const LiveLoop&) = delete;
  LiveLoop& operator=(const LiveLoop&) = delete;
  ~LiveLoop();  // as stop()

  // A socket file, mode 0600. False: something is there already. Throws TraceError (Io).
  [[nodiscard]] bool open_path(const std::filesystem::path& path);
  // Returns the port. Throws TraceError (Io).
  [[nodiscard]] std::uint16_t open_tcp(const std::string& host, const std::string& port);
  void start();
  void wake();  // there is something to send
  void stop();  // ends every connection; returns when the thread has ended

  // Connections are refused for want of file descriptors until something changes.
  [[nodiscard]] bool waiting() const noexcept { return waiting_; }
  [[nodiscard]] LiveServerStats stats() const;
  [[nodiscard]] std::thread::native_handle_type thread() noexcept { return thread_.native_handle(); }

 private:
  template <class Acceptor>
  void accept(Acceptor& acceptor, Connection::Door door);
  template <class Acceptor>
  bool refuse_one(Acceptor& acceptor);
  void take(StreamSocket socket, Connection::Door door);
  void ended(const std::shared_ptr<Connection>& connection, ConnectionEnd why);
  void open_doors();

  ConnectionContext context_;
  const std::size_t max_connections_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<Executor>> work_;
  std::optional<AcceptorOf<asio::local::stream_protocol>> path_door_;
  std::optional<AcceptorOf<asio::ip::tcp>> tcp_door_;
  bool path_waits_ = false, tcp_waits_ = false, stopped_ = false;
  int spare_ = -1;  // given up to take, and close, a connection that there is no descriptor for
  std::set<std::shared_ptr<Connection>> connections_;
  std::atomic<bool> waiting_ = false;
  mutable std::mutex stats_mutex_;
  LiveServerStats stats_;
  std::thread thread_;
};

}  // namespace reprise::trace
