// Errors for user edges that form a cycle.
#include <doctest/doctest.h>

#include <string>

#include <reprise/error.hpp>

#include "dependencies/dependency_graph.hpp"
#include "support/contains.hpp"
#include "support/recording_builder.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct Caught {
  ErrorDetails details;
  std::string text;
};

Caught error_of(RecordingBuilder& builder) {
  try {
    (void)build_dependencies(*builder.finish());
  } catch (const Error& error) {
    return {error.details(), error.what()};
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE(
    "dependencies: edges that close a cycle are an error naming its commands, labels and "
    "locations") {
  RecordingBuilder b({.label = "step"});
  b.dispatch("outside", {});
  b.begin_label("forward");
  b.dispatch("first", {});
  b.begin_label("layer 1");
  b.dispatch("second", {});
  b.end_label();
  b.end_label();
  b.dispatch("third", {});
  b.edge(1, 2);
  b.edge(2, 3);
  b.edge(3, 1);
  b.edge(0, 1);
  const Caught caught = error_of(b);
  CHECK(caught.details.code == ErrorCode::CyclicDependency);
  CHECK(caught.details.stage == Stage::Dependencies);
  CHECK(caught.details.command == 1);
  CHECK(caught.details.label == "forward");
  CHECK(contains(caught.text, "\"step\""));
  CHECK(contains(caught.text, "command 1, dispatch first in \"forward\" (app.cpp:2)"));
  CHECK(contains(caught.text, "command 2, dispatch second in \"forward/layer 1\" (app.cpp:3)"));
  CHECK(contains(caught.text, "command 3, dispatch third (app.cpp:4)"));
  CHECK_FALSE(contains(caught.text, "outside"));
}

TEST_CASE("dependencies: a user edge against a hazard is a cycle") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 8);
  b.dispatch("a", {b.write(x)});
  b.dispatch("b", {b.read(x)});
  b.edge(1, 0);
  CHECK(error_of(b).details.code == ErrorCode::CyclicDependency);
}

TEST_CASE(
    "dependencies: a user edge against a barrier is a cycle that names the barrier if it is a "
    "join") {
  RecordingBuilder b({.ordering = Ordering::Explicit});
  const std::uint32_t x = b.add_buffer("x", 8);
  for (int i = 0; i < 20; ++i) b.dispatch("before", {b.write(x)});
  b.barrier({x, 0, 8, Access::Write, Access::Read});
  for (int i = 0; i < 20; ++i) b.dispatch("after", {b.read(x)});
  b.edge(30, 5);
  const Caught caught = error_of(b);
  CHECK(caught.details.code == ErrorCode::CyclicDependency);
  CHECK(contains(caught.text, "command 5, dispatch before"));
  CHECK(contains(caught.text, "command 20, barrier x"));
  CHECK(contains(caught.text, "command 30, dispatch after"));
}

TEST_CASE("dependencies: an edge from a command to itself is a cycle of one") {
  RecordingBuilder b;
  b.dispatch("a", {});
  b.edge(0, 0);
  CHECK(error_of(b).details.code == ErrorCode::CyclicDependency);
}

TEST_CASE(
    "dependencies: an edge against linear order is a cycle, and a long cycle is truncated in the "
    "text") {
  RecordingBuilder b({.ordering = Ordering::Linear});
  for (int i = 0; i < 100; ++i) b.dispatch("a", {});
  b.edge(99, 0);
  const Caught caught = error_of(b);
  CHECK(caught.details.code == ErrorCode::CyclicDependency);
  CHECK(contains(caught.text, "84 more commands"));
}

TEST_CASE("dependencies: an edge that names a barrier or no command is refused") {
  RecordingBuilder barrier;
  barrier.dispatch("a", {});
  barrier.barrier();
  barrier.edge(0, 1);
  CHECK(error_of(barrier).details.code == ErrorCode::InvalidArgument);
  RecordingBuilder beyond;
  beyond.dispatch("a", {});
  beyond.edge(0, 7);
  CHECK(error_of(beyond).details.code == ErrorCode::InvalidArgument);
}
