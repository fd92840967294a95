#include "serve/viewer_server.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_parser.hpp"
#include "base/shown_text.hpp"
#include "serve/protocol.hpp"
#include "serve/request_checks.hpp"
#include "trace/live/greeting.hpp"

namespace reprise::viewer {

using Json = nlohmann::ordered_json;

ViewerServer::ViewerServer(ServeDesc desc)
    : desc_(std::move(desc)),
      token_(random_text()),
      web_(desc_, [this](const WebEvent& event) { handle(event); }) {}

std::string ViewerServer::link() const {
  return "http://" + host_of_address(desc_.address) + ":" + std::to_string(port()) +
         "/#token=" + token_;
}

void ViewerServer::run(const std::function<bool()>& is_stopped) {
  while (!is_stopped()) {
    draw_due();
    remove_lost();
    web_.run_until(next_due());
  }
}

ServeClock::time_point ViewerServer::next_due() const {
  ServeClock::time_point due = ServeClock::time_point::max();
  for (const auto& client : clients_) {
    due = std::min(due, client->connection() == 0
                            ? client->lost_at() + std::chrono::seconds(desc_.lost_client_seconds)
                            : client->due());
  }
  return due;
}

ViewerServer::Clients::iterator ViewerServer::find(ConnectionId connection) {
  return std::find_if(clients_.begin(), clients_.end(),
                      [&](const auto& client) { return client->connection() == connection; });
}

void ViewerServer::handle(const WebEvent& event) {
  const auto client = find(event.connection);
  try {
    if (web_.unsent(event.connection) > desc_.max_unsent_bytes)
      throw ProtocolError("the answers to what was sent are not read");
    if (event.kind == WebEvent::Kind::Left) {
      if (client != clients_.end()) clients_.erase(client);
    } else if (event.kind == WebEvent::Kind::Lost) {
      if (client != clients_.end()) (*client)->detach();
    } else if (client == clients_.end()) {
      greet(event);
    } else if (event.kind == WebEvent::Kind::Text) {
      (*client)->receive_text(detail::parse_ordered_json(event.data));
    } else {
      (*client)->receive_bytes(event.data);
    }
  } catch (const std::exception& error) {  // of the protocol, of Json, or of a path
    refuse(event.connection, "protocol", error.what());
  }
}

void ViewerServer::greet(const WebEvent& event) {
  const Json hello = detail::parse_ordered_json(event.data);
  if (event.kind != WebEvent::Kind::Text || hello.value("type", "") != "hello")
    throw ProtocolError("the first message is no \"hello\"");
  if (!trace::same_token(token_, hello.value("token", "")))
    return refuse(event.connection, "token",
                  "The token is wrong. Use the link that the server printed.");
  const std::string resumed = hello.value("resume", "");
  const auto same = std::find_if(clients_.begin(), clients_.end(),
                                 [&](const auto& client) { return client->session() == resumed; });
  if (same != clients_.end()) {
    if ((*same)->connection() != 0) web_.close((*same)->connection());
    (*same)->detach();
    return (*same)->attach(event.connection, hello);
  }
  if (clients_.size() >= desc_.max_clients && !make_room())
    return refuse(event.connection, "clients",
                  "This server has its " + std::to_string(desc_.max_clients) +
                      " clients already (--max-clients).");
  auto client = std::make_unique<ServedClient>(desc_, web_, fonts_, feeds_, folder_.next(),
                                               [this] { wake(); });
  client->attach(event.connection, hello);
  clients_.push_back(std::move(client));
}

void ViewerServer::refuse(ConnectionId connection, const char* reason, const std::string& text) {
  if (const auto client = find(connection); client != clients_.end()) clients_.erase(client);
  const Json message = {{"type", "error"}, {"reason", reason}, {"text", text}};
  web_.send(connection, WebServer::Message::Text,
            message.dump(-1, ' ', false, Json::error_handler_t::replace));
  web_.close(connection);
}

bool ViewerServer::make_room() {
  const auto lost_at = [](const auto& client) {
    return client->connection() == 0 ? client->lost_at() : ServeClock::time_point::max();
  };
  const auto first =
      std::min_element(clients_.begin(), clients_.end(),
                       [&](const auto& a, const auto& b) { return lost_at(a) < lost_at(b); });
  if (first == clients_.end() || (*first)->connection() != 0) return false;
  clients_.erase(first);
  return true;
}

void ViewerServer::draw_due() {
  const auto now = ServeClock::now();
  for (std::size_t i = clients_.size(); i-- > 0;) {
    ServedClient& client = *clients_[i];
    client.send_files();
    if (client.due() > now) continue;
    try {
      client.draw();
    } catch (const std::exception& error) {
      const std::string reason = detail::failure_text(error, "drawing the viewer");
      detail::print_message(reason);
      refuse(client.connection(), "drawing", reason);  // removes the client
    }
  }
}

void ViewerServer::remove_lost() {
  const auto before = ServeClock::now() - std::chrono::seconds(desc_.lost_client_seconds);
  std::erase_if(clients_, [&](const auto& client) {
    return client->connection() == 0 && client->lost_at() <= before;
  });
}

}  // namespace reprise::viewer
