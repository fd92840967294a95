// CudaQueue on a fake driver that the test controls. Needs no GPU.
#include <memory>
#include <thread>
#include <vector>

#include "backend/callback_errors.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "cuda/fake_driver.hpp"
#include "cuda/gpu.hpp"
#include "support/counting_allocator.hpp"

namespace reprise::test {
namespace {

using detail::CudaQueue;

constexpr std::uint64_t kRing = CudaQueue::kRing;
const CUgraphExec kExec = reinterpret_cast<CUgraphExec>(0x2000);

std::uint64_t launch(CudaQueue& queue, std::uint64_t times = 1) {
  std::uint64_t serial = 0;
  for (std::uint64_t i = 0; i < times; ++i) serial = queue.launch(kExec);
  return serial;
}

}  // namespace

TEST_CASE("queue on a fake driver: a serial completes exactly with its launch") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "q");
  const auto stream = static_cast<CUstream>(queue.native());
  CHECK(launch(queue) == 1);
  CHECK(launch(queue) == 2);
  CHECK_FALSE(queue.done(1));
  CHECK_FALSE(queue.wait(1, std::chrono::microseconds(100)));
  driver.finish(stream, 1);
  CHECK(queue.done(1));
  CHECK_FALSE(queue.done(2));
  CHECK_FALSE(queue.done(3));  // not launched yet
  driver.finish(stream, 2);
  CHECK(queue.wait(2, std::nullopt));
  CHECK(queue.last_serial() == 2);
  CHECK(driver.counts().pushed_contexts == 0);
}

TEST_CASE("queue on a fake driver: in a host callback, a query does not call the driver") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "q");
  static_cast<void>(launch(queue, 2));
  driver.finish(static_cast<CUstream>(queue.native()), 1);
  CHECK(queue.done(1));
  driver.finish_all(true);
  bool known = false, unknown = true;
  detail::CallbackErrors().run([&] { known = queue.done(1), unknown = queue.done(2); }, 1, 0);
  CHECK(known);
  CHECK_FALSE(unknown);
  CHECK(queue.done(2));
}

TEST_CASE("queue on a fake driver: a full ring waits for its oldest launch only") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "q");
  const auto stream = static_cast<CUstream>(queue.native());
  CHECK(launch(queue, kRing) == kRing);
  CHECK(driver.counts().synchronised == 0);
  std::thread next([&] { CHECK(launch(queue) == kRing + 1); });
  while (driver.counts().synchronised == 0) std::this_thread::yield();
  CHECK(driver.counts().launches == kRing);
  driver.finish(stream, 1);
  next.join();
  CHECK(queue.done(1));
  CHECK_FALSE(queue.done(2));
  CHECK_FALSE(queue.done(kRing + 1));
  driver.finish(stream, kRing + 1);
  CHECK(queue.done(kRing + 1));
}

TEST_CASE(
    "queue on a fake driver: a thread that waits for the launch whose event is reused next wakes "
    "first") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "q");
  const auto stream = static_cast<CUstream>(queue.native());
  static_cast<void>(launch(queue, kRing));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { CHECK(queue.wait(1, std::nullopt)); });
  while (driver.counts().synchronised < 3) std::this_thread::yield();
  threads.emplace_back([&] { CHECK(launch(queue) == kRing + 1); });
  while (driver.counts().synchronised < 4) std::this_thread::yield();
  driver.finish(stream, 1);
  for (std::thread& thread : threads) thread.join();
  CHECK(driver.counts().launches == kRing + 1);
}

TEST_CASE(
    "queue on a fake driver: with fast launches the ring never blocks and nothing is allocated") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "q");
  driver.finish_all(true);
  static_cast<void>(launch(queue, 10));
  const std::uint64_t before = allocations_of_this_thread();
  const std::uint64_t last = launch(queue, 10 * kRing);
  CHECK(allocations_of_this_thread() == before);
  CHECK(last == 10 + 10 * kRing);
  CHECK(driver.counts().synchronised == 0);
  CHECK(queue.done(last));
}

