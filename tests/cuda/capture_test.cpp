// Captures of an application's stream work, and graphs read back from CUDA.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <reprise/cuda_interop.hpp>

#include "base/handle_access.hpp"
#include "cuda/gpu.hpp"
#include "profile/describe_graph.hpp"
#include "runtime/graph/compiled_graph.hpp"

// A __global__ function of application.cu.
__attribute__((visibility("default"))) void application_scale(float* x, float factor, unsigned n);

namespace reprise::test {
namespace {

constexpr unsigned kFloats = 1000;
constexpr std::size_t kFloatBytes = kFloats * sizeof(float);

void scale(float* x, float factor, unsigned n, cudaStream_t stream) {
  void* arguments[] = {&x, &factor, &n};
  REQUIRE(cudaLaunchKernel(reinterpret_cast<const void*>(&application_scale),
                           dim3(ceil_div(n, 128)), dim3(128), arguments, 0, stream) == cudaSuccess);
}

// Loads the kernel before a capture, so that loading is not captured.
void load_scale() {
  cudaFuncAttributes attributes = {};
  REQUIRE(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&application_scale)) ==
          cudaSuccess);
}

// A second stream of the application, with events.
struct Side {
  cudaStream_t stream = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
  explicit Side(const Device& device) {
    const CurrentDevice current(device);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming) == cudaSuccess);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    CHECK(cudaEventDestroy(forked) == cudaSuccess);
    CHECK(cudaEventDestroy(joined) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  }
  void fork(cudaStream_t from) const {
    REQUIRE(cudaEventRecord(forked, from) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(stream, forked, 0) == cudaSuccess);
  }
  void join(cudaStream_t to) const {
    REQUIRE(cudaEventRecord(joined, stream) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(to, joined, 0) == cudaSuccess);
  }
};

[[nodiscard]] bool check_contains(std::string_view text, std::string_view part) {
  INFO("expected: ", std::string(part));
  INFO("in: ", std::string(text));
  const bool found = text.find(part) != std::string_view::npos;
  CHECK(found);
  return found;
}

[[nodiscard]] std::size_t count_of(const trace::GraphVersion& graph, trace::NodeKind kind) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [&](const trace::Node& node) { return node.kind == kind; }));
}

[[nodiscard]] trace::GraphVersion traced(const CapturedGraph& graph) {
  return detail::describe_graph(detail::core_of(graph)->plan(), {});
}

void count_call(void* counter) { ++*static_cast<int*>(counter); }

}  // namespace

