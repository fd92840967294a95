// Adopting and releasing streams, memory, kernels and graphs of the application.
#include <atomic>
#include <numeric>

#include <gpu_kernels.shaders.hpp>
#include <reprise/cuda_interop.hpp>

#include "cuda/application_images.hpp"
#include "cuda/gpu.hpp"
#include "support/thrown_by.hpp"

// A __global__ function of application.cu.
__attribute__((visibility("default"))) void application_scale(float* x, float factor, unsigned n);

namespace reprise::test {
namespace {

constexpr unsigned kElements = 1000;

// Device memory of the application.
struct Memory {
  float* data = nullptr;
  explicit Memory(const Device& device, std::size_t count = kElements) {
    const CurrentDevice current(device);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(float)) == cudaSuccess);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { CHECK(cudaFree(data) == cudaSuccess); }
};

std::vector<float> ramp() {
  std::vector<float> values(kElements);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

// Checks x *= 3 with a kernel (float* x, float factor, unsigned n) from any source.
void check_scales(const Gpu& t, const Kernel& kernel) {
  REQUIRE(kernel.parameters().size() == 3);
  CHECK(kernel.parameters()[0].offset == 0);
  CHECK(kernel.parameters()[0].size == 8);
  CHECK(kernel.parameters()[1].offset == 8);
  CHECK(kernel.parameters()[1].size == 4);
  CHECK(kernel.parameters()[2].offset == 12);
  const auto x = t.pool->allocate<float>(kElements, "x");
  const std::vector<float> input = ramp();
  t.run([&](CommandBuffer& cmd) {
    cmd.copy(snapshot(input), x);
    cmd.dispatch(kernel, {.grid = ceil_div(kElements, 128), .block = 128}, read_write(x), 3.0f,
                 kElements);
  });
  const std::vector<float> output = t.read(x);
  for (unsigned i = 0; i < kElements; ++i) REQUIRE(output[i] == input[i] * 3.0f);
  // Another value is refused while recording: by its type where that is known.
  const bool is_typed = kernel.parameters()[1].type != nullptr;
  CHECK(error_of([&] {
          static_cast<void>(t.record([&](CommandBuffer& cmd) {
            cmd.dispatch(kernel, {.grid = 1, .block = 1}, read_write(x), 3.1, kElements);
          }));
        }).code == (is_typed ? ErrorCode::ArgumentType : ErrorCode::ArgumentSize));
}

// A function of the driver, which tests do not link.
template <class Function>
Function* driver(const char* name, Function* /*type*/) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = {};
  REQUIRE(cudaGetDriverEntryPointByVersion(name, &address, CUDART_VERSION, cudaEnableDefault,
                                           &found) == cudaSuccess);
  REQUIRE(found == cudaDriverEntryPointSuccess);
  return reinterpret_cast<Function*>(address);
}
#define DRIVER(name) driver(#name, static_cast<decltype(name)*>(nullptr))

// A stream whose kernels run on a few multiprocessors, which need not hold all blocks of a segment.
struct GreenStream {
  CUgreenCtx context = nullptr;
  CUstream stream = nullptr;
  explicit GreenStream(unsigned multiprocessors) {
    int device = 0;
    REQUIRE(cudaGetDevice(&device) == cudaSuccess);
    CUdevResource all = {}, few = {}, rest = {};
    unsigned groups = 1;
    CUdevResourceDesc desc = nullptr;
    REQUIRE(DRIVER(cuDeviceGetDevResource)(device, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
    REQUIRE(DRIVER(cuDevSmResourceSplitByCount)(&few, &groups, &all, &rest, 0, multiprocessors) ==
            CUDA_SUCCESS);
    REQUIRE(DRIVER(cuDevResourceGenerateDesc)(&desc, &few, 1) == CUDA_SUCCESS);
    REQUIRE(DRIVER(cuGreenCtxCreate)(&context, desc, device, CU_GREEN_CTX_DEFAULT_STREAM) ==
            CUDA_SUCCESS);
    REQUIRE(DRIVER(cuGreenCtxStreamCreate)(&stream, context, CU_STREAM_NON_BLOCKING, 0) ==
            CUDA_SUCCESS);
  }
  GreenStream(const GreenStream&) = delete;
  GreenStream& operator=(const GreenStream&) = delete;
  ~GreenStream() {
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(DRIVER(cuGreenCtxDestroy)(context) == CUDA_SUCCESS);
  }
};

}  // namespace

TEST_CASE("cuda interop: a stream of a green context is refused") {
  if (!have_gpu()) return;
  const Gpu t;
  const CurrentDevice current(t.device);
  const GreenStream few(8);
  CHECK(error_of([&] { static_cast<void>(from_native(t.device, few.stream)); }).code ==
        ErrorCode::WrongDevice);
}

TEST_CASE("cuda interop: an adopted stream runs launches in order with the application's work") {
  if (!have_gpu()) return;
  const Gpu t;
  const Stream stream(t.device);
  const Kernel add = t.device.load_kernel(shaders::gpu_add);
  const auto x = t.pool->allocate<float>(kElements, "x");
  std::vector<float> output(kElements);
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.dispatch(add, {.grid = ceil_div(kElements, 128), .block = 128}, read_write(x), 2.0f,
                 kElements);
  });
  {
    const Queue queue = from_native(t.device, stream.stream, {.label = "application"});
    CHECK(queue.label() == "application");
    CHECK(native_stream(queue) == stream.stream);
    const CurrentDevice current(t.device);
    REQUIRE(cudaMemsetAsync(x.data(), 0, kElements * sizeof(float), stream.stream) == cudaSuccess);
    static_cast<void>(graph.launch(queue));
    static_cast<void>(graph.launch(queue));
    REQUIRE(cudaMemcpyAsync(output.data(), x.data(), kElements * sizeof(float), cudaMemcpyDefault,
                            stream.stream) == cudaSuccess);
    queue.wait_idle();  // including the copy
  }
  CHECK(output == std::vector<float>(kElements, 4.0f));
  const CurrentDevice current(t.device);
  CHECK(cudaStreamQuery(stream.stream) == cudaSuccess);  // the stream outlives the queue
}

