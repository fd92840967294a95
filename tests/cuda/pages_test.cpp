// Memory whose pages come and go: over a driver that fails on request, and on a GPU.
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
using detail::UnmappedPagesError;

constexpr std::uint64_t kPage = 2 << 20;

// What a driver has given and not got back; call number `failing` of those that can fail gives
// `result`.
struct Given {
  int reservations = 0, memories = 0, mappings = 0;
  int calls = 0, failing = 0;
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  int supported = 1;
};
Given given;

bool fails() { return ++given.calls == given.failing; }

CUresult get_device(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult get_attribute(int* value, CUdevice_attribute, CUdevice) {
  *value = given.supported;
  return CUDA_SUCCESS;
}
CUresult granularity(std::size_t* bytes, const CUmemAllocationProp*,
                     CUmemAllocationGranularity_flags) {
  *bytes = kPage;
  return CUDA_SUCCESS;
}
CUresult reserve(CUdeviceptr* address, std::size_t, std::size_t, CUdeviceptr, unsigned long long) {
  if (fails()) return given.result;
  *address = 0x700000000000;
  ++given.reservations;
  return CUDA_SUCCESS;
}
CUresult free_address(CUdeviceptr, std::size_t) {
  --given.reservations;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* memory, std::size_t, const CUmemAllocationProp*,
                unsigned long long) {
  if (fails()) return given.result;
  *memory = 1;
  ++given.memories;
  return CUDA_SUCCESS;
}
CUresult release(CUmemGenericAllocationHandle) {
  --given.memories;
  return CUDA_SUCCESS;
}
CUresult map(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
             unsigned long long) {
  if (fails()) return given.result;
  ++given.mappings;
  return CUDA_SUCCESS;
}
CUresult unmap(CUdeviceptr, std::size_t) {
  if (fails()) return given.result;
  --given.mappings;
  return CUDA_SUCCESS;
}
CUresult set_access(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return fails() ? given.result : CUDA_SUCCESS;
}

// A context over that driver, which gives nothing yet.
struct FakePages {
  FakeDriver driver;
  detail::CudaDriver table = driver.context()->driver;
  std::shared_ptr<const detail::CudaContext> context;
  FakePages() {
    given = {};
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

bool is_gone(std::byte* address) {
  const auto held = UnmappedPagesError::of_process().hold();
  return UnmappedPagesError::of_process().has_any(std::array{address});
}

}  // namespace

TEST_CASE(
    "pages over a fake driver: whole pages, none where they would be wasted or the GPU has none") {
  FakePages fake;
  CHECK(CudaVirtualAllocation::make(fake.context, 8 * kPage)->bytes() == 8 * kPage);
  CHECK(CudaVirtualAllocation::make(fake.context, 9 * kPage - 5)->bytes() == 9 * kPage);
  CHECK(CudaVirtualAllocation::make(fake.context, kPage + 1) == nullptr);
  CHECK(CudaVirtualAllocation::make(fake.context, 256) == nullptr);
  CHECK(CudaVirtualAllocation::make(fake.context, ~std::uint64_t{0} - 5) == nullptr);
  given.supported = 0;
  CHECK(CudaVirtualAllocation::make(fake.context, 8 * kPage) == nullptr);
  CHECK(given.reservations == 0);
  CHECK(given.mappings == 0);
  CHECK(given.memories == 0);
}

TEST_CASE(
    "pages over a fake driver: addresses without pages are known to everybody, as long as they are "
    "without") {
  FakePages fake;
  const auto pages = CudaVirtualAllocation::make(fake.context, 4 * kPage);
  CHECK_FALSE(is_gone(pages->address()));
  pages->give_back();
  CHECK(given.mappings == 0);
  CHECK(given.reservations == 1);
  CHECK(is_gone(pages->address()));
  CHECK(is_gone(pages->address() + 4 * kPage - 1));
  CHECK_FALSE(is_gone(pages->address() + 4 * kPage));
  CHECK_FALSE(is_gone(pages->address() - 1));
  std::byte* const address = pages->address();
  pages->take();
  CHECK(pages->address() == address);
  CHECK(given.mappings == 1);
  CHECK_FALSE(is_gone(address));
}

TEST_CASE(
    "pages over a fake driver: whichever call fails, it is said, and nothing stays reserved or "
    "mapped") {
  FakePages fake;
  int failing = 1;
  for (;; ++failing) {
    CAPTURE(failing);
    given = {.failing = failing};
    try {
      const auto pages = CudaVirtualAllocation::make(fake.context, 4 * kPage);
      pages->give_back();
      pages->take();
    } catch (const Error& error) {
      CHECK(to_string(error.code()) == to_string(ErrorCode::OutOfMemory));
    }
    CHECK(given.reservations == 0);
    CHECK(given.memories == 0);
    if (given.calls < failing) break;
    CHECK(given.mappings <= (failing == given.calls ? 1 : 0));  // what can't be unmapped stays
  }
  CHECK(failing > 8);
}

TEST_CASE(
    "pages over a fake driver: reserved addresses get pages behind those that are there, in "
    "pieces, and lose them from the end") {
  FakePages fake;
  const auto pages = CudaVirtualAllocation::reserve(fake.context, 100 * kPage - 3);
  REQUIRE(pages != nullptr);
  CHECK(pages->reserved() == 100 * kPage);
  CHECK(pages->bytes() == 0);
  CHECK(given.mappings == 0);
  pages->resize(3 * kPage - 1);
  CHECK(pages->bytes() == 3 * kPage);
  CHECK(given.mappings == 1);
  pages->resize(100 * kPage);
  CHECK(given.mappings == 5);  // 97 more, of 32 at most
  pages->resize(40 * kPage);
  CHECK(given.mappings == 3);
  CHECK(pages->bytes() == 67 * kPage);  // a piece goes as a whole
  pages->resize(3 * kPage);
  CHECK(given.mappings == 1);
  pages->resize(5 * kPage);
  pages->give_back();
  CHECK(given.mappings == 0);
  CHECK(is_gone(pages->address()));
  pages->resize(2 * kPage);
  CHECK(given.mappings == 0);
  pages->take();
  CHECK(pages->bytes() == 2 * kPage);
  CHECK(given.mappings == 1);
  CHECK_FALSE(is_gone(pages->address()));
  pages->resize(0);
  CHECK(given.mappings == 0);
  CHECK(given.memories == 0);
  given.supported = 0;
  CHECK(CudaVirtualAllocation::reserve(fake.context, kPage) == nullptr);
}

TEST_CASE(
    "pages over a fake driver: where growing fails, what was there stays, and no more; addresses "
    "that there are not are none") {
  FakePages fake;
  given = {.failing = 1};
  CHECK(CudaVirtualAllocation::reserve(fake.context, 100 * kPage) == nullptr);
  for (int failing = 1;; ++failing) {
    CAPTURE(failing);
    given = {};
    const auto pages = CudaVirtualAllocation::reserve(fake.context, 100 * kPage);
    pages->resize(2 * kPage);
    given.calls = 0;
    given.failing = failing;
    try {
      pages->resize(90 * kPage);
    } catch (const Error& error) {
      CHECK(to_string(error.code()) == to_string(ErrorCode::OutOfMemory));
      CHECK(pages->bytes() == 2 * kPage);
      CHECK(given.mappings == 1);
      CHECK(given.memories == 0);
      continue;
    }
    CHECK(failing == 10);  // three pieces, three calls each
    break;
  }
}

TEST_CASE("cuda pages: what a trim gives back the GPU has again, until the next launch") {
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

TEST_CASE(
    "cuda pages: a graph whose nodes are timed is trimmed and goes on, and its twin with it") {
  if (!have_gpu()) return;
  const NoTraceEnvironment none;
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
