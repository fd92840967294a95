#include <doctest/doctest.h>

#include <array>
#include <random>
#include <set>

#include "base/handle_access.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::BufferAccess;
using detail::CopyPayload;
using detail::kNone;

TEST_CASE("copy: a copy between buffers reads one range and writes the other") {
  RecordFixture f;
  const auto x = f.buffer<float>(100, "x");
  const auto y = f.buffer<float>(100, "y");
  CommandBuffer cmd = f.recording();
  const std::uint32_t line = __LINE__ + 1;
  cmd.copy(x.slice(10, 20), y.slice(30, 20));
  const auto r = frozen(cmd);
  CHECK(r->commands[0].where.line == line);
  const auto& p = r->payload<CopyPayload>(0);
  CHECK(r->buffers[p.source.buffer] == detail::core_of(x));
  CHECK(p.source.offset == 40);
  CHECK(p.destination.offset == 120);
  CHECK(p.extent.width == 80);
  CHECK(p.extent.height == 1);
  CHECK(p.source_pitch.row == 80);
  REQUIRE(r->commands[0].access_count == 2);
  CHECK(r->accesses[0].access == Access::Read);
  CHECK(r->accesses[1].access == Access::Write);
  CHECK(r->accesses[1].begin == 120);
  CHECK(r->accesses[1].end == 200);
  CHECK(r->shapes.empty());
}

TEST_CASE("copy: a snapshot's bytes are copied during recording") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  CommandBuffer cmd = f.recording();
  {
    std::vector<int> values{1, 2, 3, 4};
    cmd.copy(snapshot(values), x);
    values.assign(4, 0);
  }
  const auto r = frozen(cmd);
  const auto& p = r->payload<CopyPayload>(0);
  CHECK(p.source.buffer == kNone);
  CHECK(p.source.lifetime == HostBytes::Lifetime::Snapshot);
  const std::array<int, 4> expected{1, 2, 3, 4};
  CHECK(std::memcmp(p.source.host, expected.data(), 16) == 0);
  CHECK(r->commands[0].access_count == 1);
}

TEST_CASE("copy: borrowed memory is recorded by address and as a buffer, in both directions") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  std::vector<int> values(4);
  CommandBuffer cmd = f.recording();
  cmd.copy(borrowed(values), x);
  cmd.copy(x, borrowed(values));
  const auto r = frozen(cmd);
  CHECK(r->payload<CopyPayload>(0).source.host == values.data());
  CHECK(r->payload<CopyPayload>(1).destination.host == values.data());
  REQUIRE(r->buffers.size() == 2);
  const std::uint32_t memory = r->buffers[0]->kind == BufferKind::BorrowedHost ? 0 : 1;
  CHECK(r->buffers[memory]->bytes == 16);
  CHECK(display_name(*r->buffers[memory]) == "borrowed host memory");
  REQUIRE(r->accesses.size() == 4);
  for (const BufferAccess& access : r->accesses) {
    const bool is_first = &access < &r->accesses[2];
    CHECK(access.access == ((access.buffer == memory) == is_first ? Access::Read : Access::Write));
    CHECK(access.end == 16);
  }
  CHECK(r->places.empty());
}

TEST_CASE("copy: unequal sizes are OutOfRange, with both names and sizes") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  const auto y = f.buffer<int>(8, "y");
  std::vector<int> values(3);
  CommandBuffer cmd = f.recording();
  check_refused(
      cmd, ErrorCode::OutOfRange,
      {"copy at ", "copy_verb_test.cpp:", "source x has 16 bytes", "destination y 32", "subview"},
      [&] { cmd.copy(x, y); });
  check_refused(cmd, ErrorCode::OutOfRange, {"snapshot has 12 bytes", "x 16"},
                [&] { cmd.copy(snapshot(values), x); });
  check_refused(cmd, ErrorCode::OutOfRange, {"x has 16 bytes", "borrowed host memory 12"},
                [&] { cmd.copy(x, borrowed(values)); });
}

