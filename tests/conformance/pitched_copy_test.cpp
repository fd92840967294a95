#include <random>

#include "conformance/device_fixture.hpp"

namespace reprise::test::pitched_copy_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes numbered(std::size_t count) {
  return generated<std::uint8_t>(
      count, [](std::size_t i) { return static_cast<std::uint8_t>(i * 7 + i / 256 + 1); });
}

// Replaces pitches of 0 by tight ones.
Pitch filled_in(const Extent& e, Pitch p) {
  if (p.row == 0) p.row = e.width;
  if (p.slice == 0) p.slice = p.row * e.height;
  return p;
}

Bytes copied(const Bytes& source, std::uint64_t source_at, Bytes destination,
             std::uint64_t destination_at, const CopyDesc& desc) {
  const Pitch from = filled_in(desc.extent, desc.source),
              to = filled_in(desc.extent, desc.destination);
  for (std::uint64_t z = 0; z < desc.extent.depth; ++z)
    for (std::uint64_t y = 0; y < desc.extent.height; ++y)
      for (std::uint64_t x = 0; x < desc.extent.width; ++x)
        destination[destination_at + z * to.slice + y * to.row + x] =
            source[source_at + z * from.slice + y * from.row + x];
  return destination;
}

// Checks a copy between device buffers of `size` bytes, from host memory and to host memory against
// a C++ reference.
void check_copy(const DeviceFixture& f, const CopyDesc& desc, std::uint64_t from = 0,
                std::uint64_t to = 0, std::size_t size = 4096) {
  const Bytes source = numbered(size), blank(size, 0);
  const Bytes expected = copied(source, from, blank, to, desc);
  const auto x = f.buffer(source, "x");
  const auto y = f.buffer(blank, "y");
  f.run([&](CommandBuffer& cmd) {
    cmd.copy(x.subview(from, size - from), y.subview(to, size - to), desc);
  });
  CHECK(f.values(y) == expected);

  f.run([&](CommandBuffer& cmd) {
    cmd.fill(y, 0);
    cmd.copy(snapshot(std::span<const std::uint8_t>(source).subspan(from)),
             y.subview(to, size - to), desc);
  });
  CHECK(f.values(y) == expected);

  Bytes host = blank;
  f.run([&](CommandBuffer& cmd) {
    cmd.copy(x.subview(from, size - from), borrowed(std::span<std::uint8_t>(host).subspan(to)),
             desc);
  });
  CHECK(host == expected);
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "pitched copy: 2D rows with a pitch on either or both sides") {
  check_copy(*this, {.extent = {20, 10, 1}, .source = {32, 0}, .destination = {}});
  check_copy(*this, {.extent = {20, 10, 1}, .source = {}, .destination = {64, 0}});
  check_copy(*this, {.extent = {20, 10, 1}, .source = {48, 0}, .destination = {24, 0}}, 5, 9);
  check_copy(*this, {.extent = {1, 30, 1}, .source = {40, 0}, .destination = {3, 0}});
}

TEST_CASE_FIXTURE(DeviceFixture, "pitched copy: 3D slices") {
  check_copy(*this, {.extent = {10, 4, 5}, .source = {16, 96}, .destination = {}});
  check_copy(*this, {.extent = {10, 4, 5}, .source = {}, .destination = {12, 60}});
  check_copy(*this, {.extent = {12, 3, 4}, .source = {20, 100}, .destination = {16, 64}}, 3, 6);
  check_copy(*this, {.extent = {10, 1, 6}, .source = {0, 50}, .destination = {0, 33}});
}

// Kernels copy many rows within a GPU, in units of 16, 8 and 4 bytes and the rest of each row.
TEST_CASE_FIXTURE(DeviceFixture, "pitched copy: many rows of any width and alignment") {
  constexpr std::size_t kSize = 2 << 20;
  const auto check = [&](const CopyDesc& desc, std::uint64_t from, std::uint64_t to) {
    CAPTURE(desc.extent.width);
    check_copy(*this, desc, from, to, kSize);
  };
  check({.extent = {64, 3000, 1}, .source = {96, 0}, .destination = {}}, 0, 16);
  check({.extent = {99, 3000, 1}, .source = {112, 0}, .destination = {104, 0}}, 16, 8);
  check({.extent = {7, 30'000, 1}, .source = {12, 0}, .destination = {16, 0}}, 4, 8);
  check({.extent = {501, 2090, 1}, .source = {999, 0}, .destination = {}}, 1, 3);
  check({.extent = {30, 60, 50}, .source = {32, 1984}, .destination = {48, 2880}}, 16, 32);
  check({.extent = {13, 90, 40}, .source = {20, 1820}, .destination = {16, 1456}}, 4, 0);
  check({.extent = {301, 1, 2100}, .source = {0, 320}, .destination = {0, 304}}, 0, 16);
  // Rows of several blocks.
  check({.extent = {20'001, 60, 1}, .source = {20'016, 0}, .destination = {20'032, 0}}, 0, 32);
  check({.extent = {20'003, 60, 1}, .source = {20'004, 0}, .destination = {20'012, 0}}, 4, 8);
}

TEST_CASE_FIXTURE(DeviceFixture, "pitched copy: rows without gaps form one range") {
  check_copy(*this, {.extent = {16, 8, 4}, .source = {}, .destination = {}}, 1, 2);
}

TEST_CASE_FIXTURE(DeviceFixture, "pitched copy: random shapes") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    CopyDesc desc{.extent = {1 + below(24), 1 + below(6), 1 + below(4)}};
    desc.source.row = desc.extent.width + below(12);
    desc.source.slice = desc.source.row * (desc.extent.height + below(3));
    desc.destination.row = desc.extent.width + below(12);
    desc.destination.slice = desc.destination.row * (desc.extent.height + below(3));
    check_copy(*this, desc, below(100), below(100));
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "pitched copy: two copies into each other's gaps do not conflict") {
  const auto x = buffer(numbered(1024), "x");
  const auto y = buffer(Bytes(1024, 0), "y");
  // Explicit refuses conflicts without a barrier.
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  const CopyDesc desc{.extent = {8, 32, 1}, .source = {32, 0}, .destination = {32, 0}};
  cmd.copy(x, y, desc);
  cmd.copy(x.subview(8, 1016), y.subview(8, 1016), desc);
  run(cmd);
  const Bytes once = copied(numbered(1024), 0, Bytes(1024, 0), 0, desc);
  CHECK(values(y) == copied(numbered(1024), 8, once, 8, desc));
}

TEST_CASE_FIXTURE(DeviceFixture, "pitched copy: a pitch above the device's limit is refused") {
  const std::uint64_t limit = device.info().limits.max_pitch;
  if (limit == 0 || limit > (std::uint64_t{1} << 33)) return;  // a buffer cannot hold two such rows
  const auto x = pool->allocate<std::uint8_t>(64, "x");
  std::uint8_t byte = 0;
  // The copy is refused before its source is read.
  const HostBytes host{HostBytes::Lifetime::Borrowed, &byte, 2 * limit + 64, false};
  CommandBuffer cmd = recording();
  cmd.copy(host, x, {.extent = {4, 2, 1}, .source = {limit + 4, 0}, .destination = {}});
  cmd.end();
  check_refused(ErrorCode::Unsupported, {"copy", "x"},
                [&] { static_cast<void>(device.compile(cmd)); });
}

}  // namespace reprise::test::pitched_copy_test
