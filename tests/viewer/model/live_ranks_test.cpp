// The live sessions of the ranks of one job as one document.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "unit/trace/live_support.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/model/watched_feed.hpp"

using namespace reprise;
using model::FeedState;

namespace {

// A live session of one rank of a job, without replays: a viewer may connect at any time.
struct LiveRank {
  explicit LiveRank(const test::HandMadeJob& job, std::uint32_t rank) {
    trace::LiveServerDesc desc = test::patient("job");
    desc.rank = rank;
    desc.job = job.topology(rank).sessions.front().job;
    server = std::make_shared<trace::LiveServer>(std::move(desc));
    writer.add_sink(server);
    test::push_all(writer, job.topology(rank));
    writer.flush();
  }
  void replay(const trace::Records& events) {
    test::push_all(writer, events);
    writer.flush();
  }
  trace::TraceWriter writer;
  std::shared_ptr<trace::LiveServer> server;
};

}  // namespace

TEST_CASE("live ranks: the sessions of a job are one document, and ranks come and go") {
  const test::RuntimeFolder runtime;
  const test::HandMadeJob job({.ranks = 3, .ranks_per_host = 2});
  const auto has = [](std::size_t ranks) {
    return [ranks](const model::FeedStatus&, const model::Document& document) {
      return document.sessions->size() == ranks && document.graphs.size() == ranks;
    };
  };
  auto first = std::make_unique<LiveRank>(job, 1);
  first->replay(job.events(1));  // missed: no viewer is connected
  test::Watched watched(first->server->path());
  REQUIRE(watched.wait(has(1)));
  auto second = std::make_unique<LiveRank>(job, 0);
  auto third = std::make_unique<LiveRank>(job, 2);
  const auto other = std::make_shared<trace::LiveServer>(test::patient("job"));  // of no job
  REQUIRE(watched.wait(has(3)));
  const auto recorded = test::fresh_file("recorded-ranks.reprise");
  watched.feed.record_to(recorded);

  first->replay(job.events(1));
  second->replay(job.events(0));
  third->replay(job.events(2));
  const auto has_replays = [](const model::FeedStatus&, const model::Document& document) {
    return std::all_of(document.graphs.begin(), document.graphs.end(), [](const auto& graph) {
      return graph.second.replays.size() == 40 && graph.second.statistics->samples != 0;
    });
  };
  REQUIRE(watched.wait(has_replays));
  const auto check = [&](const model::Document& document) {
    for (const auto& [key, entry] : document.graphs) {
      const std::uint32_t rank = document.sessions->at(document.session_of(key)).rank;
      CAPTURE(rank);
      // Host 0 shows the true time. Exchanges tell the other clock within their delay.
      const trace::Time allowed = rank == 2 ? 150'000 : 0;
      const trace::Records events = job.events(rank);
      for (std::size_t i = 0; i < events.replays.size(); ++i) {
        const trace::Time launched = job.true_time(rank, events.replays[i].launched);
        CHECK(std::abs(entry.replays[i].launched - launched) <= allowed + 1);
      }
    }
  };
  check(*watched.feed.document());
  CHECK(other->stats().welcomed == 0);

  third.reset();
  CHECK(watched.wait([](const model::FeedStatus& status, const model::Document&) {
    return status.state == FeedState::Live && status.reason == "2 of 3 ranks are connected";
  }));
  first.reset();
  second.reset();
  CHECK(watched.wait_for(FeedState::Ended));
  model::TraceFeed file({.target = recorded});
  REQUIRE(file.wait_until_ready(test::kHangSeconds));
  CHECK(file.document()->sessions->size() == 3);
  check(*file.document());
}