TEST_CASE(
    "cuda capture: captured stream work becomes a graph whose nodes show names, parameters and "
    "edges" *
    doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const Side side(t.device);
  const CurrentDevice current(t.device);
  load_scale();
  const auto x = t.pool->allocate<float>(kFloats, "x"), y = t.pool->allocate<float>(kFloats, "y");
  const auto out = t.pool->host<float>(kFloats, "out");
  int called = 0;
  CHECK(capture_status(t.queue) == CaptureStatus::None);
  begin_capture(t.queue);
  const CUstream stream = native_stream(t.queue);
  CHECK(capture_status(t.queue) == CaptureStatus::Active);
  REQUIRE(cudaMemsetAsync(x.data(), 0, kFloatBytes, stream) == cudaSuccess);
  side.fork(stream);
  scale(x.data(), 3.0f, kFloats, stream);
  REQUIRE(cudaMemsetAsync(y.data(), 1, kFloatBytes, side.stream) == cudaSuccess);
  side.join(stream);
  REQUIRE(cudaMemcpyAsync(out.data(), y.data(), kFloatBytes, cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(stream, count_call, &called) == cudaSuccess);
  CapturedGraph graph = end_capture(t.queue, {.label = "step"});
  CHECK(capture_status(t.queue) == CaptureStatus::None);

  CHECK(graph.label() == "step");
  CHECK(graph.node_count() == 5);
  CHECK(graph.report().commands == 5);
  CHECK(graph.report().needed_edges == 5);
  CHECK(graph.pool_buffer_count() == 3);
  const std::string text = graph.to_text();
  CHECK(check_contains(text, "\"dispatch application_scale\""));
  CHECK(check_contains(text, "grid 8 1 1, block 128 1 1"));
  CHECK(check_contains(text, "value at 8: 00004040"));  // 3.0f
  CHECK(check_contains(text, "value at 12: e8030000"));
  CHECK(check_contains(text, "\"fill x\""));
  CHECK(check_contains(text, "\"copy y -> out\""));
  CHECK(check_contains(text, "needed: captured"));
  CHECK(check_contains(graph.to_dot(), "dispatch application_scale"));
  CHECK(check_contains(graph.to_dot(), "captured"));
  const trace::GraphVersion shown = traced(graph);
  CHECK(count_of(shown, trace::NodeKind::Dispatch) == 1);
  CHECK(count_of(shown, trace::NodeKind::Fill) == 2);
  CHECK(count_of(shown, trace::NodeKind::Copy) == 1);
  CHECK(count_of(shown, trace::NodeKind::Host) == 1);
  CHECK(std::all_of(shown.edges.begin(), shown.edges.end(), [](const trace::Edge& edge) {
    return edge.cause == trace::EdgeCause::Captured;
  }));
  CHECK(std::all_of(shown.accesses.begin(), shown.accesses.end(),
                    [](const trace::NodeAccess& access) { return access.inferred == 1; }));

  CHECK(called == 0);  // captured, not run
  graph.launch(t.queue).wait();
  graph.launch(t.queue).wait();
  CHECK(called == 2);
  CHECK(t.read(x) == std::vector<float>(kFloats, 0.0f));
  unsigned bits = 0;
  std::memcpy(&bits, out.data() + kFloats - 1, sizeof bits);
  CHECK(bits == 0x01010101);
}

TEST_CASE(
    "cuda capture: a captured graph retains the buffers of its nodes and is ordered with their "
    "other uses" *
    doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  load_scale();
  CapturedGraph graph;
  const Queue other = t.device.create_queue({.label = "other"});
  auto x = t.pool->allocate<float>(kFloats, "x");
  begin_capture(t.queue, CaptureMode::ThreadLocal);
  scale(x.data(), 2.0f, kFloats, native_stream(t.queue));
  graph = end_capture(t.queue);
  CapturedGraph set = t.compile([&](CommandBuffer& cmd) { cmd.fill(x, 1.0f); });
  CapturedGraph get =
      t.compile([&](CommandBuffer& cmd) { cmd.copy(x, t.pool->host<float>(kFloats, "copy")); });
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(set.launch(other));
    static_cast<void>(graph.launch(t.queue));
    static_cast<void>(get.launch(other));
  }
  other.wait_idle();
  CHECK(t.read(x) == std::vector<float>(kFloats, 2.0f));
  CHECK(error_of([&] { t.pool->clear(); }).code == ErrorCode::PoolInUse);
  x = {};
  graph.launch(t.queue).wait();
}

TEST_CASE("cuda capture: a graph retains the pool given at the end and every buffer in it" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  load_scale();
  const auto pool = t.device.create_pool({.label = "held"});
  auto x = pool->allocate<float>(kFloats, "x"), hidden = pool->allocate<float>(kFloats, "hidden");
  begin_capture(t.queue);
  scale(x.data(), 2.0f, kFloats, native_stream(t.queue));
  {
    CapturedGraph graph = end_capture_with_pool(t.queue, pool);
    CHECK(graph.pool() == pool);
    CHECK(graph.pool_buffer_count() == 2);
    x = {};
    hidden = {};
    CHECK(pool->buffer_count() == 2);
    CHECK(pool->live_graphs() == 1);
    graph.launch(t.queue).wait();
  }
  t.device.wait_idle();
  CHECK(pool->buffer_count() == 0);
  CHECK(error_of([&] { static_cast<void>(end_capture_with_pool(t.queue, nullptr)); }).code ==
        ErrorCode::InvalidArgument);
}

