#include "serve/viewer_server.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/serve/web_client.hpp"
#include "viewer/window/large_trace.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::viewer;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path served_trace() {
  const fs::path path = scratch_folder() / "run.reprise";
  if (!fs::exists(path)) write_large_trace(path, {.nodes = 300, .replays = 100});
  return path;
}

ServeDesc desc_of_trace() {
  const std::string trace = served_trace().string();
  ServeDesc desc;
  desc.target = {trace, {}};
  desc.traces = {trace};
  desc.allowed = {trace};
  desc.port = 0;
  return desc;
}

// A server that runs on a thread.
class RunningServer {
 public:
  explicit RunningServer(ServeDesc desc = desc_of_trace()) : server_(std::move(desc)) {
    thread_ = std::thread([this] { server_.run([this] { return is_stopped_.load(); }); });
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() {
    is_stopped_ = true;
    server_.wake();
    thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] WebClientDesc client() const { return {.token = server_.token()}; }

 private:
  ViewerServer server_;
  std::atomic<bool> is_stopped_{false};
  std::thread thread_;
};

Json key(const char* code, bool down) { return {"k", code, down}; }
Json input(std::vector<Json> events) { return {{"type", "input"}, {"events", std::move(events)}}; }

constexpr std::size_t kUploadPart = 100'000;  // bytes

std::string upload_part(std::uint32_t id, const std::string& bytes) {
  std::string out(1, '\1');
  out.append(reinterpret_cast<const char*>(&id), sizeof id);
  return out + bytes;
}

// Of servers with the folder of temporary files `temporary`.
std::ptrdiff_t folders_of_clients(const fs::path& temporary) {
  std::ptrdiff_t count = 0;
  for (const auto& server : fs::directory_iterator(temporary))
    count += std::distance(fs::directory_iterator(server), fs::directory_iterator());
  return count;
}

void upload(WebClient& client, std::uint32_t id, const fs::path& file) {
  const std::string bytes = test::text_of_file(file);
  client.send({{"type", "upload"},
               {"id", id},
               {"name", "../../" + file.filename().string()},
               {"bytes", bytes.size()}});
  for (std::size_t at = 0; at < bytes.size(); at += kUploadPart)
    client.send_bytes(upload_part(id, bytes.substr(at, kUploadPart)));
  client.send({{"type", "uploaded"}, {"ids", {id}}});
}

}  // namespace

TEST_CASE("viewer server: the page has its headers, and other paths, methods and sites nothing") {
  const RunningServer server;
  const WebAnswer page = http_request(server.port());
  CHECK(page.status == 200);
  CHECK(page.body.find("{{nonce}}") == std::string::npos);
  const std::string& policy = page.headers.at("content-security-policy");
  const std::size_t nonce = policy.find("'nonce-") + 7;
  CHECK(page.body.find("<script nonce=\"" + policy.substr(nonce, 32) + "\">") != std::string::npos);
  CHECK(page.headers.at("x-content-type-options") == "nosniff");
  CHECK(page.headers.at("referrer-policy") == "no-referrer");
  CHECK(http_request(server.port()).headers.at("content-security-policy") != policy);
  CHECK(http_request(server.port(), {.target = "/etc/passwd"}).status == 404);
  CHECK(http_request(server.port(), {.target = "/session"}).status == 426);
  CHECK(http_request(server.port(), {.method = "DELETE"}).status == 405);
  const WebAnswer rebound = http_request(server.port(), {.host = "evil.example:8321"});
  CHECK(rebound.status == 403);
  CHECK(rebound.body.find("--allow-host") != std::string::npos);
  CHECK(http_request(server.port(), {.origin = "https://evil.example"}).status == 403);
}

TEST_CASE("viewer server: a socket from another site or for another host is refused") {
  const RunningServer server;
  WebClientDesc desc = server.client();
  desc.origin = "https://evil.example";
  CHECK_THROWS(WebClient(server.port(), desc));
  desc.origin = "null";
  CHECK_THROWS(WebClient(server.port(), desc));
  desc.origin.clear();
  desc.host = "evil.example";
  CHECK_THROWS(WebClient(server.port(), desc));
  desc.host = "127.0.0.1:" + std::to_string(server.port());
  desc.origin = "http://" + desc.host;
  WebClient client(server.port(), desc);
  CHECK_FALSE(client.wait_for("welcome").is_null());
}

