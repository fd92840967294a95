#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "trace/live/session_directory.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

// A process of its own, and a pipe each way. It ends by kill -9 alone, at the latest with this object.
class Child {
 public:
  // `body` gets the descriptors to read from and to write to.
  explicit Child(const std::function<void(int, int)>& body) {
    REQUIRE(::pipe(down_) == 0);
    REQUIRE(::pipe(up_) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      body(down_[0], up_[1]);
      for (;;) ::pause();
    }
    ::close(std::exchange(up_[1], -1));  // so that a child that ends early is the end of what it says
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    for (const int end : {down_[0], down_[1], up_[0]}) ::close(end);
  }
  void say(const std::string& text) const { REQUIRE(::write(down_[1], text.c_str(), text.size() + 1) > 0); }
  [[nodiscard]] std::string hear() const { return read_text(up_[0]); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] static std::string read_text(int from) {
    std::string text;
    for (char c = 1; ::read(from, &c, 1) == 1 && c != 0;) text += c;
    return text;
  }

 private:
  int down_[2]{}, up_[2]{};
  pid_t pid_ = -1;
};

void tell(int to, const std::string& text) {
  if (::write(to, text.c_str(), text.size() + 1) < 0) ::_exit(1);
}

}  // namespace

TEST_CASE("live server: kill -9 of a viewer is a connection less, for nobody else anything") {
  const test::RuntimeFolder runtime;
  Child child([](int from, int to) {
    const test::RawPeer peer(std::filesystem::path(Child::read_text(from)));
    peer.send(encode_hello(""));
    tell(to, peer.connected() ? "sent" : "no");
    for (;;) ::pause();
  });
  LiveServer server(test::patient("digits"));
  test::Collector other(server.path());
  REQUIRE(other.wait_until_live());
  REQUIRE(test::eventually([&] { return server.stats().welcomed == 1; }));
  const std::size_t before = test::open_descriptors();
  child.say(server.path());
  REQUIRE(child.hear() == "sent");
  REQUIRE(test::eventually([&] { return server.stats().viewers == 2 && server.stats().welcomed == 2; }));
  server.write(test::sample_chunk(1000, 0));
  child.kill();
  for (std::uint64_t i = 1; i < 20; ++i) server.write(test::sample_chunk(1000, i));
  CHECK(test::eventually([&] { return server.stats().viewers == 1; }));
  CHECK(other.wait_for_chunks(20));
  CHECK(test::eventually([&] { return test::open_descriptors() == before; }));
}

TEST_CASE("live client: kill -9 of a session is an end, and what it left is found dead and removed") {
  const test::RuntimeFolder runtime;
  Child child([](int, int to) {
    // It lives until the process ends.
    auto* server = new LiveServer(test::patient("victim"));
    server->write(test::topology_chunk(1, 0));
    tell(to, server->path());
  });
  const std::string path = child.hear();
  const auto session = [&] {
    const auto all = list_sessions();
    const auto found = std::find_if(all.begin(), all.end(), [&](const LiveSession& s) { return s.path == path; });
    return found == all.end() ? std::optional<LiveSession>() : *found;
  };
  test::Collector viewer(path);
  REQUIRE(viewer.wait_for_chunks(1));
  REQUIRE(session());
  CHECK(session()->alive);
  CHECK(session()->application == "victim");
  CHECK(session()->pid == static_cast<std::uint32_t>(child.pid()));
  child.kill();
  REQUIRE(viewer.wait_for_end());
  CHECK(viewer.client().status().state == LiveState::Closed);
  REQUIRE(session());
  CHECK_FALSE(session()->alive);
  const LiveServer next(test::patient("next"));  // tidies up as it starts
  CHECK_FALSE(session());
  CHECK_FALSE(std::filesystem::exists(path));
}