TEST_CASE("cuda capture: ending without a begin is unmatched, and beginning twice is refused" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CudaState before = cuda_state();
  CHECK(error_of([&] { static_cast<void>(end_capture(t.queue)); }).code ==
        ErrorCode::CaptureUnmatched);
  CHECK(error_of([] { begin_capture(Queue()); }).code == ErrorCode::NotInitialized);
  CHECK(error_of([] { static_cast<void>(end_capture(Queue())); }).code ==
        ErrorCode::NotInitialized);
  begin_capture(t.queue);
  CHECK(error_of([&] { begin_capture(t.queue); }).code == ErrorCode::InvalidState);
  CHECK(error_of([&] { static_cast<void>(StreamCapture::begin(t.queue)); }).code ==
        ErrorCode::InvalidState);
  CHECK(end_capture(t.queue).node_count() == 0);
  {
    const StreamCapture calls = StreamCapture::begin(t.queue);
    CHECK(error_of([&] { static_cast<void>(end_capture(t.queue)); }).code ==
          ErrorCode::CaptureUnmatched);
  }
  CHECK(error_of([&] { static_cast<void>(end_capture(t.queue)); }).code ==
        ErrorCode::CaptureUnmatched);
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda capture: an invalidated capture reports its cause, and the stream stays usable" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const Side side(t.device);
  const CurrentDevice current(t.device);
  load_scale();
  const auto x = t.pool->allocate<float>(kFloats, "x");
  const CUstream stream = native_stream(t.queue);
  CapturedGraph intruder = t.compile([&](CommandBuffer& cmd) { cmd.fill(x, 1.0f); });
  std::string text;

  SUBCASE("a call that captures forbid") {
    begin_capture(t.queue, CaptureMode::Global);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 64) == cudaErrorStreamCaptureUnsupported);
    static_cast<void>(cudaGetLastError());
    CHECK(capture_status(t.queue) == CaptureStatus::Invalidated);
    CHECK(error_of([&] { static_cast<void>(end_capture(t.queue)); }, &text).code ==
          ErrorCode::CaptureInvalidated);
    CHECK(check_contains(text, "queue"));
  }
  SUBCASE("unjoined work on another stream") {
    begin_capture(t.queue);
    side.fork(stream);
    REQUIRE(cudaMemsetAsync(x.data(), 0, kFloatBytes, side.stream) == cudaSuccess);
    CHECK(error_of([&] { static_cast<void>(end_capture(t.queue)); }, &text).code ==
          ErrorCode::CaptureInvalidated);
    CHECK(check_contains(text, "not joined"));
  }
  SUBCASE("a launch of the engine") {
    begin_capture(t.queue);
    CHECK(error_of([&] { static_cast<void>(intruder.launch(t.queue)); }).code ==
          ErrorCode::CapturingStream);
    CHECK(capture_status(t.queue) == CaptureStatus::Invalidated);
    CHECK(error_of([&] { static_cast<void>(end_capture(t.queue)); }, &text).code ==
          ErrorCode::CaptureInvalidated);
    CHECK(check_contains(text, "launch of graph test"));
  }
  SUBCASE("a launch of the engine that a relaxed capture tolerates") {
    begin_capture(t.queue, CaptureMode::Relaxed);
    CHECK(error_of([&] { static_cast<void>(intruder.launch(t.queue)); }).code ==
          ErrorCode::CapturingStream);
    REQUIRE(cudaMemsetAsync(x.data(), 0, kFloatBytes, stream) == cudaSuccess);
    CHECK(end_capture(t.queue).node_count() == 1);
  }
  static_cast<void>(cudaGetLastError());
  CHECK(capture_status(t.queue) == CaptureStatus::None);
  intruder.launch(t.queue).wait();
  CHECK(t.read(x) == std::vector<float>(kFloats, 1.0f));
}

