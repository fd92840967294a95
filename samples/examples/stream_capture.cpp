// Records calls with addresses, as code for a CUDA stream makes them, into a graph. Works on every
// device; each operation follows the previous one.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "stream_capture"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto input = pool->host<float>(n, "input"), output = pool->host<float>(n, "output");
  auto x = pool->allocate<float>(n, "x"), y = pool->allocate<float>(n, "y");
  Kernel scale = device.load_kernel(shaders::scale);

  StreamCapture capture = StreamCapture::begin(queue, CaptureMode::Global, "captured");
  capture.record_memcpy(MemcpyDirection::HostToDevice, x.data(), input.data(), x.bytes());
  capture.record_memset(y.data(), 0, y.bytes());
  capture.record_kernel(scale, {.grid = ceil_div(n / 2, 256), .block = 256}, 3.0f, x.data(),
                        y.data(), n / 2);
  capture.record_memcpy(MemcpyDirection::DeviceToHost, output.data(), y.data(), y.bytes());
  std::printf("%zu operations, capture %s\n", capture.recorded_count(),
              std::string(to_string(capture.status())).c_str());
  CapturedGraph graph = capture.end({.pool = pool});

  for (float value = 1.0f; value <= 3.0f; ++value) {  // each replay reads `input`
    for (float& element : input) element = value;
    graph.launch(queue).wait();
    example::check(output[0] == 3.0f * value && output[n - 1] == 0.0f, "the result is wrong");
  }
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }
