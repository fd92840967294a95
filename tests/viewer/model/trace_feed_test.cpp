#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "model/document_builder.hpp"
#include "model/document_text.hpp"
#include "model/trace_feed.hpp"
#include "support/counting_allocator.hpp"
#include "support/paths.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_writer.hpp"
#include "unit/trace/live_support.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"
#include "viewer/model/watched_feed.hpp"

using namespace reprise;
using model::FeedState;
using test::fresh_file;
using test::kHangSeconds;
using test::kStep;
using test::push_all;
using test::Watched;
using trace::ChunkKind;

namespace {

thread_local std::optional<test::FailingAllocations> failing;  // until the thread ends

test::Chunks whole() {
  return {{ChunkKind::Topology, test::small_topology()},
          {ChunkKind::Events, test::small_events()},
          {ChunkKind::Samples, test::small_samples()}};
}

std::string text_of_whole() {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  for (auto& [kind, records] : whole()) builder.add(std::move(records));
  return model::document_text(*builder.publish());
}

trace::Records replays(std::uint64_t first, std::uint64_t count) {
  trace::Records records;
  for (std::uint64_t n = first; n < first + count; ++n) {
    const auto at = static_cast<trace::Time>(10'000 * n);
    records.replays.push_back({3, 1, 0, 4, n, at, at + 900, at + 2'000, at + 7'000, 77, 0});
  }
  return records;
}

}  // namespace

TEST_CASE("trace feed: a file becomes Ready with everything in it") {
  const auto path = fresh_file("whole.reprise");
  test::write_trace(path, whole());
  model::TraceFeed feed({.target = path});
  CHECK_FALSE(feed.is_live());
  CHECK(feed.target() == path);
  REQUIRE(feed.wait_until_ready(kHangSeconds));
  CHECK(feed.status().state == FeedState::Ready);
  CHECK(feed.status().progress == 1);
  CHECK(feed.status().reason.empty());
  CHECK(model::document_text(*feed.document()) == text_of_whole());
}

TEST_CASE(
    "trace feed: a file truncated anywhere is Ready with its complete chunks and reports the "
    "missing part") {
  const auto path = fresh_file("cut.reprise");
  test::write_trace(path, whole());
  const std::uintmax_t size = std::filesystem::file_size(path);
  for (const std::uintmax_t less : {1u, 40u, 100u}) {
    CAPTURE(less);
    std::filesystem::resize_file(path, size - less);
    model::TraceFeed feed({.target = path});
    REQUIRE(feed.wait_until_ready(kHangSeconds));
    CHECK(feed.status().state == FeedState::Ready);
    CHECK(feed.status().reason.find("truncated") != std::string::npos);
    REQUIRE(feed.document()->find(kStep) != nullptr);
    CHECK(feed.document()->find(kStep)->replays.size() == 3);
    CHECK(feed.document()->find(kStep)->statistics->samples == 0);
  }
}

TEST_CASE("trace feed: a damaged chunk is skipped and reported") {
  const auto path = fresh_file("damaged.reprise");
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()}});
  const std::uintmax_t events = std::filesystem::file_size(path);
  test::append_trace(path, {{ChunkKind::Events, test::small_events()},
                            {ChunkKind::Samples, test::small_samples()}});
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(events + trace::ChunkHeader::kBytes + 20));
  file.write("damage", 6);
  file.close();
  model::TraceFeed feed({.target = path});
  REQUIRE(feed.wait_until_ready(kHangSeconds));
  CHECK(feed.status().state == FeedState::Ready);
  CHECK(feed.status().reason.find("damaged") != std::string::npos);
  CHECK(feed.document()->find(kStep)->replays.empty());
  CHECK(feed.document()->find(kStep)->statistics->samples == 8);
}

TEST_CASE("trace feed: a file that is not a trace is Failed, with a reason that names it") {
  const auto text = fresh_file("text.reprise");
  std::ofstream(text) << "there is nothing to see in this file, and it is longer than a preamble";
  for (const std::filesystem::path& path :
       {fresh_file("missing.reprise"), text, test::scratch_folder()}) {
    CAPTURE(path);
    model::TraceFeed feed({.target = path});
    REQUIRE(feed.wait_until_ready(kHangSeconds));
    CHECK(feed.status().state == FeedState::Failed);
    CHECK(feed.status().reason.find(path.string()) != std::string::npos);
    CHECK(feed.document()->graphs.empty());
  }
}

