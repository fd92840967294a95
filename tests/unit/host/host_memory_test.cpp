// The host device's memory and its device information.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "backend/host/host_memory.hpp"
#include "unit/host/host_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("host memory: blocks are aligned, and the limit counts allocated bytes") {
  detail::HostMemory memory(1000);
  std::byte* a = memory.allocate(600);
  std::byte* b = memory.allocate(0);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % detail::HostMemory::kAlignment == 0);
  CHECK(b != nullptr);
  CHECK(b != a);
  CHECK(code_of([&] { static_cast<void>(memory.allocate(401)); }) == ErrorCode::OutOfMemory);
  memory.free(a);
  std::byte* c = memory.allocate(1000);
  memory.free(c);
  memory.free(b);
  memory.free(nullptr);
}

TEST_CASE(
    "host memory: an allocation beyond the machine's memory is refused, with the bytes in the "
    "message") {
  HostFixture host;
  for (const std::uint64_t bytes :
       {std::uint64_t{1} << 60, std::numeric_limits<std::uint64_t>::max()}) {
    try {
      static_cast<void>(host.backend->allocate(BufferKind::Device, bytes));
      FAIL("the allocation succeeded");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::OutOfMemory);
      CHECK(error.stage() == Stage::Allocate);
      CHECK(std::string(error.what()).find(std::to_string(bytes)) != std::string::npos);
    }
  }
}

TEST_CASE("host device: there is one device, and it reports its capabilities") {
  const auto devices = detail::host_provider().devices();
  REQUIRE(devices.size() == 1);
  const DeviceInfo& info = devices[0];
  CHECK(info.kind == DeviceKind::Host);
  CHECK(info.selector == "host");
  CHECK(info.name.starts_with("host ("));
  CHECK(info.multiprocessors >= 1);
  CHECK(info.memory_bytes > 0);
  CHECK(info.limits.max_grid == Dim3{0x7fffffff, 65535, 65535});
  CHECK(info.limits.max_block_threads == 1024);
  CHECK(info.limits.max_cluster_blocks == 0);
  CHECK(info.limits.max_cooperative_blocks == 0);
  CHECK(info.limits.buffer_alignment == detail::HostMemory::kAlignment);
  CHECK_NOTHROW(detail::host_provider().require_driver());
}