TEST_CASE("viewer server: without the token nobody comes in") {
  const RunningServer server;
  const std::string token = server.client().token;
  for (const std::string& wrong :
       {std::string(), token.substr(1), token + "0", std::string(32, '0')}) {
    WebClient client(server.port(), {.token = wrong});
    const Json error = client.wait_for("error");
    REQUIRE_FALSE(error.is_null());
    CHECK(error.at("reason") == "token");
    CHECK(client.has_ended());
    CHECK(client.frames + client.textures == 0);
  }
}

TEST_CASE("viewer server: a socket that says nothing is closed at the deadline") {
  ServeDesc desc = desc_of_trace();
  desc.first_message_seconds = 1;
  const RunningServer server(desc);
  WebClientDesc silent = server.client();
  silent.sends_hello = false;
  WebClient client(server.port(), silent);
  CHECK(client.has_ended());
  WebClient other(server.port(), server.client());
  CHECK_FALSE(other.wait_for("welcome").is_null());
}

TEST_CASE("viewer server: the first frame draws the trace, and an idle client gets nothing more") {
  const RunningServer server;
  WebClient client(server.port(), server.client());
  const Json welcome = client.wait_for("welcome");
  REQUIRE_FALSE(welcome.is_null());
  CHECK(welcome.at("session").get<std::string>().size() == 32);
  const Json title = client.wait_for("title");
  REQUIRE_FALSE(title.is_null());
  CHECK(title.at("text") == "run.reprise - Reprise");
  CHECK(client.wait_for("state").at("state").at("graph") == "large 1");
  client.read_until_quiet(500);
  CHECK(client.textures == 1);
  CHECK(client.decoder.width == 1600);
  CHECK(client.decoder.lists.size() > 5);
  std::size_t late = 1;  // frames of a busy machine
  for (int i = 0; i < 20 && late != 0; ++i) late = client.read_until_quiet(1000);
  CHECK(late == 0);
}

TEST_CASE("viewer server: keys, pointer and text act as in a window") {
  const RunningServer server;
  WebClient client(server.port(), server.client());
  REQUIRE_FALSE(client.wait_for("state").is_null());
  client.read_until_quiet(500);
  client.send(input({key("Digit3", true), key("Digit3", false)}));
  CHECK(client.wait_for("state").at("state").at("view") == "timeline");
  client.send(input({key("ControlLeft", true), key("KeyF", true), key("KeyF", false),
                     key("ControlLeft", false)}));
  for (Json keyboard; (keyboard = client.wait_for("keyboard")).at("wanted") != true;) {
  }
  // A press and its release in one message are a click of two frames.
  client.send(input({{"t", "gemm"}, key("KeyA", true), key("KeyA", false)}));
  client.send({{"type", "paste"}, {"text", " -copy"}});
  client.send(input({key("ControlLeft", true), key("KeyV", true), key("KeyV", false),
                     key("KeyA", true), key("KeyA", false), key("KeyC", true), key("KeyC", false),
                     key("ControlLeft", false)}));
  CHECK(client.wait_for("copy").at("text") == "gemm -copy");
  client.send(input({key("ControlLeft", true), key("KeyP", true), key("KeyP", false),
                     key("ControlLeft", false), key("Escape", true), key("Escape", false)}));
  client.send(input({key("Escape", true), key("Escape", false)}));
  client.read_until_quiet(300);
  client.send(input({key("ControlLeft", true), key("KeyP", true), key("KeyP", false),
                     key("ControlLeft", false)}));
  CHECK(client.wait_for("picture").at("name").get<std::string>().ends_with(".png"));
}

TEST_CASE("viewer server: a link shows its graph, replay and view, and navigation returns") {
  const RunningServer server;
  WebClientDesc desc = server.client();
  desc.state = {{"graph", "large 1"}, {"replay", "20"}, {"view", "memory"}};
  WebClient client(server.port(), desc);
  CHECK(client.wait_for("state").at("state") == desc.state);
  client.send({{"type", "navigate"},
               {"state", {{"graph", "large 1"}, {"replay", "30"}, {"view", "replays"}}}});
  const Json state = client.wait_for("state");
  CHECK(state.at("state") == Json({{"graph", "large 1"}, {"replay", "30"}, {"view", "replays"}}));
  client.send(input({key("ArrowRight", true), key("ArrowRight", false)}));
  const Json stepped = client.wait_for("state");
  CHECK(stepped.at("state") == Json({{"graph", "large 1"}, {"replay", "40"}, {"view", "replays"}}));
  CHECK(stepped.at("replace") == true);
}

TEST_CASE("viewer server: a link names one of several served traces, and opens it") {
  const fs::path folder = scratch_folder() / "traces";
  fs::create_directories(folder / "inner");
  for (const char* name : {"a.reprise", "inner/b.reprise"})
    write_large_trace(folder / name, {.nodes = 30, .replays = 20});
  ServeDesc desc = desc_of_trace();
  desc.target = {};
  desc.allowed = {folder};
  const RunningServer server(desc);
  WebClientDesc linked = server.client();
  linked.state = {
      {"trace", "inner/b.reprise"}, {"graph", "large 1"}, {"replay", "10"}, {"view", "nodes"}};
  WebClient client(server.port(), linked);
  CHECK(client.wait_for("state").at("state") == linked.state);
  client.send(
      {{"type", "navigate"},
       {"state",
        {{"trace", "a.reprise"}, {"graph", "large 1"}, {"replay", "20"}, {"view", "memory"}}}});
  for (Json title; (title = client.wait_for("title")).at("text") != "a.reprise - Reprise";) {
  }
  CHECK(client.wait_for("state").at("state") ==
        Json({{"trace", "a.reprise"}, {"graph", "large 1"}, {"replay", "20"}, {"view", "memory"}}));
  for (const std::string& other : {std::string("../run.reprise"), std::string("/etc/passwd"),
                                   std::string("none.reprise"), std::string(5000, 'a')}) {
    linked.state = {{"trace", other}, {"view", "nodes"}};
    WebClient stranger(server.port(), linked);
    CHECK(stranger.wait_for("title").at("text") == "Reprise");
    CHECK(stranger.wait_for("state").at("state") == Json::object());
  }
}

TEST_CASE("viewer server: a link to another graph than the first shows it") {
  ServeDesc desc;
  desc.target.target = (scratch_folder() / "two.reprise").string();
  desc.port = 0;
  write_large_trace(desc.target.target, {.graphs = 2, .nodes = 30, .replays = 20});
  const RunningServer server(desc);
  WebClientDesc linked = server.client();
  linked.state = {{"graph", "large 2"}, {"view", "nodes"}};
  for (int i = 0; i < 3; ++i) {  // the trace is read, or still being read
    WebClient client(server.port(), linked);
    CHECK(client.wait_for("state").at("state") == linked.state);
    client.send({{"type", "navigate"}, {"state", {{"graph", "large 1"}, {"view", "graph"}}}});
    CHECK(client.wait_for("state").at("state") == Json({{"graph", "large 1"}, {"view", "graph"}}));
  }
}

TEST_CASE("viewer server: each client has its own state, and one that leaves makes room") {
  ServeDesc desc = desc_of_trace();
  desc.max_clients = 2;
  const RunningServer server(desc);
  WebClient first(server.port(), server.client()), second(server.port(), server.client());
  REQUIRE_FALSE(first.wait_for("state").is_null());
  REQUIRE_FALSE(second.wait_for("state").is_null());
  first.send(input({key("Digit3", true), key("Digit3", false)}));
  CHECK(first.wait_for("state").at("state").at("view") == "timeline");
  second.send(input({key("Digit2", true), key("Digit2", false)}));
  CHECK(second.wait_for("state").at("state").at("view") == "replays");
  {
    WebClient third(server.port(), server.client());
    const Json error = third.wait_for("error");
    REQUIRE_FALSE(error.is_null());
    CHECK(error.at("reason") == "clients");
    CHECK(third.has_ended());
  }
  first.leave();
  WebClient fourth(server.port(), server.client());
  CHECK_FALSE(fourth.wait_for("welcome").is_null());
}

TEST_CASE("viewer server: a lost connection resumes with the whole frame") {
  const RunningServer server;
  WebClientDesc desc = server.client();
  std::size_t lists = 0;
  {
    WebClient client(server.port(), desc);
    REQUIRE_FALSE(client.wait_for("state").is_null());
    client.send(input({key("Digit3", true), key("Digit3", false)}));
    REQUIRE_FALSE(client.wait_for("state").is_null());
    client.read_until_quiet(1000);
    lists = client.decoder.lists.size();
    desc.resume = client.session;
  }
  WebClient client(server.port(), desc);
  CHECK(client.wait_for("welcome").at("session") == desc.resume);
  CHECK(client.wait_for("state").at("state").at("view") == "timeline");
  client.read_until_quiet(1000);
  CHECK(client.textures == 1);
  CHECK(client.decoder.lists.size() == lists);
  desc.resume = std::string(32, '0');
  WebClient other(server.port(), desc);
  CHECK(other.wait_for("welcome").at("session") != desc.resume);
}

