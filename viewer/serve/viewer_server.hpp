// ViewerServer: the viewer for browsers: who may connect, one ServedClient for each, and the thread
// that draws them one after the other. Draws only clients with input, animations or new data.
// Threads: one thread constructs, runs and destroys it; wake() from any.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serve/served_client.hpp"

namespace reprise::viewer {

class ViewerServer {
 public:
  // Listens on the port or one of the next, if it is taken. Throws std::runtime_error.
  explicit ViewerServer(ServeDesc desc);
  ViewerServer(const ViewerServer&) = delete;
  ViewerServer& operator=(const ViewerServer&) = delete;
  ~ViewerServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return web_->port(); }
  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  // "http://127.0.0.1:8321/#token=..."
  [[nodiscard]] std::string link() const;
  // Also those whose connection is lost.
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }

  // Serves until `is_stopped`, which is asked after each wake().
  void run(const std::function<bool()>& is_stopped);
  void wake();

 private:
  using Clients = std::vector<std::unique_ptr<ServedClient>>;

  void handle(const WebEvent& event);
  void greet(const WebEvent& event);
  // Tells the page why, and closes. `reason` is for the page, `text` for its user.
  void refuse(ConnectionId connection, const char* reason, const std::string& text);
  // Removes the client that lost its connection first. Returns false if there is none.
  bool make_room();
  void draw_due();
  void remove_lost();
  void wait();
  [[nodiscard]] Clients::iterator find(ConnectionId connection);

  const ServeDesc desc_;
  const std::string token_;
  std::mutex mutex_;  // guards is_woken_
  std::condition_variable woken_;
  bool is_woken_ = false;
  FontCache fonts_;
  FeedPool feeds_;
  std::unique_ptr<WebServer> web_;
  Clients clients_;
};

}  // namespace reprise::viewer