TEST_CASE("cuda interop: an adopted stream keeps its own priority") {
  if (!have_gpu()) return;
  const Gpu t;
  const Stream stream(t.device);
  const auto adopt = [&](std::int32_t priority) {
    return from_native(t.device, stream.stream, {.label = "theirs", .priority = priority});
  };
  const Error error = thrown_by([&] { static_cast<void>(adopt(-1)); });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  CHECK(std::string(error.what()).find("queue theirs: priority -1") != std::string::npos);
  int priority = -77;
  const Queue queue = adopt(0);
  const CurrentDevice current(t.device);
  CHECK(cudaStreamGetPriority(native_stream(queue), &priority) == cudaSuccess);
  CHECK(priority == 0);
}

TEST_CASE("cuda interop: a released stream belongs to the caller") {
  if (!have_gpu()) return;
  const Gpu t;
  CUstream stream = nullptr;
  {
    const Queue queue = t.device.create_queue({.label = "to release"});
    CapturedGraph graph = t.compile([](CommandBuffer& cmd) { cmd.host([] {}); });
    graph.launch(queue).wait();
    stream = release(queue);
  }
  const CurrentDevice current(t.device);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE(
    "cuda interop: adopted memory is a buffer whose owner is retained until its last use "
    "completes") {
  if (!have_gpu()) return;
  const Gpu t;
  const Kernel add = t.device.load_kernel(shaders::gpu_add);
  std::atomic<bool> freed{false};
  {
    auto memory = std::make_shared<Memory>(t.device);
    std::shared_ptr<void> owner(memory.get(), [memory, &freed](void*) { freed = true; });
    memory.reset();
    const auto x =
        from_native(t.device, static_cast<Memory*>(owner.get())->data, kElements, "theirs", owner);
    CHECK(x.data() == static_cast<Memory*>(owner.get())->data);
    CHECK(x.size() == kElements);
    CHECK(x.name() == "theirs");
    owner.reset();
    t.run([&](CommandBuffer& cmd) {
      cmd.fill(x, 1.0f);
      cmd.dispatch(add, {.grid = ceil_div(kElements, 128), .block = 128}, read_write(x), 2.0f,
                   kElements);
    });
    CHECK_FALSE(freed);
    CHECK(t.read(x) == std::vector<float>(kElements, 3.0f));
  }
  t.device.wait_idle();
  CHECK(freed);
}

TEST_CASE("cuda interop: memory that is not a buffer of this device is refused") {
  if (!have_gpu()) return;
  const Gpu t;
  const Memory memory(t.device);
  const CudaState before = cuda_state();
  const auto code = [&](auto&& call) { return error_of([&] { static_cast<void>(call()); }).code; };
  CHECK(code([&] { return from_native(t.device, memory.data, kElements + (1u << 28)); }) ==
        ErrorCode::OutOfRange);
  CHECK(code([&] { return from_native(t.device, memory.data, 0); }) == ErrorCode::InvalidArgument);
  CHECK(code([&] { return from_native(t.device, static_cast<float*>(nullptr), kElements); }) ==
        ErrorCode::InvalidArgument);
  CHECK(code([&] { return from_native_host(t.device, memory.data, kElements); }) ==
        ErrorCode::InvalidArgument);
  CHECK(code([&] {
          return from_native(t.device, reinterpret_cast<double*>(memory.data + 1), 4);
        }) == ErrorCode::InvalidArgument);
  std::vector<float> pageable(kElements);
  CHECK(code([&] { return from_native(t.device, pageable.data(), kElements); }) ==
        ErrorCode::InvalidArgument);
  const auto pinned = t.pool->host<float>(kElements, "pinned");
  CHECK(code([&] { return from_native(t.device, pinned.data(), kElements); }) ==
        ErrorCode::InvalidArgument);
  CHECK(from_native_host(t.device, pinned.data(), kElements).size() == kElements);
  const Device host =
      Instance({.validation = Validation::Off}).open_device(DeviceSelector::named("host"));
  CHECK(code([&] { return from_native(host, memory.data, kElements); }) == ErrorCode::Unsupported);
  CHECK(code([&] { return from_native(Device(), memory.data, kElements); }) ==
        ErrorCode::NotInitialized);
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda interop: PTX is compiled and its parameters are reflected") {
  if (!have_gpu()) return;
  const std::span<const std::byte> ptx = application_ptx();
  const Gpu t;
  check_scales(t, load_ptx(t.device, {reinterpret_cast<const char*>(ptx.data()), ptx.size()},
                           "module_scale"));
}

TEST_CASE("cuda interop: PTX with an error is refused with the compiler's message") {
  if (!have_gpu()) return;
  const CudaState before = cuda_state();
  std::string text;
  const ErrorDetails error = error_of(
      [] {
        static_cast<void>(load_ptx(gpu(),
                                   ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
                                   "broken() { no_such_instruction; }\n",
                                   "broken"));
      },
      &text);
  CHECK(error.code == ErrorCode::NativeFailure);
  CHECK(error.native_name == "cudaErrorInvalidPtx");
  CHECK(text.find("ptxas") != std::string::npos);
  CHECK(error_of([] { static_cast<void>(load_ptx(gpu(), "", "broken")); }).code ==
        ErrorCode::InvalidArgument);
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda interop: a cubin and a fatbin are loaded") {
  if (!have_gpu()) return;
  const Gpu t;
  const std::span<const std::byte> cubin =
      application_cubin(t.device.info().compute_major * 10 + t.device.info().compute_minor);
  if (cubin.empty()) {
    MESSAGE("the build has no cubin for this GPU");
  } else {
    check_scales(t, load_cubin(t.device, cubin, "module_scale"));
    CHECK(error_of([&] {
            static_cast<void>(load_cubin(t.device, cubin, "no_such_kernel"));
          }).code == ErrorCode::KernelNotFound);
  }
  const Kernel add = load_cubin(t.device, shaders::gpu_add.image(), "gpu_add");
  CHECK(add.parameters().size() == 3);
  CHECK(error_of([&] { static_cast<void>(load_cubin(t.device, {}, "module_scale")); }).code ==
        ErrorCode::InvalidArgument);
  const std::span<const std::byte> nowhere(static_cast<const std::byte*>(nullptr), 64);
  CHECK(error_of([&] { static_cast<void>(load_cubin(t.device, nowhere, "module_scale")); }).code ==
        ErrorCode::InvalidArgument);
  CHECK(error_of([&] {
          static_cast<void>(from_native(t.device, static_cast<CUkernel>(nullptr)));
        }).code == ErrorCode::InvalidArgument);
  CHECK(error_of([&] {
          static_cast<void>(from_native(t.device, static_cast<CUfunction>(nullptr)));
        }).code == ErrorCode::InvalidArgument);
}

TEST_CASE(
    "cuda interop: functions and kernels of the application's module are adopted with their "
    "owner") {
  if (!have_gpu()) return;
  const Gpu t;
  const std::span<const std::byte> ptx = application_ptx();
  const std::string text(reinterpret_cast<const char*>(ptx.data()), ptx.size());
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ==
            cudaSuccess);
    REQUIRE(cudaLibraryGetKernel(&kernel, library, "module_scale") == cudaSuccess);
  }
  bool unloaded = false;
  {
    std::shared_ptr<void> owner(library, [&unloaded](void* handle) {
      unloaded = cudaLibraryUnload(static_cast<cudaLibrary_t>(handle)) == cudaSuccess;
    });
    const Kernel adopted = from_native(t.device, static_cast<CUkernel>(kernel), owner);
    const Kernel as_function = from_native(t.device, native_function(adopted), std::move(owner));
    CHECK(adopted.name() == "module_scale");
    check_scales(t, adopted);
    check_scales(t, as_function);
    CHECK_FALSE(unloaded);
  }
  t.device.wait_idle();
  CHECK(unloaded);
  CHECK(error_of([&] { static_cast<void>(from_native(t.device, CUfunction{})); }).code ==
        ErrorCode::InvalidArgument);
}