TEST_CASE("trace feed: a feed without memory is Failed, with a reason") {
  const auto path = fresh_file("memory.reprise");
  test::write_trace(path, whole());
  unsigned failed = 0;
  for (std::uint64_t n = 0; n < 400; n += 4) {
    CAPTURE(n);
    std::thread::id feeds{};
    model::TraceFeed feed({.target = path, .on_change = [&] {
                             if (std::exchange(feeds, std::this_thread::get_id()) != feeds)
                               failing.emplace(n, 1);
                           }});
    REQUIRE(feed.wait_until_ready(kHangSeconds));
    if (feed.status().state == FeedState::Ready) continue;
    ++failed;
    CHECK(feed.status().state == FeedState::Failed);
    CHECK(feed.status().reason.find("out of memory") != std::string::npos);
  }
  CHECK(failed > 0);
}

TEST_CASE("trace feed: a file that appears later is read then") {
  const auto path = fresh_file("later.reprise");
  Watched watched(path);
  REQUIRE(watched.wait_for(FeedState::Failed));
  test::write_trace(path, whole());
  REQUIRE(watched.wait_for_samples(8));
  CHECK(watched.feed.wait_until_ready(kHangSeconds));
}

TEST_CASE("trace feed: a file that grows is read further, and its samples are found") {
  const auto path = fresh_file("grows.reprise");
  test::write_trace(
      path, {{ChunkKind::Topology, test::small_topology()}, {ChunkKind::Events, replays(1, 2)}});
  Watched watched(path);
  REQUIRE(watched.wait_for_replays(2));
  const auto before = watched.feed.document();
  test::append_trace(
      path, {{ChunkKind::Events, replays(3, 1)}, {ChunkKind::Samples, test::small_samples()}});
  REQUIRE(watched.wait_for_samples(8));
  CHECK(watched.feed.document()->find(kStep)->replays.size() == 3);
  CHECK(before->find(kStep)->replays.size() == 2);
  CHECK(watched.feed.document()->revision > before->revision);
  // Readers of the old document see the samples as well.
  REQUIRE(before->find_replay(kStep, 1) != nullptr);
  CHECK(before->samples->find(*before->find_replay(kStep, 1)) != nullptr);
}

TEST_CASE("trace feed: an incomplete chunk is read once it is complete") {
  const auto path = fresh_file("half.reprise");
  test::write_trace(path, {{ChunkKind::Topology, test::small_topology()}});
  const std::uintmax_t begin = std::filesystem::file_size(path);
  test::append_trace(path, {{ChunkKind::Events, replays(1, 5)}});
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  const std::string chunk((std::istreambuf_iterator<char>(in)), {});
  std::filesystem::resize_file(path, begin + chunk.size() / 2);
  Watched watched(path);
  REQUIRE(watched.wait_for(FeedState::Ready));
  CHECK_FALSE(watched.feed.status().reason.empty());
  std::ofstream(path, std::ios::binary | std::ios::app)
      .write(chunk.data() + chunk.size() / 2,
             static_cast<std::streamsize>(chunk.size() - chunk.size() / 2));
  REQUIRE(watched.wait_for_replays(5));
  CHECK(watched.wait([](const model::FeedStatus& status, const model::Document&) {
    return status.state == FeedState::Ready && status.reason.empty();
  }));
}

TEST_CASE("trace feed: a file that is replaced or overwritten is reloaded") {
  const auto path = fresh_file("replaced.reprise");
  test::write_trace(path, whole());
  Watched watched(path);
  REQUIRE(watched.wait_for_samples(8));
  const auto other = fresh_file("other.reprise");
  test::write_trace(
      other, {{ChunkKind::Topology, test::small_topology()}, {ChunkKind::Events, replays(1, 7)}});
  std::filesystem::rename(other, path);
  REQUIRE(watched.wait_for_replays(7));
  CHECK(watched.feed.document()->find(kStep)->statistics->samples == 0);
  test::write_trace(
      path, {{ChunkKind::Topology, test::small_topology()}, {ChunkKind::Events, replays(1, 11)}});
  REQUIRE(watched.wait_for_replays(11));
}

