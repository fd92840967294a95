#include "blocks.shaders.hpp"
#include "conformance/device_fixture.hpp"

namespace reprise::test::shared_memory_test {

TEST_CASE_FIXTURE(DeviceFixture, "shared memory: a static tile is transposed across a barrier") {
  constexpr unsigned kSize = 64;
  const auto in =
      buffer(generated<unsigned>(kSize * kSize,
                                 [](std::size_t i) { return static_cast<unsigned>(i * i); }),
             "in");
  const auto out = pool->allocate<unsigned>(kSize * kSize, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_transpose),
                 {.grid = {kSize / 16, kSize / 16}, .block = {16, 16}}, read(in), write(out),
                 kSize);
  });
  const auto found = values(out);
  bool all_right = true;
  for (unsigned y = 0; y < kSize; ++y)
    for (unsigned x = 0; x < kSize; ++x)
      all_right = all_right && found[y * kSize + x] == (x * kSize + y) * (x * kSize + y);
  CHECK(all_right);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "shared memory: dynamic shared memory has the dispatched size, separately for each block") {
  constexpr unsigned kBlocks = 9, kThreads = 256;
  const auto in =
      buffer(generated<unsigned>(kBlocks * kThreads,
                                 [](std::size_t i) { return static_cast<unsigned>(i % 101); }),
             "in");
  const auto out = pool->allocate<unsigned>(kBlocks, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_block_sum),
                 {.grid = kBlocks, .block = kThreads, .shared_bytes = kThreads * 4}, read(in),
                 write(out));
  });
  std::vector<unsigned> expected(kBlocks, 0);
  for (unsigned i = 0; i < kBlocks * kThreads; ++i) expected[i / kThreads] += i % 101;
  CHECK(values(out) == expected);
}

TEST_CASE_FIXTURE(DeviceFixture, "shared memory: extern arrays are the dynamic shared memory") {
  constexpr unsigned kBlocks = 5, kThreads = 64;
  std::vector<double> given(kBlocks * kThreads), expected(given.size());
  for (unsigned i = 0; i < given.size(); ++i) {
    given[i] = i;
    expected[i] = i / kThreads * kThreads + (kThreads - 1 - i % kThreads);
  }
  const auto in = buffer(given, "in");
  const auto out = pool->allocate<double>(given.size(), "out");
  const auto words = pool->allocate<unsigned>(kThreads, "words");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_reverse_extern),
                 {.grid = kBlocks, .block = kThreads, .shared_bytes = kThreads * 8}, read(in),
                 write(out));
    cmd.dispatch(kernel(shaders::conf_extern_names),
                 {.grid = 1, .block = kThreads, .shared_bytes = kThreads * 4}, write(words));
  });
  CHECK(values(out) == expected);
  CHECK(values(words) == std::vector<unsigned>(kThreads, 0x01010101u));
}

TEST_CASE_FIXTURE(DeviceFixture, "shared memory: the whole opt-in maximum, more than 48 KB") {
  const std::uint32_t words = device.info().limits.max_shared_bytes / 4;
  REQUIRE(words * 4 > 48 * 1024);
  const auto out = pool->allocate<unsigned>(words, "out");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_reverse_large),
                 {.grid = 1, .block = 128, .shared_bytes = words * 4}, write(out), words);
  });
  CHECK(values(out) == generated<unsigned>(words, [words](std::size_t i) {
          return (words - 1 - static_cast<unsigned>(i)) * 7 + 1;
        }));
}

TEST_CASE_FIXTURE(DeviceFixture, "shared memory: two sizes of one kernel in one graph") {
  const auto a = pool->allocate<unsigned>(16384, "a");
  const auto b = pool->allocate<unsigned>(100, "b");
  const Kernel reverse = kernel(shaders::conf_reverse_large);
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(reverse, {.grid = 1, .block = 64, .shared_bytes = 16384 * 4}, write(a), 16384u);
    cmd.dispatch(reverse, {.grid = 1, .block = 64, .shared_bytes = 400}, write(b), 100u);
  });
  CHECK(values(a)[0] == 16383 * 7 + 1);
  CHECK(values(b) == generated<unsigned>(100, [](std::size_t i) {
          return (99 - static_cast<unsigned>(i)) * 7 + 1;
        }));
}

}  // namespace reprise::test::shared_memory_test