TEST_CASE("cuda interop: an 8-byte parameter of an adopted kernel takes a buffer or a value") {
  if (!have_gpu()) return;
  const Gpu t;
  // The parameter is (unsigned long long address).
  const Kernel poke = load_cubin(t.device, shaders::gpu_poke.image(), "gpu_poke");
  REQUIRE(poke.parameters().size() == 1);
  const auto x = t.pool->allocate<std::int32_t>(2, "x");
  t.run([&](CommandBuffer& cmd) {
    cmd.fill(x, 0);
    cmd.dispatch(poke, {.grid = 1, .block = 1}, write(x.slice(0, 1)));
  });
  const auto second = reinterpret_cast<unsigned long long>(x.data() + 1);
  t.run([&](CommandBuffer& cmd) { cmd.dispatch(poke, {.grid = 1, .block = 1}, second); });
  CHECK(t.read(x) == std::vector<std::int32_t>{1, 1});
  CHECK(error_of([&] {
          static_cast<void>(t.record(
              [&](CommandBuffer& cmd) { cmd.dispatch(poke, {.grid = 1, .block = 1}, 1); }));
        }).code == ErrorCode::ArgumentSize);
}

TEST_CASE("cuda interop: a __global__ function of the application is a kernel with known types") {
  if (!have_gpu()) return;
  const Gpu t;
  const CudaState before = cuda_state();
  const Kernel kernel = kernel_from_symbol(t.device, &application_scale);
  CHECK(kernel.parameters()[0].is_pointer);
  CHECK_FALSE(kernel.parameters()[1].is_pointer);
  REQUIRE(kernel.parameters()[1].type != nullptr);
  CHECK(kernel.parameters()[1].type->name == "float");
  check_scales(t, kernel);
  const ErrorDetails error = error_of([&] {
    static_cast<void>(kernel_from_symbol(
        t.device, +[](float*) {}));
  });
  CHECK((error.code == ErrorCode::KernelNotFound || error.code == ErrorCode::NativeFailure));
  CHECK(error.native_call == "cudaGetFuncBySymbol");
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda interop: the native graph of a CapturedGraph can be inspected and copied") {
  if (!have_gpu()) return;
  const Gpu t;
  const Kernel add = t.device.load_kernel(shaders::gpu_add);
  const auto x = t.pool->allocate<float>(kElements, "x");
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.fill(x, 1.0f);
    cmd.dispatch(add, {.grid = ceil_div(kElements, 128), .block = 128}, read_write(x), 2.0f,
                 kElements);
  });
  std::size_t nodes = 0;
  REQUIRE(cudaGraphGetNodes(native_graph(graph), nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == graph.node_count());
  CHECK(native_exec(graph) != nullptr);

  cudaGraph_t copy = release(graph);
  const CurrentDevice current(t.device);
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, copy, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, native_stream(t.queue)) == cudaSuccess);
  t.queue.wait_idle();
  CHECK(t.read(x) == std::vector<float>(kElements, 3.0f));
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(cudaGraphDestroy(copy) == cudaSuccess);
}

