// Programs whose observation may cost much, for costs.py: costs PATTERN [ITERATIONS]
// Prints the microseconds that an iteration takes, by a stopwatch around all iterations.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "check_cuda.hpp"

namespace {

constexpr int kNodes = 20, kThreads = 256, kGraphs = 10'000, kSmallNodes = 3;

__global__ void add(float* values, float by) { values[blockIdx.x * kThreads + threadIdx.x] += by; }

__global__ void count_down(cudaGraphConditionalHandle more, int* left, int start) {
  const int now = *left == 0 ? start - 1 : *left - 1;
  *left = now;
  cudaGraphSetConditional(more, now != 0);
}

class Program {
 public:
  Program() {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CHECK_CUDA(cudaMalloc(&values_, kThreads * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&left_, sizeof(int)));
    CHECK_CUDA(cudaMemset(values_, 0, kThreads * sizeof(float)));
    CHECK_CUDA(cudaMemset(left_, 0, sizeof(int)));
  }

  cudaGraph_t capture(int nodes) {
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i) add<<<1, kThreads, 0, stream_>>>(values_, 1.0f);
    CHECK_CUDA(cudaStreamEndCapture(stream_, &graph));
    return graph;
  }

  static cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
  }

  void launch(cudaGraphExec_t exec) { CHECK_CUDA(cudaGraphLaunch(exec, stream_)); }
  void wait() { CHECK_CUDA(cudaStreamSynchronize(stream_)); }

  // A graph whose body of one node runs `count` times in a launch.
  cudaGraphExec_t loop(int count) {
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle = 0;
    CHECK_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    CHECK_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    cudaGraph_t body = parameters.conditional.phGraph_out[0];
    CHECK_CUDA(cudaStreamBeginCaptureToGraph(stream_, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
    count_down<<<1, 1, 0, stream_>>>(handle, left_, count);
    CHECK_CUDA(cudaStreamEndCapture(stream_, nullptr));
    return instantiate(graph);
  }

  float* values_ = nullptr;

 private:
  cudaStream_t stream_ = nullptr;
  int* left_ = nullptr;
};

struct Pattern {
  const char* name;
  int iterations;
  std::function<std::function<void()>(Program&)> prepare;
};

std::function<void()> set_parameters(Program& program) {
  cudaGraph_t graph = program.capture(kNodes);
  std::vector<cudaGraphNode_t> nodes(kNodes);
  std::size_t count = nodes.size();
  CHECK_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
  cudaGraphExec_t exec = Program::instantiate(graph);
  return [=, &program] {
    float by = 2.0f;
    void* arguments[] = {&program.values_, &by};
    cudaKernelNodeParams parameters = {reinterpret_cast<void*>(&add), 1, kThreads, 0, arguments, nullptr};
    for (cudaGraphNode_t node : nodes) CHECK_CUDA(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
    program.launch(exec);
    program.wait();
  };
}

std::function<void()> update(Program& program) {
  cudaGraph_t graph = program.capture(kNodes);
  cudaGraphExec_t exec = Program::instantiate(graph);
  return [=, &program] {
    cudaGraph_t next = program.capture(kNodes);
    cudaGraphExecUpdateResultInfo info = {};
    CHECK_CUDA(cudaGraphExecUpdate(exec, next, &info));
    CHECK_CUDA(cudaGraphDestroy(next));
    program.launch(exec);
    program.wait();
  };
}

std::function<void()> instantiate(Program& program) {
  return [&program] {
    cudaGraph_t graph = program.capture(kNodes);
    cudaGraphExec_t exec = Program::instantiate(graph);
    program.launch(exec);
    program.wait();
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
  };
}

std::function<void()> many(Program& program) {
  return [&program] {
    cudaGraph_t graph = program.capture(kSmallNodes);
    cudaGraphExec_t exec = Program::instantiate(graph);  // kept
    CHECK_CUDA(cudaGraphDestroy(graph));
    program.launch(exec);
    program.wait();
  };
}

std::function<void()> replay(Program& program) {
  cudaGraphExec_t exec = Program::instantiate(program.capture(kNodes));
  return [=, &program] {
    program.launch(exec);
    program.wait();
  };
}

template <int count>
std::function<void()> repeat(Program& program) {
  cudaGraphExec_t exec = program.loop(count);
  return [=, &program] {
    program.launch(exec);
    program.wait();
  };
}

const Pattern kPatterns[] = {
    {"replay", 20'000, replay},          {"set_parameters", 5'000, set_parameters}, {"update", 5'000, update},
    {"instantiate", 2'000, instantiate}, {"many", kGraphs, many},                   {"loop_1", 5'000, repeat<1>},
    {"loop_30", 2'000, repeat<30>},      {"loop_1000", 200, repeat<1000>},
};

}  // namespace

int main(int count, char** arguments) {
  for (const Pattern& pattern : kPatterns) {
    if (count < 2 || std::strcmp(pattern.name, arguments[1]) != 0) continue;
    const int iterations = count > 2 ? std::atoi(arguments[2]) : pattern.iterations;
    Program program;
    const auto iterate = pattern.prepare(program);
    for (int i = 0; i < iterations / 20; ++i) iterate();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) iterate();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    std::printf("%.3f us per iteration\n", took.count() / iterations);
    return 0;
  }
  std::fprintf(stderr, "usage: costs PATTERN [ITERATIONS]; PATTERN is one of");
  for (const Pattern& pattern : kPatterns) std::fprintf(stderr, " %s", pattern.name);
  std::fprintf(stderr, "\n");
  return 2;
}
