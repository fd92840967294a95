// Rules about pairs of commands: unordered hazards, barriers that order nothing, and early reads of
// transients.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/contains.hpp"
#include "support/random_recording.hpp"
#include "support/reference_order.hpp"
#include "validate/validate.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

constexpr Access R = Access::Read, W = Access::Write, RW = Access::ReadWrite;

DeviceInfo device() {
  DeviceInfo info;
  info.limits = {.max_grid = {1, 1, 1},
                 .max_block = {1, 1, 1},
                 .max_block_threads = 1,
                 .max_parameter_bytes = 1024,
                 .max_pitch = 1024};
  return info;
}

std::vector<Finding> findings_of(const Recording& recording) {
  return validate(recording, device(), Validation::Full);
}

std::vector<std::string_view> ids_of(RecordingBuilder& builder) {
  std::vector<std::string_view> ids;
  for (const Finding& finding : findings_of(*builder.finish())) ids.push_back(finding.message.id);
  return ids;
}

const std::vector<std::string_view> kNoFindings;
const std::vector<std::string_view> kUnordered = {"hazard-unordered"};
const std::vector<std::string_view> kIdle = {"barrier-orders-nothing"};

struct Fixture {
  explicit Fixture(Ordering ordering = Ordering::Explicit)
      : b({.ordering = ordering}), x(b.add_buffer("x", 64)) {}
  void dispatch(Access access, std::uint64_t begin = 0, std::uint64_t end = 64) {
    b.dispatch("k", {RecordingBuilder::range(access, x, begin, end)});
  }
  void barrier(Access before, Access after, std::uint64_t begin = 0, std::uint64_t end = 64) {
    b.barrier({x, begin, end, before, after});
  }
  RecordingBuilder b;
  std::uint32_t x;
};

}  // namespace

TEST_CASE(
    "validate: hazard-unordered names both commands, labels, locations, bytes, the hazard and the "
    "missing barrier") {
  RecordingBuilder b({.ordering = Ordering::Explicit});
  const std::uint32_t x = b.add_buffer("x", 64);
  b.begin_label("forward");
  b.dispatch("saxpy", {b.write(x)});
  b.end_label();
  b.begin_label("backward");
  b.dispatch("reduce", {RecordingBuilder::range(R, x, 16, 48)});
  const auto findings = findings_of(*b.finish());
  REQUIRE(findings.size() == 1);
  const Message& message = findings[0].message;
  CHECK(findings[0].code == ErrorCode::MissingBarrier);
  CHECK(message.id == "hazard-unordered");
  CHECK(message.severity == Severity::Error);
  CHECK(message.command == 1);
  CHECK(message.other_command == 0);
  CHECK(message.label == "backward");
  CHECK(message.text ==
        "command 1, dispatch reduce in \"backward\" (app.cpp:2) reads bytes [16, 48) of buffer "
        "\"x\", which command 0, dispatch saxpy in "
        "\"forward\" (app.cpp:1) writes, and nothing orders these commands (read after write). "
        "Record "
        "between them: "
        "barrier({.buffer = x.subview(16, 32), .before = Access::Write, .after = Access::Read})");
}

TEST_CASE(
    "validate: hazard-unordered for each kind of hazard, and the suggested barrier resolves it") {
  for (const auto& [first, second] : {std::pair{W, R}, std::pair{R, W}, std::pair{W, W}}) {
    Fixture without;
    without.dispatch(first);
    without.dispatch(second);
    const auto findings = findings_of(*without.b.finish());
    REQUIRE(findings.size() == 1);
    CHECK(contains(findings[0].message.text,
                   first == W ? ".before = Access::Write" : ".before = Access::Read"));
    CHECK(contains(findings[0].message.text,
                   second == W ? ".after = Access::Write" : ".after = Access::Read"));
    Fixture with;
    with.dispatch(first);
    with.barrier(first, second);
    with.dispatch(second);
    CHECK(ids_of(with.b) == kNoFindings);
  }
}