TEST_CASE("queue on a fake driver: a queue waits only for incomplete work of another queue") {
  FakeDriver driver;
  CudaQueue first(driver.context(), "first"), second(driver.context(), "second");
  const auto stream = static_cast<CUstream>(first.native());
  static_cast<void>(launch(first, 2));
  driver.finish(stream, 1);
  CHECK(first.done(1));
  second.wait_for(first, 1);
  second.wait_for(second, 1);
  CHECK(driver.counts().stream_waits == 0);
  second.wait_for(first, 2);
  CHECK(driver.counts().stream_waits == 1);
  CHECK(first.mark() == 3);
  CHECK(driver.counts().launches == 2);
}

TEST_CASE("queue on a fake driver: a capturing stream refuses launch, upload, mark and wait") {
  FakeDriver driver;
  CUstream theirs = nullptr;
  REQUIRE(driver.context()->driver.cuStreamCreate(&theirs, 0) == CUDA_SUCCESS);
  {
    CudaQueue adopted(driver.context(), theirs, "theirs"), own(driver.context(), "own");
    static_cast<void>(launch(own));
    driver.set_capturing(true);
    CHECK(error_of([&] { static_cast<void>(launch(adopted)); }).code == ErrorCode::CapturingStream);
    CHECK(error_of([&] { adopted.require_stream(Stage::Upload); }).code ==
          ErrorCode::CapturingStream);
    CHECK(error_of([&] { static_cast<void>(adopted.mark()); }).code == ErrorCode::CapturingStream);
    CHECK(error_of([&] { adopted.wait_for(own, 1); }).code == ErrorCode::CapturingStream);
    CHECK(adopted.last_serial() == 0);
    CHECK(launch(own) == 2);  // its stream is not shared
    static_cast<void>(own.native());
    CHECK(error_of([&] { static_cast<void>(launch(own)); }).code == ErrorCode::CapturingStream);
    driver.set_capturing(false);
    CHECK(launch(adopted) == 1);
  }
  CHECK(driver.counts().events_alive == 0);
  CHECK(driver.counts().streams_alive == 1);  // the adopted one
  CHECK(driver.context()->driver.cuStreamDestroy(theirs) == CUDA_SUCCESS);
  CHECK(driver.counts().pushed_contexts == 0);
}

TEST_CASE("queue on a fake driver: a released stream is not destroyed") {
  FakeDriver driver;
  CUstream stream = nullptr;
  {
    CudaQueue queue(driver.context(), "q");
    stream = queue.release();
  }
  CHECK(driver.counts().streams_alive == 1);
  CHECK(driver.context()->driver.cuStreamDestroy(stream) == CUDA_SUCCESS);
}

TEST_CASE(
    "queue on a fake driver: after drop_native() it never uses an adopted stream, whose work can "
    "still be waited for") {
  FakeDriver driver;
  const detail::CudaDriver& calls = driver.context()->driver;
  CUstream theirs = nullptr;
  REQUIRE(calls.cuStreamCreate(&theirs, 0) == CUDA_SUCCESS);
  CudaQueue own(driver.context(), "own");
  {
    CudaQueue adopted(driver.context(), theirs, "theirs");
    CHECK(launch(adopted) == 1);
    CHECK(adopted.drop_native() == 2);
    CHECK(calls.cuStreamDestroy(theirs) == CUDA_SUCCESS);
    CHECK(adopted.drop_native() == 2);
    CHECK(adopted.mark() == 2);
    CHECK(error_of([&] { static_cast<void>(launch(adopted)); }).code == ErrorCode::StaleHandle);
    own.wait_for(adopted, 2);
    CHECK(driver.counts().stream_waits == 1);
    CHECK_FALSE(adopted.done(2));
    driver.finish(theirs, 1);
    CHECK(adopted.wait(2, std::nullopt));
  }
  CHECK(launch(own) == 1);
  CHECK(own.drop_native() == std::nullopt);  // its own stream
  CHECK(launch(own) == 2);
  CHECK(driver.counts().destroyed_streams_used == 0);
}