TEST_CASE("cuda interop: the native graph of a CapturedGraph with a loop can be copied") {
  if (!have_gpu()) return;
  const Gpu t;
  const auto counter = t.pool->allocate<unsigned long long>(1, "counter");
  const Condition go = t.device.create_condition({.name = "go", .initial = 1});
  CommandBuffer body = t.device.create_command_buffer({.label = "body", .level = Level::Secondary});
  body.begin();
  body.dispatch(t.device.load_kernel(shaders::gpu_count_to), {.grid = 1, .block = 1},
                read_write(counter), 5u, go);
  body.end();
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.fill(counter.as<unsigned>(), 0u);
    cmd.execute_while(go, body);
  });
  cudaGraph_t copy = release(graph);
  const CurrentDevice current(t.device);
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, copy, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, native_stream(t.queue)) == cudaSuccess);
  t.queue.wait_idle();
  CHECK(t.read(counter) == std::vector<unsigned long long>{5});
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(cudaGraphDestroy(copy) == cudaSuccess);
}

TEST_CASE("cuda interop: a graph of the application is replayed like any other") {
  if (!have_gpu()) return;
  const Gpu t;
  const Memory memory(t.device);
  const auto x = from_native(t.device, memory.data, kElements, "theirs");
  const Stream stream(t.device);
  cudaGraph_t theirs = nullptr;
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(memory.data, 0, kElements * sizeof(float), stream.stream) ==
            cudaSuccess);
    REQUIRE(cudaStreamEndCapture(stream.stream, &theirs) == cudaSuccess);
  }
  bool dropped = false;
  {
    CapturedGraph graph =
        from_native(t.device, theirs,
                    {.label = "theirs", .owner = std::shared_ptr<void>(&dropped, [](void* flag) {
                                          *static_cast<bool*>(flag) = true;
                                        })});
    CHECK(cudaGraphDestroy(theirs) == cudaSuccess);  // the graph owns a copy
    CHECK(graph.node_count() == 1);
    CHECK(graph.label() == "theirs");
    t.run([&](CommandBuffer& cmd) { cmd.fill(x, 1.0f); });
    const Fence fence = graph.launch(t.queue);
    fence.wait();
    CHECK(graph.num_replays() == 1);
    CHECK(t.read(x) == std::vector<float>(kElements, 0.0f));
    CHECK_FALSE(dropped);
  }
  t.device.wait_idle();
  CHECK(dropped);
  CHECK(error_of([&] { static_cast<void>(from_native(t.device, CUgraph{})); }).code ==
        ErrorCode::InvalidArgument);
}

