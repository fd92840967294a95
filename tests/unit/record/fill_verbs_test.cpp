#include <doctest/doctest.h>

#include "base/handle_access.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::FillPayload;
using detail::UpdatePayload;

TEST_CASE("fill: elements of 1, 2 and 4 bytes keep their bit patterns") {
  RecordFixture f;
  const auto a = f.buffer<std::uint8_t>(10, "a");
  const auto b = f.buffer<std::int16_t>(10, "b");
  const auto c = f.buffer<float>(10, "c");
  CommandBuffer cmd = f.recording();
  cmd.fill(a, 0xab);
  cmd.fill(b, std::int16_t{-2});
  const std::uint32_t line = __LINE__ + 1;
  cmd.fill(c.slice(2, 3), 1.0f);
  const auto r = frozen(cmd);
  CHECK(r->payload<FillPayload>(0).bits == 0xab);
  CHECK(r->payload<FillPayload>(0).element_bytes == 1);
  CHECK(r->payload<FillPayload>(1).bits == 0xfffe);
  CHECK(r->payload<FillPayload>(1).extent.width == 20);
  CHECK(r->payload<FillPayload>(2).bits == 0x3f800000);
  CHECK(r->payload<FillPayload>(2).offset == 8);
  CHECK(r->commands[2].where.line == line);
  CHECK(r->accesses[2].access == Access::Write);
  CHECK(r->accesses[2].begin == 8);
  CHECK(r->accesses[2].end == 20);
}

TEST_CASE("fill: a pitched fill writes its rows and nothing between them") {
  RecordFixture f;
  const auto c = f.buffer<std::uint32_t>(64, "c");
  CommandBuffer cmd = f.recording();
  cmd.fill(c, 7u, {.width = 8, .height = 3}, {.row = 32});
  cmd.fill(c, 7u, {.width = 8, .height = 3}, {.row = 8});
  const auto r = frozen(cmd);
  CHECK(r->payload<FillPayload>(0).extent.height == 3);
  CHECK(r->accesses[0].end == 72);
  CHECK(r->accesses[0].shape == 1);
  CHECK(r->payload<FillPayload>(1).extent.width == 24);
  CHECK(r->payload<FillPayload>(1).extent.height == 1);
  CHECK(r->accesses[1].shape == 0);
}

TEST_CASE("fill: sizes that are not multiples of the element are InvalidArgument") {
  RecordFixture f;
  const auto c = f.buffer<std::uint32_t>(64, "c");
  CommandBuffer cmd = f.recording();
  const auto refused = [&](const BufferView& view, std::uint32_t element, Extent extent,
                           Pitch pitch, std::initializer_list<std::string_view> parts) {
    check_refused(cmd, ErrorCode::InvalidArgument, parts,
                  [&] { cmd.fill_bits(view, 0, element, extent, pitch); });
  };
  refused(c, 4, {10, 1, 1}, {},
          {"fill at ", "fill_verbs_test.cpp:", "a row of 10 bytes in c", "element size of 4"});
  refused(c, 4, {8, 2, 1}, {10, 0}, {"the row pitch of 10 bytes"});
  refused(c.subview(2, 8), 4, {8, 1, 1}, {}, {"an offset of 2 bytes"});
  refused(c, 3, {9, 1, 1}, {}, {"elements of 3 bytes", "1, 2 or 4"});
  refused(c, 4, {8, 1, 2}, {}, {"extent.depth is 2"});
  refused(c, 4, {0, 1, 1}, {}, {"is empty"});
  refused(c, 4, {8, 2, 1}, {4, 0}, {"row pitch of 4 bytes is smaller"});
}

TEST_CASE("fill: an extent that exceeds the view is OutOfRange") {
  RecordFixture f;
  const auto c = f.buffer<std::uint32_t>(16, "c");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::OutOfRange, {"needs 72 bytes", "c has 64"},
                [&] { cmd.fill(c, 1u, {.width = 8, .height = 3}, {.row = 32}); });
  check_refused(cmd, ErrorCode::OutOfRange, {"needs 8 bytes", "c has 4"},
                [&] { cmd.fill(c.slice(0, 1), 1u, {.width = 8}, {}); });
}

TEST_CASE("fill and update: empty, foreign and stale views are refused") {
  RecordFixture f, other;
  other.status = RecordFixture::make_status("cuda:0");
  const auto z = other.buffer<int>(1, "z");
  const auto s = f.buffer<int>(1, "s");
  detail::core_of(s)->cleared = true;
  const std::byte bytes[4] = {};
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::NotInitialized, {"fill", "empty buffer"},
                [&] { cmd.fill(GpuRef<int>(), 1); });
  check_refused(cmd, ErrorCode::WrongDevice, {"fill", "z"}, [&] { cmd.fill(z, 1); });
  check_refused(cmd, ErrorCode::StaleHandle, {"fill", "s is stale"}, [&] { cmd.fill(s, 1); });
  check_refused(cmd, ErrorCode::NotInitialized, {"update", "empty buffer"},
                [&] { cmd.update(BufferView(), bytes); });
  check_refused(cmd, ErrorCode::WrongDevice, {"update", "z"}, [&] { cmd.update(z, bytes); });
  check_refused(cmd, ErrorCode::StaleHandle, {"update", "s is stale"},
                [&] { cmd.update(s, bytes); });
}

TEST_CASE("update: the bytes are copied during recording to the start of the view") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(100, "x");
  CommandBuffer cmd = f.recording();
  std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  cmd.update(x.subview(10, 50), bytes);
  bytes.assign(3, std::byte{0});
  const auto r = frozen(cmd);
  const auto& p = r->payload<UpdatePayload>(0);
  CHECK(p.offset == 10);
  CHECK(p.bytes == 3);
  CHECK(p.data[2] == std::byte{3});
  CHECK(r->accesses[0].begin == 10);
  CHECK(r->accesses[0].end == 13);
}

TEST_CASE("update: too many bytes, no bytes and ranges outside the view are refused") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(100000, "x");
  CommandBuffer cmd = f.recording();
  const std::vector<std::byte> bytes(65537);
  check_refused(cmd, ErrorCode::InvalidArgument,
                {"update at ", "65537 bytes for x", "65536", "snapshot()"},
                [&] { cmd.update(x, bytes); });
  check_refused(cmd, ErrorCode::InvalidArgument, {"no bytes for x"}, [&] { cmd.update(x, {}); });
  check_refused(cmd, ErrorCode::OutOfRange, {"8 bytes exceed the 7 bytes of the destination x"},
                [&] { cmd.update(x.slice(0, 7), std::span(bytes).first(8)); });
  cmd.update(x, std::span(bytes).first(65536));
  CHECK(cmd.command_count() == 1);
}
