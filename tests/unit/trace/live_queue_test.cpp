#include <doctest/doctest.h>

#include "trace/live/viewer_queue.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

std::vector<Loss> losses_of(const std::shared_ptr<const Chunk>& chunk) {
  REQUIRE(chunk);
  return read_chunk(chunk->header, chunk->payload).losses;
}

}  // namespace

TEST_CASE(
    "viewer queue: a chunk that does not fit is dropped, and the loss is reported at its "
    "position") {
  const auto a = test::sample_chunk(500, 0), b = test::sample_chunk(400, 1),
             c = test::sample_chunk(300, 2);
  ViewerQueue queue(a->size() + 200);
  CHECK(queue.push(a));
  CHECK_FALSE(queue.push(b));
  CHECK_FALSE(queue.push(c));
  CHECK(queue.pop() == a);
  CHECK(queue.push(b));
  const auto loss = queue.pop();
  REQUIRE(losses_of(loss).size() == 1);
  CHECK(losses_of(loss)[0].kind == LossKind::Samples);
  CHECK(losses_of(loss)[0].count == 700);
  CHECK(loss->header.sequence == 1);
  CHECK(queue.pop() == b);
  CHECK(queue.pop() == nullptr);
  CHECK(queue.empty());
}

TEST_CASE("viewer queue: a loss at the end is reported, with one record per kind") {
  Records events;
  events.replays.resize(7);
  const auto event = std::make_shared<const Chunk>(make_chunk(ChunkKind::Events, events, 2));
  ViewerQueue queue(1);
  CHECK(queue.push(test::sample_chunk(10, 0)));  // one chunk always fits
  CHECK_FALSE(queue.push(test::sample_chunk(20, 1)));
  CHECK_FALSE(queue.push(event));
  CHECK(queue.pop()->header.sequence == 0);
  CHECK_FALSE(queue.empty());
  const std::vector<Loss> losses = losses_of(queue.pop());
  REQUIRE(losses.size() == 2);
  CHECK(losses[0].count == 20);
  CHECK(losses[1].kind == LossKind::Events);
  CHECK(losses[1].count == 7);
  CHECK(queue.empty());
}

TEST_CASE("viewer queue: topology is never dropped and does not count against the limit") {
  ViewerQueue queue(1);
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(queue.push(test::topology_chunk(i, i)));
  CHECK(queue.push(test::sample_chunk(10, 20)));
  CHECK_FALSE(queue.push(test::sample_chunk(10, 21)));
  CHECK(queue.push(test::topology_chunk(9, 22)));
  for (std::uint64_t i = 0; i < 21; ++i) CHECK(queue.pop()->header.sequence == i);
  CHECK(losses_of(queue.pop()).size() == 1);
  CHECK(queue.pop()->header.sequence == 22);
}