TEST_CASE("validate: an edge, a global barrier and a path through other commands order a pair") {
  Fixture edge;
  edge.dispatch(W);
  edge.dispatch(R);
  edge.b.edge(0, 1);
  CHECK(ids_of(edge.b) == kNoFindings);

  Fixture global;
  global.dispatch(W);
  global.b.barrier();
  global.dispatch(R);
  CHECK(ids_of(global.b) == kNoFindings);

  Fixture path;
  path.dispatch(W);
  path.b.host({});
  path.dispatch(R);
  path.b.edge(0, 1);
  path.b.edge(1, 2);
  CHECK(ids_of(path.b) == kNoFindings);

  Fixture backward;
  backward.dispatch(W);
  backward.dispatch(R);
  backward.b.edge(1, 0);
  CHECK(ids_of(backward.b) == kNoFindings);
}

TEST_CASE("validate: a barrier of the wrong kind or range leaves the hazard and orders nothing") {
  Fixture kind;
  kind.dispatch(W);
  kind.barrier(R, W);
  kind.dispatch(R);
  CHECK(ids_of(kind.b) ==
        std::vector<std::string_view>{"barrier-orders-nothing", "hazard-unordered"});

  Fixture range;
  range.dispatch(W, 0, 32);
  range.barrier(W, R, 32, 64);
  range.dispatch(R, 0, 32);
  CHECK(ids_of(range.b) ==
        std::vector<std::string_view>{"barrier-orders-nothing", "hazard-unordered"});
}

TEST_CASE("validate: disjoint and interleaved halves do not conflict") {
  Fixture halves;
  halves.dispatch(W, 0, 32);
  halves.dispatch(W, 32, 64);
  CHECK(ids_of(halves.b) == kNoFindings);

  Fixture strided;
  strided.b.fill(strided.b.rows(W, strided.x, 0, {4, 8, 1}, {8, 0}));
  strided.b.fill(strided.b.rows(W, strided.x, 4, {4, 8, 1}, {8, 0}));
  CHECK(ids_of(strided.b) == kNoFindings);

  Fixture meeting;
  meeting.b.fill(meeting.b.rows(W, meeting.x, 0, {4, 8, 1}, {8, 0}));
  meeting.b.fill(meeting.b.rows(W, meeting.x, 3, {4, 8, 1}, {8, 0}));
  CHECK(ids_of(meeting.b) == kUnordered);
}

TEST_CASE("validate: inferred and linear recordings have no unordered hazards") {
  for (const Ordering ordering : {Ordering::Inferred, Ordering::Linear}) {
    Fixture t(ordering);
    t.dispatch(W);
    t.dispatch(RW);
    t.dispatch(W);
    CHECK(ids_of(t.b) == kNoFindings);
  }
}

TEST_CASE("validate: of hundreds of unordered pairs, 64 are reported and all are counted") {
  Fixture t;
  for (int i = 0; i < 200; ++i) t.dispatch(W);
  const auto findings = findings_of(*t.b.finish());
  REQUIRE(findings.size() == 65);
  CHECK(findings[64].message.id == "findings-left-out");
  CHECK(contains(findings[64].message.text, "hazard-unordered was found 199 times"));
}

TEST_CASE(
    "validate: a random explicit recording has an unordered hazard exactly if two conflicting "
    "commands are unordered") {
  int with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const RecordingPtr recording =
        random_recording({.seed = seed,
                          .commands = 24,
                          .buffers = 12,
                          .max_accesses = 1 + static_cast<std::uint32_t>(seed % 2),
                          .rows_percent = 15,
                          .write_percent = 12,
                          .barrier_percent = static_cast<std::uint32_t>(seed % 3) * 20,
                          .user_edges = static_cast<std::uint32_t>(seed % 5) * 20,
                          .backward_edges = static_cast<std::uint32_t>(seed % 7 == 0),
                          .ordering = Ordering::Explicit});
    Relation order = direct_order(*recording);
    order.close();
    if (order.is_cyclic()) continue;
    bool expected = false;
    for (std::uint32_t a = 0; a < 24; ++a) {
      for (std::uint32_t b = a + 1; b < 24; ++b)
        expected =
            expected || (conflict(*recording, a, b) && !order.before(a, b) && !order.before(b, a));
    }
    bool found = false;
    for (const Finding& finding : findings_of(*recording)) {
      if (finding.message.id != "hazard-unordered") continue;
      found = true;
      const std::uint32_t a = finding.message.other_command.value(),
                          b = finding.message.command.value();
      CHECK(a < b);
      CHECK(conflict(*recording, a, b));
      CHECK_FALSE(order.before(a, b));
      CHECK_FALSE(order.before(b, a));
    }
    CHECK(found == expected);
    ++(expected ? with : without);
  }
  CHECK(with > 10);
  CHECK(without > 10);
}