TEST_CASE(
    "queue on a fake driver: drop_native() leaves a queue without submissions, and a capture, "
    "alone") {
  FakeDriver driver;
  CUstream theirs = nullptr;
  REQUIRE(driver.context()->driver.cuStreamCreate(&theirs, 0) == CUDA_SUCCESS);
  CudaQueue unused(driver.context(), theirs, "unused"), used(driver.context(), theirs, "used");
  CHECK(unused.drop_native() == 0);
  CHECK(launch(used) == 1);
  driver.set_capturing(true);
  CHECK(used.drop_native() == 1);
  driver.set_capturing(false);
  CHECK(driver.context()->driver.cuStreamDestroy(theirs) == CUDA_SUCCESS);
}

TEST_CASE("queue on a fake driver: a failed launch has no serial") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "main");
  CHECK(launch(queue) == 1);
  driver.fail_launches(CUDA_ERROR_INVALID_VALUE);
  std::string text;
  CHECK(error_of([&] { static_cast<void>(launch(queue)); }, &text).code ==
        ErrorCode::NativeFailure);
  CHECK(text.find("queue \"main\"") != std::string::npos);
  driver.fail_launches(CUDA_SUCCESS);
  CHECK(launch(queue) == 2);
  CHECK_FALSE(driver.context()->status->lost);
}

TEST_CASE(
    "queue on a fake driver: every call reports a sticky error as DeviceLost, and completed work "
    "stays complete") {
  FakeDriver driver;
  CudaQueue queue(driver.context(), "q");
  const auto stream = static_cast<CUstream>(queue.native());
  static_cast<void>(launch(queue, 2));
  driver.finish(stream, 1);
  CHECK(queue.done(1));
  driver.fail_events(CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(error_of([&] { static_cast<void>(queue.done(2)); }).code == ErrorCode::DeviceLost);
  CHECK(driver.context()->status->lost);
  CHECK(driver.context()->status->generation == 2);
  CHECK(error_of([&] { static_cast<void>(queue.wait(2, std::nullopt)); }).code ==
        ErrorCode::DeviceLost);
  CHECK(error_of([&] { static_cast<void>(queue.wait(2, std::chrono::seconds(1))); }).code ==
        ErrorCode::DeviceLost);
  CHECK(queue.done(1));
  CHECK(driver.context()->status->generation == 2);
  CHECK(driver.counts().pushed_contexts == 0);
}

TEST_CASE(
    "queue on a fake driver: a graph with conditionals waits for the last one of another queue") {
  FakeDriver driver;
  CudaQueue a(driver.context(), "a");
  const auto b = std::make_unique<CudaQueue>(driver.context(), "b");
  static_cast<void>(a.launch_conditional(kExec));
  static_cast<void>(a.launch_conditional(kExec));
  static_cast<void>(b->launch(kExec));  // has none
  CHECK(driver.counts().stream_waits == 0);
  static_cast<void>(b->launch_conditional(kExec));
  CHECK(driver.counts().stream_waits == 1);
  static_cast<void>(a.launch_conditional(kExec));
  CHECK(driver.counts().stream_waits == 2);
  driver.finish(static_cast<CUstream>(a.native()), 3);
  CHECK(a.done(3));
  static_cast<void>(b->launch_conditional(kExec));
  CHECK(driver.counts().stream_waits == 2);  // nothing left to wait for
}

TEST_CASE("queue on a fake driver: a queue that is gone is not waited for") {
  FakeDriver driver;
  CudaQueue a(driver.context(), "a");
  {
    CudaQueue b(driver.context(), "b");
    static_cast<void>(b.launch_conditional(kExec));
    driver.finish(static_cast<CUstream>(b.native()), 1);
  }
  static_cast<void>(a.launch_conditional(kExec));
  CHECK(driver.counts().stream_waits == 0);
}

}  // namespace reprise::test