TEST_CASE("cuda interop: in a host callback every function throws InvalidState that names it") {
  if (!have_gpu()) return;
  const Gpu t;
  const Memory memory(t.device);
  const Stream stream(t.device);
  const CapturedGraph graph = t.compile(
      [&](CommandBuffer& cmd) { cmd.fill(t.pool->allocate<std::uint32_t>(64, "x"), 1u); });
  std::vector<std::string> failures;
  const auto check = [&](std::string_view call, const auto& use) {
    try {
      use();
      failures.emplace_back(call);
    } catch (const Error& error) {
      const std::string text = error.what();
      if (error.code() != ErrorCode::InvalidState || text.find(call) != 0 ||
          text.find("in a host callback") == std::string::npos)
        failures.push_back(text);
    }
  };
  t.run([&](CommandBuffer& cmd) {
    cmd.host([&] {
      check("from_native", [&] { static_cast<void>(from_native(t.device, stream.stream)); });
      check("from_native",
            [&] { static_cast<void>(from_native(t.device, memory.data, kElements)); });
      check("from_native", [&] { static_cast<void>(from_native(t.device, CUgraph{})); });
      check("load_ptx", [&] { static_cast<void>(load_ptx(t.device, "", "entry")); });
      check("native_stream", [&] { static_cast<void>(native_stream(t.queue)); });
      check("native_graph", [&] { static_cast<void>(native_graph(graph)); });
      check("begin_capture", [&] { begin_capture(t.queue); });
      check("capture_status", [&] { static_cast<void>(capture_status(t.queue)); });
      check("CurrentDevice", [&] { const CurrentDevice current(t.device); });
    });
  });
  CHECK(failures == std::vector<std::string>());
}

}  // namespace reprise::test