TEST_CASE("viewer server: a client that acknowledges nothing gets few frames, and slows nobody") {
  const RunningServer server;
  WebClientDesc desc = server.client();
  desc.acknowledges = false;
  WebClient slow(server.port(), desc);
  WebClient quick(server.port(), server.client());
  REQUIRE_FALSE(quick.wait_for("state").is_null());
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const Json move = {"m", random() % 1600, random() % 900};
    slow.send(input({move}));
    quick.send(input({move}));
    CHECK(quick.read_until_quiet(5) < 50);
  }
  quick.read_until_quiet(300);
  CHECK(quick.frames > 10);
  const auto move = [&] { slow.send(input({{"m", random() % 1600, random() % 900}})); };
  // A busy server may have shown all of these in fewer frames.
  for (int i = 0; i < 500 && slow.frames < 4; ++i) {
    move();
    slow.read_until_quiet(20);
  }
  CHECK(slow.frames == 4);
  slow.send(input({key("Digit3", true), key("Digit3", false)}));
  CHECK(slow.read_until_quiet(300) == 0);
  // The input was kept, and another view is drawn now.
  slow.send({{"type", "ack"}, {"frame", slow.decoder.frame}});
  for (int i = 0; i < 20 && slow.frames == 4; ++i) slow.read_until_quiet(500);
  CHECK(slow.frames > 4);
}

