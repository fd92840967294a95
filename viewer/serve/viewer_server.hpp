// ViewerServer: the viewer for browsers: who may connect, one ServedClient for each, and the thread
// that draws them one after the other. Draws only clients with input, animations or new data.
// Threads: one thread constructs, runs and destroys it; wake() from any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/served_client.hpp"
#include "serve/server_folder.hpp"

namespace reprise::viewer {

class ViewerServer {
 public:
  // Listens on the port or one of the next, if it is taken. Throws std::runtime_error.
  explicit ViewerServer(ServeDesc desc);
  ViewerServer(const ViewerServer&) = delete;
  ViewerServer& operator=(const ViewerServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return web_.port(); }
  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  // "http://127.0.0.1:8321/#token=..."
  [[nodiscard]] std::string link() const;

  // For files of the owner of the server.
  [[nodiscard]] ServerFolder& folder() noexcept { return folder_; }

  // Serves until `is_stopped`, which is asked after each wake().
  void run(const std::function<bool()>& is_stopped);
  void wake() { web_.wake(); }

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
  // When draw_due() or remove_lost() has to be called again.
  [[nodiscard]] ServeClock::time_point next_due() const;
  [[nodiscard]] Clients::iterator find(ConnectionId connection);

  const ServeDesc desc_;
  const std::string token_;
  ServerFolder folder_;
  FontCache fonts_;
  FeedPool feeds_;
  WebServer web_;
  Clients clients_;
};

}  // namespace reprise::viewer
