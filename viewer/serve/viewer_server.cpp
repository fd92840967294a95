#include "serve/viewer_server.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_parser.hpp"
#include "base/shown_text.hpp"
#include "serve/page.hpp"
#include "serve/protocol.hpp"
#include "serve/request_checks.hpp"
#include "trace/live/greeting.hpp"

namespace reprise::viewer {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint16_t kTriedPorts = 100;
constexpr std::size_t kSpareConnections = 32;  // besides those of clients

Json object_of(const std::string& text) {
  Json json = detail::parse_ordered_json(text);
  if (!json.is_object()) throw ProtocolError("a message is no JSON object");
  return json;
}

std::string text_in(const Json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

ViewerServer::ViewerServer(ServeDesc desc) : desc_(std::move(desc)), token_(random_text()) {
  web_ = std::make_unique<WebServer>(
      WebServerDesc{.address = desc_.address,
                    .port = desc_.port,
                    .tried_ports = desc_.port == 0 ? std::uint16_t{1} : kTriedPorts,
                    .hosts = desc_.hosts,
                    .page = kPage,
                    .max_connections = desc_.max_clients + kSpareConnections,
                    .max_message = kMaxMessage,
                    .first_message_seconds = desc_.first_message_seconds},
      [this] { wake(); });
}

ViewerServer::~ViewerServer() { clients_.clear(); }

std::string ViewerServer::link() const {
  const bool is_any = desc_.address == "0.0.0.0" || desc_.address == "::";
  const bool is_v6 = desc_.address.find(':') != std::string::npos;
  const std::string host = is_any ? "127.0.0.1" : is_v6 ? "[" + desc_.address + "]" : desc_.address;
  return "http://" + host + ":" + std::to_string(port()) + "/#token=" + token_;
}

void ViewerServer::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  woken_.notify_one();
}

void ViewerServer::run(const std::function<bool()>& is_stopped) {
  while (!is_stopped()) {
    for (const WebEvent& event : web_->take_events()) handle(event);
    draw_due();
    remove_lost();
    wait();
  }
}

void ViewerServer::wait() {
  ServeClock::time_point due = ServeClock::time_point::max();
  for (const auto& client : clients_) {
    due = std::min(due, client->connection() == 0
                            ? client->lost_at() + std::chrono::seconds(desc_.lost_client_seconds)
                            : client->due());
  }
  std::unique_lock lock(mutex_);
  const auto is_woken = [this] { return is_woken_; };
  if (due == ServeClock::time_point::max()) {
    woken_.wait(lock, is_woken);
  } else {
    woken_.wait_until(lock, due, is_woken);
  }
  is_woken_ = false;
}

ViewerServer::Clients::iterator ViewerServer::find(ConnectionId connection) {
  return std::find_if(clients_.begin(), clients_.end(),
                      [&](const auto& client) { return client->connection() == connection; });
}

void ViewerServer::handle(const WebEvent& event) {
  const auto client = find(event.connection);
  try {
    if (web_->unsent(event.connection) > desc_.max_unsent_bytes)
      throw ProtocolError("the answers to what was sent are not read");
    if (event.kind == WebEvent::Kind::Left) {
      if (client != clients_.end()) clients_.erase(client);
    } else if (event.kind == WebEvent::Kind::Lost) {
      if (client != clients_.end()) (*client)->detach();
    } else if (client == clients_.end()) {
      greet(event);
    } else if (event.kind == WebEvent::Kind::Text) {
      (*client)->receive_text(object_of(event.data));
    } else {
      (*client)->receive_bytes(event.data);
    }
  } catch (const ProtocolError& error) {
    refuse(event.connection, "protocol", error.what());
  }
}

void ViewerServer::greet(const WebEvent& event) {
  if (event.kind != WebEvent::Kind::Text) throw ProtocolError("the first message is no \"hello\"");
  const Json hello = object_of(event.data);
  if (text_in(hello, "type") != "hello") throw ProtocolError("the first message is no \"hello\"");
  if (!trace::same_token(token_, text_in(hello, "token")))
    return refuse(event.connection, "token",
                  "The token is wrong. Use the link that the server printed.");
  const auto version = hello.find("version");
  if (version == hello.end() || *version != kProtocolVersion)
    return refuse(event.connection, "version",
                  "The page and the server have different versions: reload.");
  const std::string resumed = text_in(hello, "resume");
  const auto same = std::find_if(clients_.begin(), clients_.end(),
                                 [&](const auto& client) { return client->session() == resumed; });
  if (same != clients_.end()) {
    if ((*same)->connection() != 0) web_->close((*same)->connection());
    (*same)->detach();
    return (*same)->attach(event.connection, hello);
  }
  if (clients_.size() >= desc_.max_clients && !make_room())
    return refuse(event.connection, "clients",
                  "This server has its " + std::to_string(desc_.max_clients) +
                      " clients already (--max-clients).");
  auto client = std::make_unique<ServedClient>(desc_, *web_, fonts_, feeds_, random_text(),
                                               [this] { wake(); });
  client->attach(event.connection, hello);
  clients_.push_back(std::move(client));
}

void ViewerServer::refuse(ConnectionId connection, const char* reason, const std::string& text) {
  if (const auto client = find(connection); client != clients_.end()) clients_.erase(client);
  const Json message = {{"type", "error"}, {"reason", reason}, {"text", text}};
  web_->send(connection, WebServer::Message::Text,
             message.dump(-1, ' ', false, Json::error_handler_t::replace));
  web_->close(connection);
}

bool ViewerServer::make_room() {
  const auto is_lost = [](const auto& client) { return client->connection() == 0; };
  auto oldest = std::find_if(clients_.begin(), clients_.end(), is_lost);
  for (auto each = oldest; each != clients_.end(); ++each) {
    if (is_lost(*each) && (*each)->lost_at() < (*oldest)->lost_at()) oldest = each;
  }
  if (oldest == clients_.end()) return false;
  clients_.erase(oldest);
  return true;
}

void ViewerServer::draw_due() {
  const auto now = ServeClock::now();
  std::vector<ConnectionId> due;
  for (const auto& client : clients_) {
    if (client->connection() == 0) continue;
    client->send_files();
    if (client->due() <= now) due.push_back(client->connection());
  }
  for (const ConnectionId connection : due) {
    try {
      (*find(connection))->draw();
    } catch (const std::exception& error) {
      const std::string reason = detail::failure_text(error, "drawing the viewer");
      detail::print_message(reason);
      refuse(connection, "drawing", reason);
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
