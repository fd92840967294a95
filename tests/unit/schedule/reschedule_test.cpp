// A schedule made from another is the one that would be made anew, whatever was edited.
#include "schedule/reschedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "schedule/matched_commands.hpp"
#include "support/edited_recording.hpp"
#include "support/random_recording.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

bool same(const std::vector<Edge>& a, const std::vector<Edge>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Edge& x, const Edge& y) {
    return x.from == y.from && x.to == y.to && x.cause.kind == y.cause.kind && x.cause.hazard == y.cause.hazard && x.cause.buffer == y.cause.buffer &&
           x.cause.barrier == y.cause.barrier && x.cause.begin == y.cause.begin && x.cause.end == y.cause.end;
  });
}

bool same(const Schedule& a, const Schedule& b) {
  return a.node_command == b.node_command && a.is_join == b.is_join && a.first_edge == b.first_edge && same(a.edges, b.edges) &&
         same(a.implied, b.implied) && a.implied_edges_left == b.implied_edges_left;
}

// Random edits of random recordings, one after the other, each from the schedule before. How many were not made anew.
std::uint32_t check_edits(const RandomDesc& base, const EditDesc& edit) {
  std::uint32_t rescheduled = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    RandomDesc desc = base;
    desc.seed = seed;
    RecordingPtr before = random_recording(desc);
    Schedule schedule = build_schedule(*before);
    for (std::uint32_t step = 0; step < 4; ++step) {
      CAPTURE(step);
      EditDesc next = edit;
      next.seed = 100 * seed + step;
      const RecordingPtr now = edited(before, next);
      const Schedule expected = build_schedule(*now);
      if (std::optional<Schedule> found = reschedule(*now, *before, schedule)) {
        ++rescheduled;
        CHECK(same(*found, expected));
        schedule = std::move(*found);  // what follows is made from what was made
      } else {
        schedule = expected;
      }
      before = now;
    }
  }
  return rescheduled;
}

constexpr RandomDesc kMany{.commands = 300, .buffers = 120};

}  // namespace

TEST_CASE("reschedule: commands of other sizes") { CHECK(check_edits(kMany, {.changed = 3}) > 100); }

TEST_CASE("reschedule: commands of other buffers") { CHECK(check_edits(kMany, {.moved = 2}) > 100); }

TEST_CASE("reschedule: a command more, or less") {
  CHECK(check_edits(kMany, {.added = 1}) > 100);
  CHECK(check_edits(kMany, {.removed = 1}) > 100);
  CHECK(check_edits(kMany, {.changed = 1, .moved = 1, .added = 2, .removed = 2}) > 80);
}

TEST_CASE("reschedule: many ranges of few buffers, where histories are cut") {
  CHECK(check_edits({.commands = 200, .buffers = 4, .bytes = 4096, .whole_percent = 0, .write_percent = 90}, {.changed = 1, .added = 1}) > 0);
  CHECK(check_edits({.commands = 120, .buffers = 60, .max_accesses = 4, .bytes = 8, .whole_percent = 10}, {.changed = 2, .removed = 1}) > 40);
}

TEST_CASE("reschedule: what edges implied comes back where the way round is gone") {
  RecordingBuilder build;
  const std::uint32_t x = build.add_buffer("x", 64), y = build.add_buffer("y", 64), z = build.add_buffer("z", 64);
  const auto record = [&](bool with_middle) {
    build.dispatch("first", {build.write(x), build.write(y)});
    if (with_middle) build.dispatch("middle", {build.read(x), build.write(z)});
    build.dispatch("last", {build.read(y), build.read_write(z)});
  };
  record(true);
  const RecordingPtr before = build.finish();
  const Schedule schedule = build_schedule(*before);
  REQUIRE(schedule.edges.size() == 2);
  REQUIRE(schedule.implied.size() == 1);
  const RecordingPtr now = [&] {
    auto shorter = std::make_shared<Recording>(*before);
    shorter->commands.erase(shorter->commands.begin() + 1);
    return shorter;
  }();
  const std::optional<Schedule> found = reschedule(*now, *before, schedule);
  if (found) CHECK(same(*found, build_schedule(*now)));
  CHECK(build_schedule(*now).edges.size() == 1);
}

TEST_CASE("reschedule: nothing where other things than accesses order, or too much is different") {
  const RecordingPtr base = random_recording(kMany);
  const Schedule schedule = build_schedule(*base);
  CHECK(reschedule(*base, *base, schedule).has_value());
  CHECK_FALSE(reschedule(*random_recording({.seed = 77, .commands = 300, .buffers = 120}), *base, schedule).has_value());
  for (const RecordingPtr& other : {random_recording({.commands = 300, .buffers = 120, .barrier_percent = 5}),
                                    random_recording({.commands = 300, .buffers = 120, .user_edges = 1}),
                                    random_recording({.commands = 300, .buffers = 120, .rows_percent = 5}),
                                    random_recording({.commands = 300, .buffers = 120, .ordering = Ordering::Linear})}) {
    CHECK_FALSE(reschedule(*other, *base, schedule).has_value());
    CHECK_FALSE(reschedule(*base, *other, build_schedule(*other)).has_value());
  }
}

TEST_CASE("matched commands: buffers are followed to their new numbers") {
  const RecordingPtr before = wide(100);
  auto now = std::make_shared<Recording>(*before);
  now->buffers.insert(now->buffers.begin(), std::make_shared<BufferCore>());  // of a command that was put in front
  for (BufferAccess& access : now->accesses) ++access.buffer;
  now->commands.erase(now->commands.begin() + 40);
  const std::optional<MatchedCommands> matched = match_commands(*now, *before);
  REQUIRE(matched);
  CHECK(matched->buffer_now[0] == 1);
  CHECK(matched->buffer_now[99] == 100);
  CHECK(matched->before_of[39] == 39);
  CHECK(matched->now_of[40] == kNone);
  CHECK(matched->before_of[40] == 41);
}
