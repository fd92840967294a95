// Forbidden accesses of kernels on the host device, and that correct kernels have none.
#include <doctest/doctest.h>

#include <signal.h>

#include <string>
#include <vector>

#include <faulty.shaders.hpp>
#include <reprise/reprise.hpp>

#include "support/dying_child.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {
namespace {

struct Pair {
  float first, second;
};

struct Checked {
  Instance instance{{.application = "checked", .on_message = [](const Message&) {}}};
  Device device = instance.open_device(DeviceSelector::named("host"));
  Queue queue = device.create_queue();
  std::shared_ptr<CapturePool> pool = device.create_pool({.label = "checked"});
  GpuRef<float> x = pool->allocate<float>(64, "x"), y = pool->allocate<float>(64, "y");

  [[nodiscard]] CapturedGraph compiled(const std::function<void(CommandBuffer&)>& record,
                                       const Lowering& lowering = Lowering::Auto) const {
    CommandBuffer commands = device.create_command_buffer();
    commands.begin();
    record(commands);
    commands.end();
    return device.compile(commands, {.pool = pool, .lowering = lowering});
  }
  void run(const std::function<void(CommandBuffer&)>& record) const {
    CapturedGraph graph = compiled(record);
    graph.launch(queue).wait();
  }
  template <class... Arguments>
  void dispatch(const KernelDesc& kernel, const DispatchDesc& shape,
                const Arguments&... arguments) const {
    run([&](CommandBuffer& cmd) { cmd.dispatch(device.load_kernel(kernel), shape, arguments...); });
  }
};

void check_fault(std::initializer_list<const char*> parts, const std::function<void()>& call) {
  const Error error = thrown_by(call);
  CHECK(error.code() == ErrorCode::UndeclaredAccess);
  const std::string text = error.what();
  INFO("text: ", text);
  for (const char* part : parts) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

const DispatchDesc kOne{.grid = 1, .block = 1};

}  // namespace

TEST_CASE("checked kernels: a block that accesses other bytes than by_block() declares is named") {
  const Checked t;
  const DispatchDesc desc{.grid = 2, .block = 32};
  CHECK_NOTHROW(t.dispatch(shaders::checked_right, desc, write(t.x).by_block(32)));
  CHECK_NOTHROW(t.dispatch(shaders::checked_right, desc, write(t.x).by_block(24, 16)));
  check_fault(
      {"kernel checked_right, block (1, 0, 0), thread (0, 0, 0): writes 4 bytes at offset 128",
       "outside of the bytes that by_block() declares for the block"},
      [&] { t.dispatch(shaders::checked_right, desc, write(t.x).by_block(64)); });
}

#if REPRISE_HAS_CUDA
TEST_CASE("checked kernels: a block that accesses other bytes than its PTX shows is named") {
  const Checked t;
  const Error error = thrown_by(
      [&] { t.dispatch(shaders::checked_other_code, {.grid = 2, .block = 32}, write(t.x)); });
  CHECK(error.code() == ErrorCode::Internal);
  const std::string text = error.what();
  INFO("text: ", text);
  CHECK(text.find("kernel checked_other_code, block (") != std::string::npos);
  CHECK(text.find("outside of the bytes that the kernel's PTX shows for the block") !=
        std::string::npos);
}

TEST_CASE(
    "checked kernels: a block that accesses the tile of another one is a fault of the analysis") {
  const Checked t;
  const DispatchDesc shape{.grid = {3, 4}, .block = {3, 2}};
  t.dispatch(shaders::checked_tiles, shape, write(t.x), false);
  const Error error =
      thrown_by([&] { t.dispatch(shaders::checked_tiles, shape, write(t.x), true); });
  CHECK(error.code() == ErrorCode::Internal);
  const std::string text = error.what();
  INFO("text: ", text);
  CHECK(text.find("outside of the bytes that the kernel's PTX shows for the block") !=
        std::string::npos);
}
#endif

TEST_CASE("checked kernels: accesses outside of a buffer name kernel, block, thread and source") {
  const Checked t;
  check_fault({"kernel checked_write, block (0, 0, 0), thread (0, 0, 0): writes 4 bytes at offset "
               "256 of buffer x (256 bytes), of which the dispatch declares [0, 256)",
               "checked_test.cpp:", "dispatch checked_write"},
              [&] { t.dispatch(shaders::checked_write, kOne, write(t.x), 64); });
  check_fault(
      {"thread (2, 0, 0): writes 4 bytes at offset 256 of buffer x", "; forbidden accesses: 2"},
      [&] { t.dispatch(shaders::checked_write, {.grid = 1, .block = 4}, write(t.x), 62); });
  check_fault({"reads 4 bytes at offset -4 of buffer x (256 bytes)"},
              [&] { t.dispatch(shaders::checked_read, kOne, read(t.x), write(t.y), -1); });
  check_fault({"block (1, 0, 0), thread (5, 0, 0): writes 4 bytes at offset 256 of buffer x"}, [&] {
    t.dispatch(shaders::checked_after_barrier, {.grid = 2, .block = 32}, write(t.x), 64u);
  });
}

TEST_CASE("checked kernels: a forbidden access in a segment is reported") {
  const Checked t;
  check_fault(
      {"writes 4 bytes at offset 256 of buffer x (256 bytes)", "dispatch checked_write"}, [&] {
        CapturedGraph graph = t.compiled(
            [&](CommandBuffer& cmd) {
              cmd.fill(t.x, 0.0f);
              cmd.dispatch(t.device.load_kernel(shaders::checked_write), kOne, write(t.x), 64);
            },
            Lowering::Persistent);
        REQUIRE(graph.report().segments.commands == 2);
        graph.launch(t.queue).wait();
      });
}

TEST_CASE("checked kernels: a declared part of a buffer, reads and atomics are checked") {
  const Checked t;
  check_fault({"writes 4 bytes at offset 160 of buffer x (256 bytes), of which the dispatch "
               "declares [32, 160)"},
              [&] { t.dispatch(shaders::checked_write, kOne, write(t.x.slice(8, 32)), 32); });
  check_fault({"writes 4 bytes at offset 12 of buffer x", "as read"},
              [&] { t.dispatch(shaders::checked_cast, kOne, read(t.x)); });
  const auto counts = t.pool->allocate<unsigned>(4, "counts");
  check_fault({"checked_atomic", "at offset 16 of buffer counts (16 bytes)"},
              [&] { t.dispatch(shaders::checked_atomic, kOne, read_write(counts), 4); });
}

TEST_CASE("checked kernels: a misaligned access is reported") {
  const Checked t;
  check_fault({"writes 4 bytes at offset 2 of buffer x", "the address is no multiple of 4"},
              [&] { t.dispatch(shaders::checked_misaligned, kOne, write(t.x)); });
}

TEST_CASE("checked kernels: memory of other buffers and of dead transients is reported") {
  const Checked t;
  const auto kept = t.pool->allocate<unsigned long long>(1, "kept");
  const Kernel keep = t.device.load_kernel(shaders::checked_keep),
               use = t.device.load_kernel(shaders::checked_use_kept);
  const auto big = t.pool->allocate<float>(4096, "big");
  check_fault({"checked_use_kept",
               "at offset 8 of buffer big (16384 bytes), which the dispatch "
               "does not declare"},
              [&] {
                t.run([&](CommandBuffer& cmd) {
                  cmd.dispatch(keep, kOne, write(big), write(kept));
                  cmd.dispatch(use, kOne, read(kept));
                });
              });
  const auto dead = t.pool->transient<float>(4096, "dead");
  check_fault({"at offset 8 of transient dead (16384 bytes), which the dispatch does not declare"},
              [&] {
                t.run([&](CommandBuffer& cmd) {
                  cmd.dispatch(keep, kOne, write(dead), write(kept));
                  cmd.copy(dead.slice(0, 64), t.y);
                  cmd.dispatch(use, kOne, read(kept));
                });
              });
}

TEST_CASE("checked kernels: dynamic shared memory ends at .shared_bytes") {
  const Checked t;
  const auto use = [&](unsigned index) {
    t.dispatch(shaders::checked_shared, {.grid = 1, .block = 1, .shared_bytes = 128}, write(t.y),
               index);
  };
  use(31);
  check_fault({"kernel checked_shared",
               "writes 4 bytes at offset 128 of the dynamic shared memory, "
               "of which the dispatch requests 128 bytes"},
              [&] { use(32); });
}

TEST_CASE("checked kernels: reads of bytes of a transient that the replay has not written") {
  const Checked t;
  const Kernel write_kernel = t.device.load_kernel(shaders::checked_write),
               read_kernel = t.device.load_kernel(shaders::checked_read);
  const auto scratch = t.pool->transient<float>(64, "scratch");
  const DispatchDesc half{.grid = 1, .block = 32};
  // Reads scratch[index] after `prepare` and the first half of a dispatch's writes.
  const auto graph_of = [&](const std::function<void(CommandBuffer&)>& prepare, int index) {
    return t.compiled([&, index](CommandBuffer& cmd) {
      prepare(cmd);
      cmd.dispatch(write_kernel, half, write(scratch), 0);
      cmd.dispatch(read_kernel, kOne, read(scratch), write(t.y), index);
    });
  };
  const auto nothing = [](CommandBuffer&) {};

  graph_of(nothing, 31).launch(t.queue).wait();
  CapturedGraph wrong = graph_of(nothing, 32);
  for (int replay = 0; replay < 2; ++replay) {
    const Error error = thrown_by([&] { wrong.launch(t.queue).wait(); });
    CHECK(error.code() == ErrorCode::UninitializedRead);
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find("kernel checked_read, block (0, 0, 0), thread (0, 0, 0): reads 4 bytes at "
                    "offset 128 of transient scratch (256 bytes)") != std::string::npos);
    CHECK(text.find("before any command of the replay has written them") != std::string::npos);
  }