TEST_CASE("viewer server: hostile messages end their own connection only") {
  const RunningServer server;
  WebClient witness(server.port(), server.client());
  REQUIRE_FALSE(witness.wait_for("state").is_null());
  const std::string messages[] = {
      "",
      "{",
      "[]",
      "null",
      "{}",
      R"({"type":1})",
      R"({"type":"nothing"})",
      R"({"type":"input"})",
      R"({"type":"input","events":[["m"]]})",
      R"({"type":"input","events":[["m","a","b"]]})",
      R"({"type":"input","events":[["b",7,true]]})",
      R"({"type":"input","events":[["b",0.5,true]]})",
      R"({"type":"resize","width":1})",
      R"({"type":"ack","frame":-1})",
      R"({"type":"upload","id":-1,"name":"a","bytes":1})",
      R"({"type":"upload","id":1,"name":"a","bytes":1e9})",
      R"({"type":"uploaded","ids":1})",
      R"({"type":"paste"})",
      R"({"type":"navigate","state":"graph=step"})",
      std::string(300'000, '['),
      R"({"type":"paste","text":")" + std::string(600'000, 'a') + R"("})"};
  for (const std::string& message : messages) {
    CAPTURE(message.substr(0, 80));
    WebClient client(server.port(), server.client());
    REQUIRE_FALSE(client.wait_for("welcome").is_null());
    client.send_text(message);
    CHECK(client.has_ended());
  }
  WebClient client(server.port(), server.client());
  client.send_bytes("\2xxxx");
  CHECK(client.has_ended());
  witness.send({{"type", "alive"}});
  CHECK_FALSE(witness.wait_for("alive").is_null());
}

TEST_CASE("viewer server: a client that asks and does not read its answers ends") {
  ServeDesc desc = desc_of_trace();
  desc.max_unsent_bytes = 5u << 20;
  const RunningServer server(desc);
  WebClientDesc plain = server.client();
  plain.compresses = false;
  WebClient greedy(server.port(), plain);
  REQUIRE_FALSE(greedy.wait_for("state").is_null());
  const std::string name(200, 'x');  // the refusal repeats it
  bool is_taken = true;
  for (std::uint32_t i = 0; i < 500'000 && is_taken; ++i)
    is_taken = greedy.send({{"type", "upload"}, {"id", i}, {"name", name}, {"bytes", 1ull << 40}});
  CHECK_FALSE(is_taken);
  WebClient other(server.port(), server.client());
  CHECK_FALSE(other.wait_for("welcome").is_null());
}

TEST_CASE("viewer server: changed bytes of messages neither end it nor disturb others") {
  const RunningServer server;
  WebClient witness(server.port(), server.client());
  REQUIRE_FALSE(witness.wait_for("state").is_null());
  const std::string messages[] = {
      R"({"type":"input","events":[["m",500,300],["b",0,true],["b",0,false],["w",0,-1],["k","KeyF",true],["t","a"],["f",false]]})",
      R"({"type":"resize","width":1280,"height":720,"scale":1})",
      R"({"type":"upload","id":1,"name":"run.reprise","bytes":100})",
      R"({"type":"uploaded","ids":[1,2]})",
      R"({"type":"navigate","state":{"graph":"large 1","replay":"20","view":"nodes"}})",
      R"({"type":"ack","frame":3})"};
  std::mt19937 random(4711);
  auto client = std::make_unique<WebClient>(server.port(), server.client());
  int ended = 0;
  for (int i = 0; i < 50; ++i) {
    std::string message = messages[random() % std::size(messages)];
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % message.size();
      if (random() % 2 == 0) {
        message[at] = static_cast<char>(' ' + random() % 95);
      } else {
        message.erase(at, 1 + random() % 4);
      }
      if (message.empty()) message = "0";
    }
    client->send_text(message);
    client->send({{"type", "alive"}});
    const bool is_open = !client->wait_for("alive").is_null();
    witness.send({{"type", "alive"}});
    REQUIRE_FALSE(witness.wait_for("alive").is_null());
    if (is_open) continue;
    client = std::make_unique<WebClient>(server.port(), server.client());
    ++ended;
  }
  CHECK(ended > 5);
  CHECK(ended < 50);
}

TEST_CASE("viewer server: sizes without sense are bounded") {
  const RunningServer server;
  WebClient client(server.port(), server.client());
  REQUIRE_FALSE(client.wait_for("state").is_null());
  for (const double size : {0.0, -5.0, 1e30, 63.7}) {
    client.send({{"type", "resize"}, {"width", size}, {"height", size}, {"scale", 1}});
    client.read_until_quiet(100);
    CHECK(client.decoder.width >= 64);
    CHECK(client.decoder.width <= 8192);
  }
}

TEST_CASE("viewer server: an uploaded trace opens, and its file goes with the client") {
  ServeDesc desc = desc_of_trace();
  desc.target = {};
  const fs::path temporary = scratch_folder() / "temporary";
  fs::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const RunningServer server(desc);
  const fs::path file = scratch_folder() / "uploaded.reprise";
  write_large_trace(file, {.nodes = 30, .replays = 20});
  WebClient client(server.port(), server.client());
  REQUIRE_FALSE(client.wait_for("title").is_null());
  upload(client, 1, file);
  for (Json title; (title = client.wait_for("title")).at("text") != "uploaded.reprise - Reprise";) {
  }
  CHECK(folders_of_clients(temporary) == 1);
  client.leave();
  WebClient other(server.port(), server.client());  // the server has handled the end before
  REQUIRE_FALSE(other.wait_for("welcome").is_null());
  CHECK(folders_of_clients(temporary) == 0);
}

TEST_CASE("viewer server: uploads beyond the limit are refused, and parts beyond the size end it") {
  ServeDesc desc = desc_of_trace();
  desc.max_upload_bytes = 1000;
  const RunningServer server(desc);
  WebClient client(server.port(), server.client());
  client.send({{"type", "upload"}, {"id", 1}, {"name", "a"}, {"bytes", 1001}});
  CHECK(client.wait_for("refused").at("id") == 1);
  client.send({{"type", "upload"}, {"id", 2}, {"name", "a"}, {"bytes", 600}});
  client.send({{"type", "upload"}, {"id", 3}, {"name", "a"}, {"bytes", 600}});
  CHECK(client.wait_for("refused").at("id") == 3);
  client.send_bytes(upload_part(2, std::string(601, 'x')));
  CHECK(client.has_ended());
}

TEST_CASE("viewer server: a read-only one takes no files and says so") {
  ServeDesc desc = desc_of_trace();
  desc.read_only = true;
  const RunningServer server(desc);
  WebClient client(server.port(), server.client());
  client.send({{"type", "upload"}, {"id", 1}, {"name", "a.reprise"}, {"bytes", 10}});
  CHECK(client.wait_for("refused").at("text").get<std::string>().find("read-only") !=
        std::string::npos);
}