TEST_CASE("cuda capture: an exception that leaves a scope drops the capture" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  load_scale();
  const auto x = t.pool->allocate<float>(kFloats, "x");
  const CudaState before = cuda_state();
  try {
    const CaptureScope scope(t.queue);
    scale(x.data(), 2.0f, kFloats, native_stream(t.queue));
    throw std::runtime_error("an error of the application");
  } catch (const std::runtime_error&) {
  }
  CHECK(capture_status(t.queue) == CaptureStatus::None);
  CHECK(cuda_state() == before);
  CaptureScope scope(t.queue, CaptureMode::ThreadLocal);
  scale(x.data(), 2.0f, kFloats, native_stream(t.queue));
  CapturedGraph graph = scope.end({.label = "scope"});
  CHECK(graph.node_count() == 1);
  CHECK(error_of([&] { static_cast<void>(scope.end()); }).code == ErrorCode::CaptureUnmatched);
  graph.launch(t.queue).wait();
}

TEST_CASE("cuda capture: cuda_debug_dot writes CUDA's own DOT output of a graph" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  load_scale();
  const auto x = t.pool->allocate<float>(kFloats, "x");
  begin_capture(t.queue);
  scale(x.data(), 2.0f, kFloats, native_stream(t.queue));
  const CapturedGraph graph = end_capture(t.queue);
  const auto print = [&](DotFlags flags) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / "reprise_cuda_debug_dot_test.dot";
    cuda_debug_dot(graph, path, flags);
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    file.close();
    std::filesystem::remove(path);
    return text;
  };
  const std::string plain = print(DotFlags::None), verbose = print(DotFlags::Verbose);
  CHECK(check_contains(plain, "digraph"));
  CHECK(check_contains(verbose, "application_scale"));
  CHECK(verbose.size() > plain.size());
  CHECK(to_cuda(DotFlags::KernelNodeParams | DotFlags::Accesses) ==
        CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS);
  const Device host =
      Instance({.validation = Validation::Off}).open_device(DeviceSelector::named("host"));
  CommandBuffer commands = host.create_command_buffer();
  commands.begin();
  commands.end();
  const CapturedGraph on_host = host.compile(commands);
  CHECK(error_of([&] { cuda_debug_dot(on_host, "x.dot"); }).code == ErrorCode::Unsupported);
}

TEST_CASE("cuda capture: captured calls may use application memory unknown to the engine" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  const Kernel kernel = kernel_from_symbol(t.device, &application_scale);
  float* theirs = nullptr;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&theirs), kFloatBytes) == cudaSuccess);
  std::vector<float> input(kFloats, 2.0f), output(kFloats);
  {
    StreamCapture capture = StreamCapture::begin(t.queue);
    capture.record_memcpy(MemcpyDirection::HostToDevice, theirs, input.data(), kFloatBytes);
    capture.record_kernel(kernel, {.grid = ceil_div(kFloats, 128), .block = 128}, theirs + 10, 3.0f,
                          kFloats - 10);
    capture.record_memcpy(MemcpyDirection::DeviceToHost, output.data(), theirs, kFloatBytes);
    CapturedGraph graph = capture.end();
    CHECK(graph.pool_buffer_count() == 1);  // one allocation, one buffer
    graph.launch(t.queue).wait();
  }
  for (unsigned i = 0; i < kFloats; ++i) REQUIRE(output[i] == (i < 10 ? 2.0f : 6.0f));
  CHECK(cudaFree(theirs) == cudaSuccess);
}