TEST_CASE("trace feed: a removed file stays as it was read") {
  const auto path = fresh_file("removed.reprise");
  test::write_trace(path, whole());
  Watched watched(path);
  REQUIRE(watched.wait_for_samples(8));
  std::filesystem::remove(path);
  const auto document = watched.feed.document();
  CHECK(document->samples->find(*document->find_replay(kStep, 2)) != nullptr);
  test::write_trace(
      path, {{ChunkKind::Topology, test::small_topology()}, {ChunkKind::Events, replays(1, 7)}});
  CHECK(watched.wait_for_replays(7));
}

TEST_CASE(
    "trace feed: a live session is shown while it runs, also to late clients, and remains after "
    "its end") {
  const test::RuntimeFolder runtime;
  std::unique_ptr<Watched> early, late;
  {
    trace::TraceWriter writer;
    auto server = std::make_shared<trace::LiveServer>(test::patient("digits"));
    writer.add_sink(server);
    early = std::make_unique<Watched>(server->path());
    CHECK(early->feed.is_live());
    REQUIRE(early->wait_for(FeedState::Live));
    push_all(writer, test::small_topology());
    writer.flush();
    REQUIRE(early->feed.wait_until_ready(kHangSeconds));
    push_all(writer, test::small_events());
    writer.flush();
    REQUIRE(early->wait_for_replays(3));
    late = std::make_unique<Watched>(server->path());
    REQUIRE(late->feed.wait_until_ready(kHangSeconds));
    CHECK(late->feed.document()->find(kStep)->replays.empty());
    push_all(writer, test::small_samples());
    writer.flush();
    REQUIRE(early->wait_for_samples(8));
    REQUIRE(late->wait_for_samples(8));
  }
  for (Watched* watched : {early.get(), late.get()}) {
    REQUIRE(watched->wait_for(FeedState::Ended));
    CHECK_FALSE(watched->feed.status().reason.empty());
    REQUIRE(watched->feed.wait_until_ready(kHangSeconds));
    CHECK(watched->feed.document()->find(kStep)->statistics->samples == 8);
    CHECK(watched->feed.document()->samples->held(kStep, 2) != nullptr);
  }
}

TEST_CASE("trace feed: the recording of a live session has what came before it and after it") {
  const test::RuntimeFolder runtime;
  const auto path = fresh_file("recorded-live.reprise"), later = fresh_file("later.reprise");
  std::unique_ptr<Watched> watched;
  {
    trace::TraceWriter writer;
    auto server = std::make_shared<trace::LiveServer>(test::patient("digits"));
    writer.add_sink(server);
    watched = std::make_unique<Watched>(server->path());
    REQUIRE(watched->wait_for(FeedState::Live));
    push_all(writer, test::small_topology());
    push_all(writer, test::small_events());
    writer.flush();
    REQUIRE(watched->wait_for_replays(3));
    CHECK(watched->feed.status().recording.empty());
    watched->feed.record_to(path);
    CHECK(watched->wait([&](const model::FeedStatus& status, const model::Document&) {
      return status.recording == path.string();
    }));
    CHECK_THROWS_AS(watched->feed.record_to(path), trace::TraceError);  // the file exists
    CHECK_THROWS_AS(watched->feed.record_to(test::scratch_folder() / "no" / "folder.reprise"),
                    trace::TraceError);
    push_all(writer, test::small_samples());
    writer.flush();
    REQUIRE(watched->wait_for_samples(8));
  }
  REQUIRE(watched->wait_for(FeedState::Ended));
  watched->feed.record_to(later);  // everything is still there after the end
  CHECK(watched->feed.status().recording == later.string());
  watched.reset();
  for (const auto& file : {path, later}) {
    CAPTURE(file.string());
    model::TraceFeed feed({.target = file});
    REQUIRE(feed.wait_until_ready(kHangSeconds));
    CHECK(feed.status().reason.empty());
    const model::GraphEntry* const entry = feed.document()->find(kStep);
    REQUIRE(entry != nullptr);
    CHECK(entry->replays.size() == 3);
    CHECK(entry->statistics->samples == 8);
  }
}

