// Tests of `reprise record --attach` within this process: record a session of this process into a
// file.
#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include "cli/attach.hpp"
#include "trace/trace_reader.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// Runs record_session() on its own thread.
class Recording {
 public:
  explicit Recording(cli::AttachDesc desc)
      : thread_([this, desc = std::move(desc)] {
          try {
            cli::record_session(desc);
          } catch (const std::exception& error) {
            error_ = error.what();
          }
        }) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (thread_.joinable()) thread_.join();
  }
  void stop() { ::pthread_kill(thread_.native_handle(), SIGINT); }
  // Empty on success.
  [[nodiscard]] std::string error() {
    thread_.join();
    return error_;
  }

 private:
  std::string error_;
  std::thread thread_;
};

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

cli::AttachDesc described(std::string session, const RuntimeFolder& folder) {
  cli::AttachDesc desc;
  desc.session = std::move(session);
  desc.file.path = folder.path() / "now.reprise";
  return desc;
}

}  // namespace

TEST_CASE("record --attach: the file contains everything that the session sends until it ends") {
  const RuntimeFolder runtime;
  auto server = std::make_unique<trace::LiveServer>(patient("digits"));
  server->write(topology_chunk(1, 0));
  Collector viewer(server->path());
  REQUIRE(viewer.wait_for_chunks(1));
  const cli::AttachDesc desc = described("digits", runtime);
  Recording recording(desc);
  REQUIRE(eventually([&] { return server->stats().welcomed == 2; }));
  for (std::uint64_t i = 1; i <= 20; ++i) server->write(sample_chunk(100, i));
  server->flush();
  server.reset();
  CHECK(recording.error().empty());
  REQUIRE(viewer.wait_for_end());
  const auto file = bytes_of(desc.file.path);
  const auto preamble = trace::encode_preamble();
  REQUIRE(file.size() > preamble.size());
  CHECK(std::vector<std::uint8_t>(file.begin() + static_cast<std::ptrdiff_t>(preamble.size()),
                                  file.end()) == viewer.bytes());
  CHECK(trace::TraceReader(desc.file.path).chunks().size() == 21);
}

TEST_CASE(
    "record --attach: Ctrl+C ends the recording but not the session, and the requested profile is "
    "sent") {
  const RuntimeFolder runtime;
  std::atomic<int> asked{0};
  trace::LiveServerDesc live = patient("digits");
  live.remote_profile = trace::LiveProfile::Every;
  live.on_request = [&](const trace::LiveRequest& request) {
    asked += request.profile == trace::LiveProfile::Replays ? 1 : 0;
  };
  trace::LiveServer server(live);
  server.write(topology_chunk(1, 0));
  cli::AttachDesc desc = described(server.path(), runtime);
  desc.profile = trace::LiveProfile::Replays;
  Recording recording(desc);
  REQUIRE(eventually([&] { return asked == 1; }));
  REQUIRE(eventually([&] {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(desc.file.path, missing);
    return !missing && size > trace::kPreambleBytes;
  }));
  recording.stop();
  CHECK(recording.error().empty());
  CHECK(trace::TraceReader(desc.file.path).chunks().size() == 1);
  CHECK(eventually([&] { return server.stats().viewers == 0; }));
}

TEST_CASE(
    "record --attach: without a matching session it lists the running ones and writes no file") {
  const RuntimeFolder runtime;
  const trace::LiveServer one(patient("digits"));
  const auto error_of = [&](const std::string& session) {
    return Recording(described(session, runtime)).error();
  };
  CHECK(error_of("photo").find("(digits)") != std::string::npos);
  CHECK(error_of((runtime.path() / "nothing").string()).find("nothing") != std::string::npos);
  const trace::LiveServer two(patient("digits"));
  CHECK(error_of("digits").find("several sessions") != std::string::npos);
  CHECK(cli::find_session("127.0.0.1:4711") == "127.0.0.1:4711");
  CHECK_FALSE(std::filesystem::exists(described("", runtime).file.path));
}

TEST_CASE("record --attach: a wrong token is reported") {
  const RuntimeFolder runtime;
  trace::LiveServerDesc live = patient("digits");
  live.listen = "127.0.0.1:0";
  live.token = "secret";
  const trace::LiveServer server(live);
  cli::AttachDesc desc = described("127.0.0.1:" + std::to_string(server.port()), runtime);
  desc.token = "wrong";
  CHECK(Recording(desc).error().find("rejected the token") != std::string::npos);
}
