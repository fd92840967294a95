#include "record/recording.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::detail;

namespace {

std::set<std::uint64_t> bytes_of(const Recording& r, const BufferAccess& access) {
  std::set<std::uint64_t> bytes;
  if (access.shape == 0) {
    for (std::uint64_t b = access.begin; b < access.end; ++b) bytes.insert(b);
    return bytes;
  }
  const AccessShape& s = r.shapes[access.shape - 1];
  for (std::uint64_t z = 0; z < s.extent.depth; ++z)
    for (std::uint64_t y = 0; y < s.extent.height; ++y)
      for (std::uint64_t x = 0; x < s.extent.width; ++x)
        bytes.insert(access.begin + z * s.pitch.slice + y * s.pitch.row + x);
  return bytes;
}

}  // namespace

TEST_CASE("recording: every kind of command has a name that contains its buffers and kernels") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  const auto unnamed = f.buffer<int>(4, "");
  std::vector<int> values(4);
  CommandBuffer cmd = f.recording();
  cmd.dispatch(f.kernel("saxpy", ""), {});
  cmd.copy(x, unnamed);
  cmd.copy(snapshot(values), x);
  cmd.copy(x, borrowed(values));
  cmd.fill(x, 1);
  cmd.update(x, std::as_bytes(std::span(values)));
  cmd.host([] {});
  cmd.barrier({.buffer = x});
  cmd.barrier();
  const auto r = frozen(cmd);
  const char* const expected[] = {"dispatch saxpy",
                                  "copy x -> buffer #1",
                                  "copy host memory -> x",
                                  "copy x -> host memory",
                                  "fill x",
                                  "update x",
                                  "host callback",
                                  "barrier x",
                                  "barrier"};
  for (std::uint32_t i = 0; i < std::size(expected); ++i) CHECK(r->command_name(i) == expected[i]);
}

TEST_CASE("command: every kind has a name") {
  CHECK(to_string(CommandKind::Dispatch) == "dispatch");
  CHECK(to_string(CommandKind::Copy) == "copy");
  CHECK(to_string(CommandKind::Fill) == "fill");
  CHECK(to_string(CommandKind::Update) == "update");
  CHECK(to_string(CommandKind::Host) == "host");
  CHECK(to_string(CommandKind::Barrier) == "barrier");
}

TEST_CASE("overlaps: only ranges of one buffer that share a byte overlap") {
  const Recording r;
  const BufferAccess a{0, Access::Read, 0, 10, 20};
  CHECK(overlaps(r, a, {0, Access::Write, 0, 19, 30}));
  CHECK(overlaps(r, a, {0, Access::Write, 0, 0, 11}));
  CHECK(overlaps(r, a, {0, Access::Write, 0, 12, 13}));
  CHECK_FALSE(overlaps(r, a, {0, Access::Write, 0, 20, 30}));
  CHECK_FALSE(overlaps(r, a, {0, Access::Write, 0, 0, 10}));
  CHECK_FALSE(overlaps(r, a, {1, Access::Write, 0, 10, 20}));
  CHECK_FALSE(overlaps(r, a, {0, Access::Write, 0, 15, 15}));
}

TEST_CASE(
    "overlaps: random shapes agree with byte sets: exact for equal pitches, conservative "
    "otherwise") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  Recording r;
  const auto make = [&](std::uint64_t row) {
    BufferAccess access{0, Access::Write, 0, below(80), 0};
    Extent extent{1 + below(6), 1 + below(4), 1 + below(3)};
    Pitch pitch{row, row * 5};
    if (normalise(extent, pitch) != PitchFault::None) return access;
    access.end = access.begin + *span_bytes(extent, pitch);
    if (!is_dense(extent, pitch)) {
      r.shapes.push_back({extent, pitch});
      access.shape = static_cast<std::uint32_t>(r.shapes.size());
    }
    return access;
  };
  int exact = 0, shared = 0;
  for (int iteration = 0; iteration < 3000; ++iteration) {
    r.shapes.clear();
    const std::uint64_t row = 6 + below(6);
    const BufferAccess a = make(row);
    const BufferAccess b = make(iteration % 3 == 0 ? 6 + below(6) : row);
    bool expected = false;
    const std::set<std::uint64_t> bytes = bytes_of(r, a);
    for (const std::uint64_t byte : bytes_of(r, b)) expected = expected || bytes.count(byte) != 0;
    const bool found = overlaps(r, a, b);
    REQUIRE(found == overlaps(r, b, a));
    const bool must_be_exact =
        a.shape == 0 || b.shape == 0 ||
        equal_pitches({a.begin, r.shapes[a.shape - 1].extent, r.shapes[a.shape - 1].pitch},
                      {b.begin, r.shapes[b.shape - 1].extent, r.shapes[b.shape - 1].pitch});
    if (must_be_exact) {
      ++exact;
      REQUIRE(found == expected);
    } else if (expected) {
      REQUIRE(found);
    }
    shared += expected ? 1 : 0;
  }
  CHECK(exact > 1000);
  CHECK(shared > 300);
}