TEST_CASE("trace feed: a missing session or a wrong token is Failed, with a reason") {
  const test::RuntimeFolder runtime;
  trace::LiveServerDesc desc = test::patient("digits");
  desc.listen = "127.0.0.1:0";
  desc.token = "secret";
  const trace::LiveServer server(desc);
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  for (const std::string& target : {(runtime.path() / "nobody.sock").string(), address}) {
    CAPTURE(target);
    model::TraceFeed feed({.target = target, .token = "wrong"});
    CHECK(feed.is_live());
    REQUIRE(feed.wait_until_ready(kHangSeconds));
    CHECK(feed.status().state == FeedState::Failed);
    CHECK_FALSE(feed.status().reason.empty());
  }
  Watched right(address, "secret");
  CHECK(right.wait_for(FeedState::Live));
}

TEST_CASE("trace feed: a requested profile reaches the session") {
  const test::RuntimeFolder runtime;
  std::mutex mutex;
  std::vector<trace::LiveRequest> requests;
  trace::LiveServerDesc desc = test::patient("digits");
  desc.remote_profile = trace::LiveProfile::Sampled;
  desc.on_request = [&](const trace::LiveRequest& request) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
  };
  const trace::LiveServer server(std::move(desc));
  Watched watched(server.path());
  watched.feed.request_profile(trace::LiveProfile::Every);
  REQUIRE(watched.wait_for(FeedState::Live));
  CHECK(watched.feed.status().allowed == trace::LiveProfile::Sampled);
  CHECK(watched.feed.status().requested_profile == trace::LiveProfile::Every);
  REQUIRE(test::eventually([&] {
    const std::lock_guard lock(mutex);
    return !requests.empty();
  }));
  CHECK(requests[0].kind == trace::LiveRequest::Kind::SetProfile);
  CHECK(requests[0].profile == trace::LiveProfile::Sampled);
}

TEST_CASE("trace feed: it can be destroyed while it reads, connects or is live") {
  const test::RuntimeFolder runtime;
  const trace::LiveServer server(test::patient("digits"));
  const auto path = fresh_file("gone.reprise");
  test::write_trace(path, whole());
  for (int i = 0; i < 20; ++i) {
    for (const std::string& target :
         {path.string(), server.path().string(), (runtime.path() / "nobody.sock").string()}) {
      const model::TraceFeed feed({.target = target});
      CHECK(feed.document() != nullptr);
      if (i % 2 == 0) std::this_thread::yield();
    }
  }
}

TEST_CASE("trace feed: documents are consistent while the feed runs") {
  const test::RuntimeFolder runtime;
  auto server = std::make_shared<trace::LiveServer>(test::patient("digits"));
  trace::TraceWriter writer({.chunk_bytes = 2'000});
  writer.add_sink(server);
  Watched watched(server->path());
  REQUIRE(watched.wait_for(FeedState::Live));
  push_all(writer, test::small_topology());
  constexpr std::uint64_t kReplays = 3'000;
  std::thread session([&] {
    for (std::uint64_t n = 1; n <= kReplays; ++n) {
      const std::uint64_t replay = n % 7 == 0   ? n - 1
                                   : n % 7 == 6 ? n + 1
                                                : n;  // two in seven arrive late
      push_all(writer, replays(replay, 1));
      trace::SampleBlock block = test::small_samples().sample_blocks[0];
      block.replay = replay;
      REQUIRE(writer.push(std::move(block)));
    }
    writer.flush();
  });
  bool in_order = true, consistent = true;
  std::size_t seen = 0;
  const bool has_all = test::eventually([&] {
    const auto document = watched.feed.document();
    const model::GraphEntry* entry = document->find(kStep);
    if (entry == nullptr) return false;
    std::uint64_t last = 0, in_nodes = 0;
    for (const trace::Replay& replay : entry->replays) {
      in_order = in_order && replay.replay > last &&
                 replay.ended == static_cast<trace::Time>(10'000 * replay.replay) + 7'000;
      last = replay.replay;
    }
    for (const model::NodeStatistics& node : entry->statistics->nodes)
      in_nodes += node.times.count();
    consistent =
        consistent && in_nodes == entry->statistics->samples && entry->replays.size() >= seen;
    seen = entry->replays.size();
    return seen == kReplays;
  });
  session.join();
  CHECK(has_all);
  CHECK(in_order);
  CHECK(consistent);
  CHECK(watched.wait_for_samples(3 * kReplays));
}
