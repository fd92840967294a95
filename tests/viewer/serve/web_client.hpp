// WebClient: a browser as the server sees it, on one blocking socket. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "viewer/serve/frame_decoder.hpp"

namespace reprise::test {

struct WebAnswer {
  unsigned status = 0;
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
};
struct WebRequest {
  std::string target = "/", host = "localhost", origin = {}, method = "GET";
};
[[nodiscard]] WebAnswer http_request(std::uint16_t port, const WebRequest& request = {});

struct WebClientDesc {
  std::string token, host = "localhost", origin = {}, resume = {};
  nlohmann::json state = nlohmann::json::object();  // of the link
  bool sends_hello = true, acknowledges = true, compresses = true;
};

class WebClient {
 public:
  // Throws std::exception if the server refuses the socket.
  WebClient(std::uint16_t port, const WebClientDesc& desc);
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;
  ~WebClient();  // the connection is lost, unless leave() was called

  // False if the server has closed the connection.
  bool send(const nlohmann::json& message);
  bool send_text(const std::string& text);
  void send_bytes(const std::string& bytes);
  void leave();  // closes it as a page does

  // Reads until a message of this type arrives, and returns it; null if the connection ends or
  // nothing arrives for five seconds.
  nlohmann::json wait_for(const std::string& type);
  // Reads until nothing arrives for `quiet_ms`. Returns the frames.
  std::size_t read_until_quiet(int quiet_ms);
  // Whether the connection has ended; reads until it does, or for five seconds.
  [[nodiscard]] bool has_ended();

  FrameDecoder decoder;
  std::size_t frames = 0, textures = 0, frame_bytes = 0;
  std::string downloaded, session;
  bool acknowledges;

 private:
  struct Socket;
  // Empty: it ended or nothing arrived.
  [[nodiscard]] std::optional<nlohmann::json> read(int timeout_ms);
  std::unique_ptr<Socket> socket_;
};

}  // namespace reprise::test