  graph_of([&](CommandBuffer& cmd) { cmd.fill(scratch, 1.0f); }, 63).launch(t.queue).wait();
  graph_of([&](CommandBuffer& cmd) { cmd.copy(t.x, scratch); }, 63).launch(t.queue).wait();
  // A body writes, another one reads.
  const CommandBufferDesc secondary{.level = Level::Secondary};
  CommandBuffer fills = t.device.create_command_buffer(secondary),
                reads = t.device.create_command_buffer(secondary);
  fills.begin();
  fills.dispatch(write_kernel, half, write(scratch), 32);
  fills.end();
  reads.begin();
  reads.dispatch(read_kernel, kOne, read(scratch), write(t.y), 32);
  reads.end();
  t.run([&](CommandBuffer& cmd) {
    cmd.execute(fills, Nested);
    cmd.execute(reads, Nested);
  });
}

TEST_CASE("checked kernels: a rebound buffer is the one that is checked") {
  const Checked t;
  const auto larger = t.pool->allocate<float>(64, "larger");
  CapturedGraph graph = t.compiled([&](CommandBuffer& cmd) {
    cmd.dispatch(t.device.load_kernel(shaders::checked_write), kOne, write(t.x), 63);
  });
  graph.launch(t.queue).wait();
  static_cast<void>(graph.rebind(t.x, larger));
  graph.launch(t.queue).wait();
}

