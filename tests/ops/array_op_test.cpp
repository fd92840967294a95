#include <reprise/ops/array_op.hpp>
#include <reprise/ops/memcpy_op.hpp>

#include <algorithm>
#include <numeric>

#include "conformance/device_fixture.hpp"
#include "ops/as_on_gpu.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

const std::size_t kCounts[] = {1, 2, 31, 1000, 70000};

// Whole numbers with many duplicates.
template <class T>
std::vector<T> numbers(std::size_t count) {
  std::uint32_t state = 77;
  return generated<T>(count, [&](std::size_t) {
    state = state * 1664525u + 1013904223u;
    const int value = static_cast<int>(state >> 16) % 2001;
    return static_cast<T>(std::is_unsigned_v<T> ? value : value - 1000);
  });
}

}  // namespace

TEST_CASE_TEMPLATE("array: sums, minima and maxima", T, float, double, std::int32_t,
                   std::uint32_t) {
  DeviceFixture f;
  for (const std::size_t count : kCounts) {
    const std::vector<T> in = numbers<T>(count);
    const auto x = f.buffer(in, "x");
    const auto out = f.pool->allocate<T>(3, "out");
    const ReduceOp sum(x, out.slice(0, 1)), min(x, out.slice(1, 1), ReduceKind::Min),
        max(x, out.slice(2, 1), ReduceKind::Max);
    // Within 2^24: exact in every type.
    const auto expected = std::vector<T>{std::accumulate(in.begin(), in.end(), T{0}),
                                         *std::min_element(in.begin(), in.end()),
                                         *std::max_element(in.begin(), in.end())};
    INFO("count ", count);
    check_both_ways(f.device, count <= 4096, [&](const AddOp& add) {
      f.run([&](CommandBuffer& cmd) {
        for (const ReduceOp* const op : {&sum, &min, &max}) add(cmd, *op);
      });
      if (count < 10000 || !std::is_same_v<T, float>) CHECK(f.values(out) == expected);
    });
  }
}

TEST_CASE_TEMPLATE("array: scans, also in place, in repeated replays", T, float, double,
                   std::int32_t, std::uint32_t) {
  DeviceFixture f;
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{5000}}) {
    const std::vector<T> in = numbers<T>(count);
    std::vector<T> inclusive(count), exclusive(count, T{0}), twice(count);
    std::partial_sum(in.begin(), in.end(), inclusive.begin());
    std::copy(inclusive.begin(), inclusive.end() - 1, exclusive.begin() + 1);
    const auto x = f.buffer(in, "x");
    const auto y = f.pool->allocate<T>(count, "y"), z = f.pool->allocate<T>(count, "z");
    const ScanOp before(x, y), in_place(z, z, ScanKind::Inclusive);
    check_both_ways(f.device, count <= 4096, [&](const AddOp& add) {
      CommandBuffer cmd = f.recording();
      cmd.copy(x, z);
      add(cmd, before);
      add(cmd, in_place);
      CapturedGraph graph = f.compile(cmd);
      for (int replay = 0; replay < 2; ++replay) graph.launch(f.queue).wait();
      CHECK(f.values(y) == exclusive);
      CHECK(f.values(z) == inclusive);
    });
  }
}

