// Virtual allocations: on a fake driver that fails on request, and on a GPU.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "backend/cuda/cuda_virtual_allocation.hpp"
#include "cuda/fake_driver.hpp"
#include "cuda/gpu.hpp"
#include "unit/profile/traced_run.hpp"

namespace reprise::test {
namespace {

using detail::CudaVirtualAllocation;
using detail::UnmappedRanges;

constexpr std::uint64_t kPage = 2 << 20;

// Objects that the driver has created and not destroyed. Call number `failing` of the calls that
// can fail returns `result`.
struct DriverState {
  int reservations = 0, memories = 0, mappings = 0;
  int calls = 0, failing = 0;
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  int supported = 1;
};
DriverState driver_state;

bool fails() { return ++driver_state.calls == driver_state.failing; }

CUresult get_device(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult get_attribute(int* value, CUdevice_attribute, CUdevice) {
  *value = driver_state.supported;
  return CUDA_SUCCESS;
}
CUresult granularity(std::size_t* bytes, const CUmemAllocationProp*,
                     CUmemAllocationGranularity_flags) {
  *bytes = kPage;
  return CUDA_SUCCESS;
}
CUresult reserve(CUdeviceptr* address, std::size_t, std::size_t, CUdeviceptr, unsigned long long) {
  if (fails()) return driver_state.result;
  *address = 0x700000000000;
  ++driver_state.reservations;
  return CUDA_SUCCESS;
}
CUresult free_address(CUdeviceptr, std::size_t) {
  --driver_state.reservations;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* memory, std::size_t, const CUmemAllocationProp*,
                unsigned long long) {
  if (fails()) return driver_state.result;
  *memory = 1;
  ++driver_state.memories;
  return CUDA_SUCCESS;
}
CUresult release(CUmemGenericAllocationHandle) {
  --driver_state.memories;
  return CUDA_SUCCESS;
}
CUresult map(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
             unsigned long long) {
  if (fails()) return driver_state.result;
  ++driver_state.mappings;
  return CUDA_SUCCESS;
}
CUresult unmap(CUdeviceptr, std::size_t) {
  if (fails()) return driver_state.result;
  --driver_state.mappings;
  return CUDA_SUCCESS;
}
CUresult set_access(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return fails() ? driver_state.result : CUDA_SUCCESS;
}

// A context of the fake driver without any objects.
struct FakePages {
  FakeDriver driver;
  detail::CudaDriver table = driver.context()->driver;
  std::shared_ptr<const detail::CudaContext> context;
  FakePages() {
    driver_state = {};
    table.cuDeviceGet = &get_device;
    table.cuDeviceGetAttribute = &get_attribute;
    table.cuMemGetAllocationGranularity = &granularity;
    table.cuMemAddressReserve = &reserve;
    table.cuMemAddressFree = &free_address;
    table.cuMemCreate = &create;
    table.cuMemRelease = &release;
    table.cuMemMap = &map;
    table.cuMemUnmap = &unmap;
    table.cuMemSetAccess = &set_access;
    const auto of = driver.context();
    context = std::make_shared<const detail::CudaContext>(
        detail::CudaContext{table, of->ordinal, of->handle, of->status, of->info});
  }
};

bool is_unmapped(std::byte* address) {
  const auto held = UnmappedRanges::of_process().hold();
  return UnmappedRanges::of_process().contains_any(std::array{address});
}

}  // namespace

TEST_CASE(
    "virtual allocation: it has whole pages, or is null if they would waste memory or the GPU "
    "lacks them") {
  FakePages fake;
  CHECK(CudaVirtualAllocation::make(fake.context, 8 * kPage)->bytes() == 8 * kPage);
  CHECK(CudaVirtualAllocation::make(fake.context, 9 * kPage - 5)->bytes() == 9 * kPage);
  CHECK(CudaVirtualAllocation::make(fake.context, kPage + 1) == nullptr);
  CHECK(CudaVirtualAllocation::make(fake.context, 256) == nullptr);
  CHECK(CudaVirtualAllocation::make(fake.context, ~std::uint64_t{0} - 5) == nullptr);
  driver_state.supported = 0;
  CHECK(CudaVirtualAllocation::make(fake.context, 8 * kPage) == nullptr);
  CHECK(driver_state.reservations == 0);
  CHECK(driver_state.mappings == 0);
  CHECK(driver_state.memories == 0);
}

TEST_CASE("virtual allocation: an address range is registered while its pages are unmapped") {
  FakePages fake;
  const auto pages = CudaVirtualAllocation::make(fake.context, 4 * kPage);
  CHECK_FALSE(is_unmapped(pages->address()));
  pages->unmap();
  CHECK(driver_state.mappings == 0);
  CHECK(driver_state.reservations == 1);
  CHECK(is_unmapped(pages->address()));
  CHECK(is_unmapped(pages->address() + 4 * kPage - 1));
  CHECK_FALSE(is_unmapped(pages->address() + 4 * kPage));
  CHECK_FALSE(is_unmapped(pages->address() - 1));
  std::byte* const address = pages->address();
  pages->map_pages();
  CHECK(pages->address() == address);
  CHECK(driver_state.mappings == 1);
  CHECK_FALSE(is_unmapped(address));
}

TEST_CASE(
    "virtual allocation: a failure of any call is reported, and nothing stays reserved or mapped") {
  FakePages fake;
  int failing = 1;
  for (;; ++failing) {
    CAPTURE(failing);
    driver_state = {.failing = failing};
    try {
      const auto pages = CudaVirtualAllocation::make(fake.context, 4 * kPage);
      pages->unmap();
      pages->map_pages();
    } catch (const Error& error) {
      CHECK(to_string(error.code()) == to_string(ErrorCode::OutOfMemory));
    }
    CHECK(driver_state.reservations == 0);
    CHECK(driver_state.memories == 0);
    if (driver_state.calls < failing) break;
    // A failed unmap leaves its mapping.
    CHECK(driver_state.mappings <= (failing == driver_state.calls ? 1 : 0));
  }
  CHECK(failing > 8);
}

TEST_CASE(
    "virtual allocation: a reserved range grows behind its mapped pages, in pieces, and shrinks "
    "from its end") {
  FakePages fake;
  const auto pages = CudaVirtualAllocation::reserve(fake.context, 100 * kPage - 3);
  REQUIRE(pages != nullptr);
  CHECK(pages->reserved() == 100 * kPage);
  CHECK(pages->bytes() == 0);
  CHECK(driver_state.mappings == 0);
  pages->resize(3 * kPage - 1);
  CHECK(pages->bytes() == 3 * kPage);
  CHECK(driver_state.mappings == 1);
  pages->resize(100 * kPage);
  CHECK(driver_state.mappings == 5);  // 97 more pages, at most 32 per piece
  pages->resize(40 * kPage);
  CHECK(driver_state.mappings == 3);
  CHECK(pages->bytes() == 67 * kPage);  // pieces are unmapped as a whole
  pages->resize(3 * kPage);
  CHECK(driver_state.mappings == 1);
  pages->resize(5 * kPage);
  pages->unmap();
  CHECK(driver_state.mappings == 0);
  CHECK(is_unmapped(pages->address()));
  pages->resize(2 * kPage);
  CHECK(driver_state.mappings == 0);
  pages->map_pages();
  CHECK(pages->bytes() == 2 * kPage);
  CHECK(driver_state.mappings == 1);
  CHECK_FALSE(is_unmapped(pages->address()));
  pages->resize(0);
  CHECK(driver_state.mappings == 0);
  CHECK(driver_state.memories == 0);
  driver_state.supported = 0;
  CHECK(CudaVirtualAllocation::reserve(fake.context, kPage) == nullptr);
}

TEST_CASE(
    "virtual allocation: a failed growth keeps the existing pages only, and a failed reservation "
    "returns null") {
  FakePages fake;
  driver_state = {.failing = 1};
  CHECK(CudaVirtualAllocation::reserve(fake.context, 100 * kPage) == nullptr);
  for (int failing = 1;; ++failing) {
    CAPTURE(failing);
    driver_state = {};
    const auto pages = CudaVirtualAllocation::reserve(fake.context, 100 * kPage);
    pages->resize(2 * kPage);
    driver_state.calls = 0;
    driver_state.failing = failing;
    try {
      pages->resize(90 * kPage);
    } catch (const Error& error) {
      CHECK(to_string(error.code()) == to_string(ErrorCode::OutOfMemory));
      CHECK(pages->bytes() == 2 * kPage);
      CHECK(driver_state.mappings == 1);
      CHECK(driver_state.memories == 0);
      continue;
    }
    CHECK(failing == 10);  // three pieces, three calls each
    break;
  }
}

TEST_CASE("cuda pages: a trim returns memory to the GPU until the next launch" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  constexpr unsigned kCount = 64u << 20;
  const Gpu on;
  const auto step = on.device.create_pool({.label = "step"});
  const auto t = step->transient<unsigned>(kCount, "t");
  const auto out = on.pool->allocate<unsigned>(16, "out");
  const CommandBuffer commands = on.record([&](CommandBuffer& cmd) {
    cmd.fill(t, 7u);
    cmd.copy(t.slice(kCount - 16, 16), out);
  });
  CapturedGraph graph = on.device.compile(commands, {.pool = step});
  graph.launch(on.queue).wait();
  on.device.wait_idle();
  const auto free_bytes = [] {
    std::size_t left = 0, all = 0;
    CHECK(cudaMemGetInfo(&left, &all) == cudaSuccess);
    return left;
  };
  const std::size_t before = free_bytes();
  const CudaState state = cuda_state();
  const TrimReport report = step->trim();
  CHECK(cuda_state() == state);
  CHECK(report.bytes == 4ull * kCount);
  const std::size_t trimmed = free_bytes();
  CHECK(trimmed >= before + report.bytes);
  for (int round = 0; round < 3; ++round) {
    graph.launch(on.queue).wait();
    CHECK(on.read(out) == std::vector<unsigned>(16, 7));
    CHECK(free_bytes() <= trimmed - report.bytes);
    CHECK(step->trim().slabs == 1);
  }
}

TEST_CASE("cuda pages: a graph with timed nodes and its profiling clone keep working after a trim" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const TraceFolder folder;
  constexpr unsigned kCount = 4u << 20;
  constexpr std::uint64_t kReplays = 60;
  {
    const Instance instance({.application = "gpu test",
                             .trace = {.target = folder.file(), .profile = ProfileMode::Every}});
    const Device device = instance.open_device(DeviceSelector::named(gpu().info().selector));
    {
      const Queue queue = device.create_queue({.label = "main"});
      const auto pool = device.create_pool({.label = "step"});
      const auto t = pool->transient<unsigned>(kCount, "t");
      const auto out = pool->host<unsigned>(16, "out");
      CommandBuffer commands = device.create_command_buffer({.label = "step"});
      commands.begin();
      commands.fill(t, 7u);
      commands.copy(t.slice(kCount - 16, 16), out);
      commands.end();
      CapturedGraph graph = device.compile(commands, {.pool = pool});
      for (std::uint64_t replay = 0; replay < kReplays; ++replay) {
        std::fill_n(out.data(), 16, 0u);
        graph.launch(queue).wait();
        CHECK(out[0] == 7);
        CHECK(out[15] == 7);
        if (replay % 3 == 0) CHECK(pool->trim().slabs == 1);
      }
    }
    device.wait_idle();
  }
  const trace::Records records = all_records(folder.file());
  CHECK(records.replays.size() == kReplays);
  CHECK_FALSE(records.sample_blocks.empty());
  REQUIRE_FALSE(records.pool_states.empty());
  CHECK(records.pool_states.back().trims == kReplays / 3);
  CHECK(records.pool_states.back().mapped == 0);
}

}  // namespace reprise::test
