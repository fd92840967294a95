#include <numeric>
#include <thread>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::stream_capture_test {
namespace {

constexpr std::uint32_t kCount = 300;

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "stream capture: kernels, copies and memsets with real addresses run in recorded order") {
  const Kernel add = kernel(shaders::conf_add);
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  std::vector<unsigned> input(kCount), output(kCount, 1);
  std::iota(input.begin(), input.end(), 5u);
  StreamCapture capture = StreamCapture::begin(queue, CaptureMode::Global, "step");
  CHECK(capture.status() == CaptureStatus::Active);
  CHECK(capture.mode() == CaptureMode::Global);
  CHECK(capture.recorded_count() == 0);
  capture.record_memset(y.data(), 0x01, y.bytes());
  capture.record_memcpy(MemcpyDirection::HostToDevice, x.data(), input.data(), x.bytes());
  capture.record_kernel(add, {.grid = ceil_div(kCount, 64), .block = 64}, x.data(), x.data(), 7u,
                        kCount);
  capture.record_memcpy(MemcpyDirection::DeviceToDevice, y.data() + 100, x.data(),
                        100 * sizeof(unsigned));
  capture.record_memcpy(MemcpyDirection::DeviceToHost, output.data(), y.data(), y.bytes());
  CHECK(capture.recorded_count() == 5);
  CapturedGraph graph = capture.end({.pool = pool});
  CHECK(capture.status() == CaptureStatus::None);
  CHECK(graph.label() == "step");
  CHECK(graph.node_count() == 5);
  CHECK(graph.report().needed_edges == 4);  // a chain
  CHECK(graph.pool_buffer_count() == 2);

  for (unsigned replay = 0; replay < 2; ++replay) {
    input[0] = 1000 + replay;  // host memory is read at each replay
    graph.launch(queue).wait();
    std::vector<unsigned> expected(kCount, 0x01010101);
    for (unsigned i = 0; i < 100; ++i) expected[100 + i] = input[i] + 7;
    CHECK(output == expected);
  }
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "stream capture: addresses inside a buffer, buffers and pinned memory are arguments too") {
  const Kernel add = kernel(shaders::conf_add);
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto pinned = pool->host<unsigned>(kCount, "pinned");
  StreamCapture capture = StreamCapture::begin(queue);
  capture.record_kernel(add, {.grid = 1, .block = 64}, x.data() + 10, x.data() + 10, 1u, 10u);
  capture.record_kernel(add, {.grid = 1, .block = 64}, x.slice(20, 10), x.slice(20, 10), 2u, 10u);
  capture.record_kernel(add, {.grid = 1, .block = 64}, read(x.slice(30, 10)),
                        write(x.slice(30, 10)), 3u, 10u);
  capture.record_memcpy(MemcpyDirection::DeviceToHost, pinned.data(), x.data(), x.bytes());
  CapturedGraph graph = capture.end();
  CHECK(graph.pool_buffer_count() == 2);
  graph.launch(queue).wait();
  for (unsigned i = 0; i < kCount; ++i) REQUIRE(pinned[i] == 1 + (i >= 10 && i < 40 ? i / 10 : 0));
}

TEST_CASE_FIXTURE(DeviceFixture, "stream capture: the graph retains the objects of its commands") {
  CapturedGraph graph;
  auto output = pool->host<unsigned>(kCount, "output");
  {
    const auto x = pool->allocate<unsigned>(kCount, "x");
    StreamCapture capture = StreamCapture::begin(queue);
    capture.record_memset(x.data(), 3, x.bytes());
    capture.record_memcpy(MemcpyDirection::DeviceToHost, output.data(), x.data(), x.bytes());
    graph = capture.end();
  }
  CHECK(pool->buffer_count() == 2);
  check_refused(ErrorCode::PoolInUse, {"graph capture"}, [&] { pool->clear(); });
  graph.launch(queue).wait();
  CHECK(output[kCount - 1] == 0x03030303);
}

