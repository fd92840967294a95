#include "conformance/device_fixture.hpp"

namespace reprise::test::update_test {

TEST_CASE_FIXTURE(DeviceFixture,
                  "update: from one byte up to the limit, the bytes are copied while recording") {
  auto bytes = generated<std::uint8_t>(Recorder::kMaxUpdateBytes, [](std::size_t i) {
    return static_cast<std::uint8_t>(i * 3 + 1);
  });
  const auto expected_large = bytes;
  const auto large = pool->allocate<std::uint8_t>(Recorder::kMaxUpdateBytes, "large");
  const auto small = buffer(std::vector<std::uint8_t>(10, 9), "small");
  CommandBuffer cmd = recording();
  cmd.update(large, std::as_bytes(std::span(bytes)));
  cmd.update(small.slice(4, 6), std::as_bytes(std::span(bytes)).first(1));
  bytes.assign(bytes.size(), 0);
  run(cmd);
  CHECK(values(large) == expected_large);
  CHECK(values(small) == std::vector<std::uint8_t>{9, 9, 9, 9, 1, 9, 9, 9, 9, 9});
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "update: too many bytes are refused, and the error names snapshot()") {
  const auto x = pool->allocate<std::uint8_t>(100000, "x");
  const std::vector<std::byte> bytes(Recorder::kMaxUpdateBytes + 1);
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::InvalidArgument, {"65537", "65536", "snapshot()"},
                [&] { cmd.update(x, bytes); });
}

}  // namespace reprise::test::update_test