TEST_CASE("validate: an edge for each reported pair resolves all findings") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Recording recording = *random_recording(
        {.seed = seed, .commands = 14, .buffers = 4, .ordering = Ordering::Explicit});
    const auto unordered = findings_of(recording);
    REQUIRE(unordered.size() > 0);
    REQUIRE(unordered.back().message.id == "hazard-unordered");
    for (const Finding& finding : unordered)
      recording.edges.push_back(
          {finding.message.other_command.value(), finding.message.command.value(), {}});
    CHECK(findings_of(recording).empty());
  }
}

TEST_CASE("validate: barrier-orders-nothing if no earlier or later command accesses its range") {
  Fixture first;
  first.barrier(W, R);
  first.dispatch(R);
  CHECK(ids_of(first.b) == kIdle);

  Fixture last;
  last.dispatch(W);
  last.barrier(W, R);
  last.dispatch(R, 0, 0);
  const auto findings = findings_of(*last.b.finish());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.severity == Severity::Warning);
  CHECK(contains(findings[0].message.text,
                 "no command after it reads bytes [0, 64) of buffer \"x\""));

  Fixture used;
  used.dispatch(W);
  used.barrier(W, R);
  used.dispatch(R);
  CHECK(ids_of(used.b) == kNoFindings);
}

TEST_CASE(
    "validate: barrier-orders-nothing if other barriers or accesses already establish the order") {
  Fixture twice;
  twice.dispatch(W);
  twice.barrier(W, R);
  twice.barrier(W, R);
  twice.dispatch(R);
  const auto findings = findings_of(*twice.b.finish());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.id == "barrier-orders-nothing");
  CHECK(findings[0].message.command == 2);

  Fixture inferred(Ordering::Inferred);
  inferred.dispatch(W);
  inferred.barrier(W, R);
  inferred.dispatch(R);
  CHECK(ids_of(inferred.b) == kIdle);

  Fixture adds(Ordering::Inferred);
  adds.dispatch(R);
  adds.barrier(R, R);
  adds.dispatch(R);
  CHECK(ids_of(adds.b) == kNoFindings);
}

TEST_CASE("validate: a barrier that remains as a join orders commands") {
  Fixture t;
  for (int i = 0; i < 20; ++i) t.dispatch(R);
  t.barrier(R, R);
  for (int i = 0; i < 20; ++i) t.dispatch(R);
  CHECK(ids_of(t.b) == kNoFindings);
}

TEST_CASE("validate: removing the reported barriers of a random recording preserves its order") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const RecordingPtr recording =
        random_recording({.seed = seed,
                          .commands = 40,
                          .buffers = 3,
                          .barrier_percent = 30,
                          .user_edges = 3,
                          .ordering = seed % 2 == 0 ? Ordering::Explicit : Ordering::Inferred});
    Relation before = direct_order(*recording);
    before.close();
    Recording without = *recording;
    const BarrierPayload nothing{0, 0, 0, R, R};
    int idle = 0;
    for (const Finding& finding : findings_of(*recording)) {
      if (finding.message.id != "barrier-orders-nothing") continue;
      without.commands[finding.message.command.value()].payload = &nothing;
      ++idle;
    }
    Relation after = direct_order(without);
    after.close();
    CHECK(before == after);
    CHECK(idle > 0);
  }
}