TEST_CASE_FIXTURE(DeviceFixture, "stream capture: a refused call leaves the capture unchanged") {
  const Kernel add = kernel(shaders::conf_add);
  const auto x = pool->allocate<unsigned>(kCount, "x");
  std::vector<unsigned> elsewhere(kCount);
  StreamCapture capture = StreamCapture::begin(queue, CaptureMode::ThreadLocal, "step");
  const DispatchDesc desc{.grid = 1, .block = 64};
  check_refused(ErrorCode::InvalidArgument, {"argument 0 of kernel conf_add", "buffer"},
                [&] { capture.record_kernel(add, desc, elsewhere.data(), x.data(), 1u, 1u); });
  check_refused(ErrorCode::InvalidArgument, {"argument 0", "null"}, [&] {
    capture.record_kernel(add, desc, static_cast<unsigned*>(nullptr), x.data(), 1u, 1u);
  });
  check_refused(ErrorCode::ArgumentCount, {"conf_add"},
                [&] { capture.record_kernel(add, desc, x.data(), x.data(), 1u); });
  check_refused(ErrorCode::ArgumentSize, {"conf_add"},
                [&] { capture.record_kernel(add, desc, x.data(), 1u, 1u, 1u); });
  check_refused(ErrorCode::OutOfRange, {"memset", "x"},
                [&] { capture.record_memset(x.data() + 1, 0, x.bytes()); });
  check_refused(ErrorCode::OutOfRange, {"source", "x"}, [&] {
    capture.record_memcpy(MemcpyDirection::DeviceToHost, elsewhere.data(), x.data(), x.bytes() + 1);
  });
  check_refused(ErrorCode::InvalidArgument, {}, [&] {
    capture.record_memcpy(MemcpyDirection::HostToDevice, x.data(), nullptr, 4);
  });
  check_refused(ErrorCode::InvalidArgument, {"source"}, [&] {
    capture.record_memcpy(MemcpyDirection::DeviceToDevice, x.data(), elsewhere.data(), 4);
  });
  CHECK(capture.recorded_count() == 0);
  CHECK(capture.status() == CaptureStatus::Active);
  capture.record_memset(x.data(), 1, x.bytes());
  CapturedGraph graph = capture.end();
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 0x01010101));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "stream capture: ending twice, or use after the end, is CaptureUnmatched") {
  StreamCapture capture = StreamCapture::begin(queue);
  CapturedGraph empty = capture.end();
  CHECK(empty.node_count() == 0);
  check_refused(ErrorCode::CaptureUnmatched, {"end"}, [&] { static_cast<void>(capture.end()); });
  check_refused(ErrorCode::CaptureUnmatched, {"record_memset"},
                [&] { capture.record_memset(&capture, 0, 4); });
  check_refused(ErrorCode::CaptureUnmatched, {"recorded_count"},
                [&] { static_cast<void>(capture.recorded_count()); });
  check_refused(ErrorCode::NotInitialized, {"Queue"},
                [&] { static_cast<void>(StreamCapture::begin(Queue())); });
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "stream capture: one capture per queue, and launches are refused until it ends") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording({.label = "other"});
  cmd.fill(x, 1u);
  CapturedGraph other = compile(cmd);
  const Queue second = device.create_queue({.label = "second"});
  {
    const StreamCapture capture = StreamCapture::begin(queue, CaptureMode::Relaxed, "first");
    check_refused(ErrorCode::InvalidState, {"first", "main"},
                  [&] { static_cast<void>(StreamCapture::begin(queue)); });
    check_refused(ErrorCode::CapturingStream, {"other", "main", "first"},
                  [&] { static_cast<void>(other.launch(queue)); });
    check_refused(ErrorCode::CapturingStream, {"upload", "other"}, [&] { other.upload(queue); });
    CHECK(capture.status() == CaptureStatus::Active);  // relaxed: unaffected
    other.launch(second).wait();
  }  // the destructor abandons the capture
  other.launch(queue).wait();
  CHECK(other.num_replays() == 2);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "stream capture: an exception in its scope leaves the queue usable") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  try {
    StreamCapture capture = StreamCapture::begin(queue);
    capture.record_memset(x.data(), 1, x.bytes());
    throw std::runtime_error("the application's own");
  } catch (const std::runtime_error&) {
  }
  run([&](CommandBuffer& cmd) { cmd.fill(x, 4u); });
  CHECK(values(x) == std::vector<unsigned>(kCount, 4));
}

TEST_CASE_FIXTURE(DeviceFixture, "stream capture: end() names the cause of invalidation") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording({.label = "intruder"});
  cmd.fill(x, 1u);
  CapturedGraph intruder = compile(cmd);
  const auto launch = [&] {
    check_refused(ErrorCode::CapturingStream, {"intruder"},
                  [&] { static_cast<void>(intruder.launch(queue)); });
  };
  const auto launch_elsewhere = [&] { std::thread(launch).join(); };
  const auto outcome = [&](CaptureMode mode, const std::function<void()>& act) {
    StreamCapture capture = StreamCapture::begin(queue, mode, "step");
    act();
    const CaptureStatus status = capture.status();
    if (status == CaptureStatus::Invalidated) {
      check_refused(ErrorCode::CaptureInvalidated,
                    {"step", "launch of graph intruder", "queue main"},
                    [&] { static_cast<void>(capture.end()); });
    } else {
      static_cast<void>(capture.end());
    }
    intruder.launch(queue).wait();  // usable in either case
    return status;
  };
  CHECK(outcome(CaptureMode::Global, launch) == CaptureStatus::Invalidated);
  CHECK(outcome(CaptureMode::Global, launch_elsewhere) == CaptureStatus::Invalidated);
  CHECK(outcome(CaptureMode::ThreadLocal, launch) == CaptureStatus::Invalidated);
  CHECK(outcome(CaptureMode::ThreadLocal, launch_elsewhere) == CaptureStatus::Active);
  CHECK(outcome(CaptureMode::Relaxed, launch) == CaptureStatus::Active);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "stream capture: only a relaxed capture may end on another thread") {
  for (const CaptureMode mode : {CaptureMode::Global, CaptureMode::ThreadLocal}) {
    StreamCapture capture = StreamCapture::begin(queue, mode);
    std::thread([&] {
      check_refused(ErrorCode::InvalidState, {"thread"}, [&] { static_cast<void>(capture.end()); });
    }).join();
    static_cast<void>(capture.end());
  }
  StreamCapture capture = StreamCapture::begin(queue, CaptureMode::Relaxed);
  std::thread([&] { static_cast<void>(capture.end()); }).join();
  CHECK(capture.status() == CaptureStatus::None);
}

}  // namespace reprise::test::stream_capture_test