TEST_CASE("copy: empty extents and null host addresses are InvalidArgument") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::InvalidArgument, {"is empty"},
                [&] { cmd.copy(x.slice(0, 0), x.slice(2, 0)); });
  check_refused(cmd, ErrorCode::InvalidArgument, {"0 rows"}, [&] {
    cmd.copy(x, x, {.extent = {4, 0, 1}, .source = {}, .destination = {}});
  });
  const HostBytes null_bytes{HostBytes::Lifetime::Borrowed, nullptr, 16, true};
  check_refused(cmd, ErrorCode::InvalidArgument, {"destination is host memory at a null address"},
                [&] { cmd.copy(x, null_bytes); });
}

TEST_CASE("copy: a snapshot or constant memory is not a valid destination") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  std::vector<int> values(4);
  const std::vector<int>& constant = values;
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::InvalidArgument, {"destination is a snapshot", "borrowed(bytes)"},
                [&] { cmd.copy(x, snapshot(values)); });
  check_refused(cmd, ErrorCode::InvalidArgument, {"borrowed constant memory"},
                [&] { cmd.copy(x, borrowed(constant)); });
}

TEST_CASE("copy: empty, foreign and stale views are refused") {
  RecordFixture f, other;
  other.status = RecordFixture::make_status("cuda:0");
  const auto x = f.buffer<int>(4, "x");
  const auto z = other.buffer<int>(4, "z");
  const auto s = f.buffer<int>(4, "s");
  detail::core_of(s)->cleared = true;
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::NotInitialized, {"source is an empty buffer"},
                [&] { cmd.copy(BufferView(), x); });
  check_refused(cmd, ErrorCode::NotInitialized, {"destination is an empty buffer"},
                [&] { cmd.copy(x, BufferView()); });
  check_refused(cmd, ErrorCode::WrongDevice, {"source z", "cuda:0", "host"},
                [&] { cmd.copy(z, x); });
  check_refused(cmd, ErrorCode::StaleHandle, {"destination s is stale", "cleared"},
                [&] { cmd.copy(x, s); });
}

TEST_CASE("copy: overlapping ranges of one buffer are refused, adjacent ones are not") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(100, "x");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::Overlap, {"[0, 50)", "[49, 99)", "of x", "another buffer"},
                [&] { cmd.copy(x.slice(0, 50), x.slice(49, 50)); });
  check_refused(cmd, ErrorCode::Overlap, {"[10, 20)"},
                [&] { cmd.copy(x.slice(10, 10), x.slice(10, 10)); });
  cmd.copy(x.slice(0, 50), x.slice(50, 50));
  CHECK(cmd.command_count() == 1);
}

TEST_CASE("copy: a pitched copy keeps its rows, and its accesses have the row shape") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(1000, "x");
  const auto y = f.buffer<std::uint8_t>(1000, "y");
  CommandBuffer cmd = f.recording();
  cmd.copy(x.subview(5, 500), y, {.extent = {10, 4, 2}, .source = {32, 160}, .destination = {}});
  const auto r = frozen(cmd);
  const auto& p = r->payload<CopyPayload>(0);
  CHECK(p.extent.height == 4);
  CHECK(p.source_pitch.slice == 160);
  CHECK(p.destination_pitch.row == 10);
  CHECK(p.destination_pitch.slice == 40);
  CHECK(r->accesses[0].begin == 5);
  CHECK(r->accesses[0].end == 5 + 160 + 3 * 32 + 10);
  REQUIRE(r->accesses[0].shape == 1);
  CHECK(r->shapes[0].pitch.row == 32);
  CHECK(r->accesses[1].shape == 0);
  CHECK(r->accesses[1].end == 80);
}

TEST_CASE("copy: rows without gaps on both sides become one flat copy") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(1000, "x");
  const auto y = f.buffer<std::uint8_t>(1000, "y");
  CommandBuffer cmd = f.recording();
  cmd.copy(x, y, {.extent = {10, 4, 2}, .source = {10, 40}, .destination = {}});
  const auto r = frozen(cmd);
  CHECK(r->payload<CopyPayload>(0).extent.width == 80);
  CHECK(r->payload<CopyPayload>(0).extent.height == 1);
}

TEST_CASE("copy: a pitched snapshot copies the bytes that its rows span") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(8, "x");
  std::vector<std::uint8_t> values(14);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  CommandBuffer cmd = f.recording();
  cmd.copy(snapshot(values), x, {.extent = {4, 2, 1}, .source = {10, 0}, .destination = {}});
  values.assign(14, 99);
  const auto r = frozen(cmd);
  const auto* bytes = static_cast<const std::uint8_t*>(r->payload<CopyPayload>(0).source.host);
  CHECK(bytes[0] == 0);
  CHECK(bytes[13] == 13);
}