TEST_CASE(
    "validate: a programmatic barrier orders kernels with programmatic start and is reported for "
    "others") {
  const auto with = [](const DispatchPayload& later) {
    Fixture f;
    f.dispatch(W);
    f.b.barrier({.buffer = f.x,
                 .begin = 0,
                 .end = 64,
                 .before = W,
                 .after = R,
                 .dependency = Dependency::Programmatic});
    const BufferAccess access = f.b.read(f.x);
    f.b.dispatch("later", later, {&access, 1});
    return findings_of(*f.b.finish());
  };
  CHECK(with({.start = DispatchDesc::Start::Programmatic}).empty());
  for (const DispatchPayload& later :
       {DispatchPayload{}, DispatchPayload{.launch = DispatchDesc::Launch::Cooperative,
                           .start = DispatchDesc::Start::Programmatic}}) {
    std::vector<Finding> findings = with(later);
    std::erase_if(findings, [](const Finding& finding) {
      return finding.message.id == "dispatch-cooperative-unsupported";
    });
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].message.id == "barrier-orders-nothing");
    CHECK(contains(
        findings[0].message.text,
        "orders nothing: it is programmatic, and no later command that reads bytes [0, 64) "
        "of buffer \"x\" is dispatched with "
        "Start::Programmatic"));
    CHECK(findings[1].message.id == "hazard-unordered");
    CHECK(contains(
        findings[1].message.text,
        "; a programmatic barrier orders only kernels dispatched with Start::Programmatic"));
  }
}

TEST_CASE(
    "validate: edge-orders-nothing names the edge and the command without programmatic start") {
  for (const Ordering ordering : {Ordering::Explicit, Ordering::Inferred, Ordering::Linear}) {
    Fixture f(ordering);
    const BufferAccess access = f.b.read(f.x);
    f.dispatch(R);
    f.b.dispatch("later", {&access, 1});
    f.b.dispatch("early", {.start = DispatchDesc::Start::Programmatic}, {&access, 1});
    f.b.edge(0, 1, Dependency::Programmatic);
    f.b.edge(0, 2, Dependency::Programmatic);
    const std::vector<Finding> findings = findings_of(*f.b.finish());
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].message.id == "edge-orders-nothing");
    CHECK(findings[0].message.severity == Severity::Warning);
    CHECK(findings[0].message.command == 1);
    CHECK(findings[0].message.other_command == 0);
    CHECK(contains(findings[0].message.text, "app.cpp:1000000"));
    CHECK(contains(findings[0].message.text, "dispatch later"));
  }
}

TEST_CASE("validate: transient-read-before-write names the unwritten bytes") {
  RecordingBuilder b;
  const std::uint32_t t = b.add_buffer("t", 64, BufferKind::Transient);
  b.dispatch("a", {RecordingBuilder::range(W, t, 0, 16)});
  b.dispatch("b", {b.read(t)});
  const auto findings = findings_of(*b.finish());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.id == "transient-read-before-write");
  CHECK(findings[0].message.severity == Severity::Warning);
  CHECK(findings[0].message.command == 1);
  CHECK(contains(findings[0].message.text, "bytes [16, 64) of buffer \"t\""));
}

TEST_CASE(
    "validate: transient-read-before-write for a first read-write, not for device buffers or "
    "written ones") {
  RecordingBuilder first;
  const std::uint32_t t = first.add_buffer("t", 64, BufferKind::Transient);
  first.dispatch("a", {first.read_write(t)});
  CHECK(ids_of(first) == std::vector<std::string_view>{"transient-read-before-write"});

  RecordingBuilder fine;
  const std::uint32_t d = fine.add_buffer("d", 64),
                      u = fine.add_buffer("u", 64, BufferKind::Transient);
  fine.dispatch("a", {fine.read(d)});
  fine.dispatch("b", {RecordingBuilder::range(W, u, 0, 32)});
  fine.fill(RecordingBuilder::range(W, u, 32, 64));
  fine.dispatch("c", {fine.read(u)});
  CHECK(ids_of(fine) == kNoFindings);

  RecordingBuilder rows;
  const std::uint32_t v = rows.add_buffer("v", 64, BufferKind::Transient);
  rows.fill(rows.rows(W, v, 0, {4, 8, 1}, {8, 0}));
  rows.fill(rows.rows(W, v, 4, {4, 8, 1}, {8, 0}));
  rows.dispatch("c", {rows.read(v)});
  CHECK(ids_of(rows) == kNoFindings);
}

TEST_CASE("validate: a cycle is reported by build_dependencies, not by validate") {
  Fixture t;
  t.dispatch(W);
  t.dispatch(W);
  t.b.edge(0, 1);
  t.b.edge(1, 0);
  CHECK(ids_of(t.b) == kNoFindings);
}