TEST_CASE_TEMPLATE("array: ascending and descending sorts, with the index of each value", T, float,
                   double, std::int32_t, std::uint32_t) {
  DeviceFixture f;
  for (const std::size_t count : kCounts) {
    const std::vector<T> in = numbers<T>(count);
    for (const SortOrder order : {SortOrder::Ascending, SortOrder::Descending}) {
      std::vector<std::uint32_t> indices(count);
      std::iota(indices.begin(), indices.end(), 0u);
      std::stable_sort(indices.begin(), indices.end(), [&](std::uint32_t a, std::uint32_t b) {
        return order == SortOrder::Ascending ? in[a] < in[b] : in[b] < in[a];
      });
      const auto expected = generated<T>(count, [&](std::size_t i) { return in[indices[i]]; });
      const auto x = f.buffer(in, "x");
      const auto keys = f.pool->allocate<T>(count, "keys"),
                 sorted = f.pool->allocate<T>(count, "sorted");
      const auto from = f.pool->allocate<std::uint32_t>(count, "from");
      f.run([&](CommandBuffer& cmd) {
        cmd.add(SortOp(x, keys, order));
        cmd.add(SortOp(x, sorted, from, order));
      });
      INFO("count ", count);
      CHECK(f.values(keys) == expected);
      CHECK(f.values(sorted) == expected);
      CHECK(f.values(from) == indices);
      CHECK(f.values(x) == in);
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "array: an invalid reduction, scan or sort is refused") {
  const auto x = pool->allocate<float>(16, "x"), y = pool->allocate<float>(16, "y");
  const auto i = pool->allocate<std::uint32_t>(15, "i");
  check_refused(ErrorCode::InvalidArgument, {"reduce", "16 values"},
                [&] { static_cast<void>(ReduceOp(x, y)); });
  check_refused(ErrorCode::InvalidArgument, {"reduce", "the type is 9"}, [&] {
    static_cast<void>(ReduceOp(x, y, static_cast<ArrayType>(9), ReduceKind::Sum));
  });
  check_refused(ErrorCode::InvalidArgument, {"reduce", "the kind is 9"},
                [&] { static_cast<void>(ReduceOp(x, y, static_cast<ReduceKind>(9))); });
  check_refused(ErrorCode::Overlap, {"reduce"},
                [&] { static_cast<void>(ReduceOp(x, x.slice(3, 1))); });
  check_refused(ErrorCode::InvalidArgument, {"scan", "no values"},
                [&] { static_cast<void>(ScanOp(x.slice(0, 0), y)); });
  check_refused(ErrorCode::Overlap, {"scan"},
                [&] { static_cast<void>(ScanOp(x.slice(0, 8), x.slice(4, 8))); });
  check_refused(ErrorCode::InvalidArgument, {"sort", "8 values"},
                [&] { static_cast<void>(SortOp(x, y.slice(0, 8))); });
  check_refused(ErrorCode::InvalidArgument, {"sort", "15 indices"},
                [&] { static_cast<void>(SortOp(x, y, i)); });
  check_refused(ErrorCode::Overlap, {"sort"}, [&] { static_cast<void>(SortOp(x, x)); });
  check_refused(ErrorCode::NotInitialized, {"sort", "empty buffer"},
                [&] { static_cast<void>(SortOp(GpuRef<float>(), y)); });
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "memcpy: moves bytes in any direction and refuses an invalid copy") {
  const auto in =
      generated<unsigned>(300000, [](std::size_t k) { return static_cast<unsigned>(k * 7919); });
  const auto from = pool->host<unsigned>(300000, "from"), to = pool->host<unsigned>(300000, "to");
  const auto x = pool->allocate<unsigned>(300000, "x"), y = pool->transient<unsigned>(300000, "y");
  std::copy(in.begin(), in.end(), from.span().begin());
  run([&](CommandBuffer& cmd) {
    cmd.add(MemcpyOp({.source = from, .destination = x}));
    cmd.add(MemcpyOp({.source = x, .destination = y}));
    cmd.add(MemcpyOp({.source = y, .destination = to}));
  });
  CHECK(std::equal(in.begin(), in.end(), to.span().begin()));
  check_refused(
      ErrorCode::InvalidArgument, {"memcpy", "the source x has 40 bytes and the destination x 44"},
      [&] {
        static_cast<void>(MemcpyOp({.source = x.slice(0, 10), .destination = x.slice(20, 11)}));
      });
  check_refused(ErrorCode::Overlap, {"memcpy", "x"}, [&] {
    static_cast<void>(MemcpyOp({.source = x.slice(0, 10), .destination = x.slice(9, 10)}));
  });
  check_refused(ErrorCode::NotInitialized, {"memcpy", "empty buffer"},
                [&] { static_cast<void>(MemcpyOp({.source = x})); });
}