TEST_CASE("cuda capture: modes equal CUDA's") {
  CHECK(to_cuda(CaptureMode::Global) == CU_STREAM_CAPTURE_MODE_GLOBAL);
  CHECK(to_cuda(CaptureMode::ThreadLocal) == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CHECK(to_cuda(CaptureMode::Relaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
}

TEST_CASE("cuda capture: memory allocated in a capture and memory of the application are shown" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const Side side(t.device);
  const CurrentDevice current(t.device);
  load_scale();
  float* theirs = nullptr;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&theirs), kFloatBytes) == cudaSuccess);
  begin_capture(t.queue, CaptureMode::ThreadLocal);
  const CUstream stream = native_stream(t.queue);
  void* temporary = nullptr;
  REQUIRE(cudaMallocAsync(&temporary, kFloatBytes, stream) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(temporary, theirs, kFloatBytes, cudaMemcpyDeviceToDevice, stream) ==
          cudaSuccess);
  REQUIRE(cudaFreeAsync(temporary, stream) == cudaSuccess);
  REQUIRE(cudaEventRecordWithFlags(side.forked, stream, cudaEventRecordExternal) == cudaSuccess);
  scale(theirs, 2.0f, kFloats, stream);
  {
    // The graph is not copied: CUDA cannot copy graphs that allocate memory.
    CapturedGraph graph = end_capture(t.queue);
    CHECK(graph.node_count() == 5);
    CHECK(graph.pool_buffer_count() == 0);
    const std::string text = graph.to_text();
    CHECK(check_contains(text, "op memory allocation, 4000 bytes, allocation 1"));
    CHECK(check_contains(text, "op memory release, allocation 1"));
    CHECK(check_contains(text, "op event record, event 1"));
    CHECK(check_contains(graph.to_dot(DotFlags::MemAllocNodeParams), "4000 bytes"));
    CHECK(check_contains(text, "device memory 1"));
    graph.launch(t.queue).wait();
    graph.launch(t.queue).wait();
  }
  t.device.wait_idle();
  CHECK(cudaFree(theirs) == cudaSuccess);
}

TEST_CASE("cuda capture: an adopted graph shows child graphs as labels and pitched copies as rows" *
          doctest::test_suite("gpu")) {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  load_scale();
  const auto x = t.pool->allocate<float>(kFloats, "x"), y = t.pool->allocate<float>(kFloats, "y");
  cudaGraph_t child = nullptr, whole = nullptr;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  REQUIRE(cudaGraphCreate(&child, 0) == cudaSuccess);
  REQUIRE(cudaGraphCreate(&whole, 0) == cudaSuccess);
  const cudaMemsetParams set = {
      .dst = x.data(), .pitch = 0, .value = 7, .elementSize = 4, .width = kFloats, .height = 1};
  REQUIRE(cudaGraphAddMemsetNode(&a, child, nullptr, 0, &set) == cudaSuccess);
  REQUIRE(cudaGraphAddChildGraphNode(&b, whole, nullptr, 0, child) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&c, whole, &b, 1) == cudaSuccess);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = {x.data(), 100, 40, 10};
  copy.dstPtr = {y.data(), 200, 40, 10};
  copy.extent = {40, 10, 1};
  copy.kind = cudaMemcpyDeviceToDevice;
  REQUIRE(cudaGraphAddMemcpyNode(&d, whole, &c, 1, &copy) == cudaSuccess);
  {
    CapturedGraph graph = from_native(t.device, whole, {.label = "theirs"});
    CHECK(cudaGraphDestroy(whole) == cudaSuccess);
    CHECK(cudaGraphDestroy(child) == cudaSuccess);
    CHECK(graph.report().commands == 3);
    CHECK(graph.report().needed_edges == 2);
    const std::string text = graph.to_text();
    CHECK(check_contains(text, "\"fill x\" in \"child graph 1\""));
    CHECK(check_contains(text, "join"));
    CHECK(check_contains(text, "\"copy x -> y\""));
    CHECK(check_contains(text, "40 x 10 x 1 pitch 100"));
    CHECK(check_contains(text, "40 x 10 x 1 pitch 200"));
    const trace::GraphVersion shown = traced(graph);
    CHECK(count_of(shown, trace::NodeKind::Join) == 1);
    REQUIRE(shown.labels.size() == 2);
    CHECK(shown.strings[shown.labels[1].name] == "child graph 1");
    graph.launch(t.queue).wait();
  }
  std::vector<unsigned> words(kFloats);
  t.run([&](CommandBuffer& cmd) { cmd.copy(y, borrowed(words)); });
  CHECK(words[0] == 7);
  CHECK(words[50] == 7);
}

}  // namespace reprise::test