TEST_CASE("checked kernels: a correct kernel has no error, and the next replay starts afresh") {
  const Checked t;
  t.run([&](CommandBuffer& cmd) { cmd.fill(t.x, 2.0f); });
  t.dispatch(shaders::checked_correct, {.grid = 2, .block = 32, .shared_bytes = 32 * 4}, read(t.x),
             write(t.y), Pair{1, 5}, 64u);
  std::vector<float> found(64);
  t.run([&](CommandBuffer& cmd) { cmd.copy(t.y, borrowed(found)); });
  for (unsigned i = 0; i < 64; ++i) CHECK(found[i] == static_cast<float>(i % 4 + 1) + 5 + 2);
}

namespace {

// The text that a dispatch that a signal ends writes to stderr.
std::string message_of_signal(int expected, const std::function<void(const Checked&)>& dispatch) {
  return message_before_signal(expected, [&] { dispatch(Checked()); });
}

}  // namespace

TEST_CASE("checked kernels: a signal names the kernel") {
  const std::string divided = message_of_signal(SIGFPE, [](const Checked& t) {
    const auto x = t.pool->allocate<int>(1, "x");
    t.dispatch(shaders::checked_divide, kOne, read_write(x), 0);
  });
  CHECK(divided.find("reprise: a division by zero or its like in kernel checked_divide on the host "
                     "device, block (0, 0, 0), thread (0, 0, 0)") != std::string::npos);
  const std::string wild = message_of_signal(SIGSEGV, [](const Checked& t) {
    const auto address = t.pool->allocate<unsigned long long>(1, "address");
    t.run([&](CommandBuffer& cmd) {
      cmd.copy(snapshot(std::vector<unsigned long long>{0x1000}), address);
      cmd.dispatch(t.device.load_kernel(shaders::checked_wild), kOne, read(address));
    });
  });
  CHECK(wild.find("reprise: an access to address 0x1000 in kernel checked_wild") !=
        std::string::npos);
}

}  // namespace reprise::test