TEST_CASE("copy: an extent that exceeds a side is OutOfRange and names the side") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(100, "x");
  const auto y = f.buffer<std::uint8_t>(41, "y");
  std::vector<std::uint8_t> values(41);
  CommandBuffer cmd = f.recording();
  const CopyDesc desc{.extent = {10, 4, 1}, .source = {20, 0}, .destination = {11, 0}};
  check_refused(cmd, ErrorCode::OutOfRange,
                {"destination y has 41 bytes", "needs 43", "row pitch 11"},
                [&] { cmd.copy(x, y, desc); });
  check_refused(cmd, ErrorCode::OutOfRange, {"source y has 41 bytes", "needs 70"},
                [&] { cmd.copy(y, x, desc); });
  check_refused(cmd, ErrorCode::OutOfRange, {"borrowed host memory has 41 bytes"},
                [&] { cmd.copy(x, borrowed(values), desc); });
  const std::uint64_t huge = std::uint64_t{1} << 62;
  check_refused(cmd, ErrorCode::OutOfRange, {"64 bits"}, [&] {
    cmd.copy(x, y, {.extent = {huge, 8, 1}, .source = {}, .destination = {}});
  });
}

TEST_CASE("copy: pitches that are too small for the rows are InvalidArgument") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(1000, "x");
  const auto y = f.buffer<std::uint8_t>(1000, "y");
  CommandBuffer cmd = f.recording();
  const auto refused = [&](Pitch source, Pitch destination, std::string_view part) {
    check_refused(cmd, ErrorCode::InvalidArgument, {part}, [&] {
      cmd.copy(x, y, {.extent = {10, 4, 2}, .source = source, .destination = destination});
    });
  };
  refused({9, 0}, {}, "source's row pitch of 9 bytes");
  refused({}, {9, 0}, "destination's row pitch of 9 bytes");
  refused({16, 50}, {}, "source's slice pitch of 50 bytes is smaller");
  refused({16, 70}, {}, "slice pitch of 70 bytes is not a multiple");
}

TEST_CASE("copy: overlap of pitched rows in one buffer agrees with byte sets") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(400, "x");
  CommandBuffer cmd = f.recording();
  int refused = 0, accepted = 0;
  for (int iteration = 0; iteration < 1500; ++iteration) {
    CopyDesc desc;
    desc.extent = {1 + below(6), 1 + below(4), 1 + below(3)};
    desc.source.row = desc.extent.width + below(8);
    desc.source.slice = desc.source.row * (desc.extent.height + below(3));
    desc.destination.row = iteration % 2 == 0 ? desc.source.row : desc.extent.width + below(8);
    desc.destination.slice = desc.destination.row * (desc.extent.height + below(3));
    const std::uint64_t from = below(80), to = below(80);
    std::set<std::uint64_t> bytes;
    bool expected = false;
    const auto each_byte = [&](std::uint64_t begin, const Pitch& pitch, const auto& visit) {
      for (std::uint64_t z = 0; z < desc.extent.depth; ++z)
        for (std::uint64_t y = 0; y < desc.extent.height; ++y)
          for (std::uint64_t b = 0; b < desc.extent.width; ++b)
            visit(begin + z * pitch.slice + y * pitch.row + b);
    };
    each_byte(from, desc.source, [&](std::uint64_t b) { bytes.insert(b); });
    each_byte(to, desc.destination,
              [&](std::uint64_t b) { expected = expected || bytes.count(b) != 0; });
    CAPTURE(iteration);
    bool overlap = false;
    try {
      cmd.copy(x.subview(from, 300), x.subview(to, 300), desc);
    } catch (const Error& error) {
      REQUIRE(error.code() == ErrorCode::Overlap);
      overlap = true;
    }
    REQUIRE(overlap == expected);
    (overlap ? refused : accepted) += 1;
  }
  CHECK(refused > 50);
  CHECK(accepted > 50);
  CHECK(cmd.command_count() == static_cast<std::uint32_t>(accepted));
}
