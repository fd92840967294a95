// Reading a CUDA graph through a fake driver. Needs no GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <reprise/graph_op.hpp>

#include "backend/cuda/native/graph_reader.hpp"
#include "lowering/lowered_graph.hpp"
#include "plan/plan.hpp"

// CUDA's handles point to types that only a driver defines; these are the fake's.
struct CUfunc_st {
  const char* name = "";
  std::vector<std::pair<std::size_t, std::size_t>> parameters = {};  // offset, size
};
struct CUgraphNode_st {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  CUDA_MEMCPY3D copy = {};
  CUDA_MEMSET_NODE_PARAMS set = {};
  CUgraph child = nullptr;
  CUevent event = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS allocation = {};
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal = {};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS wait = {};
};
struct CUgraph_st {
  std::vector<CUgraphNode> nodes = {};
  std::vector<std::pair<CUgraphNode, CUgraphNode>> edges = {};
};

namespace reprise::test {
namespace {

constexpr CUdeviceptr kTheirs = 0x70000000, kOurs = 0x80000000;
constexpr std::size_t kTheirBytes = 4096, kOurBytes = 1024;

CUresult get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  if (nodes != nullptr) std::copy(graph->nodes.begin(), graph->nodes.end(), nodes);
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}
CUresult get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData*,
                   std::size_t* count) {
  for (std::size_t i = 0; from != nullptr && i < graph->edges.size(); ++i) {
    from[i] = graph->edges[i].first;
    to[i] = graph->edges[i].second;
  }
  *count = graph->edges.size();
  return CUDA_SUCCESS;
}
CUresult get_name(const char** name, CUfunction function) {
  *name = function->name;
  return CUDA_SUCCESS;
}
CUresult get_parameter(CUfunction function, std::size_t index, std::size_t* offset,
                       std::size_t* size) {
  if (index >= function->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = function->parameters[index].first;
  *size = function->parameters[index].second;
  return CUDA_SUCCESS;
}
CUresult get_pointer(unsigned, CUpointer_attribute*, void** answers, CUdeviceptr address) {
  const bool known = address >= kTheirs && address < kTheirs + kTheirBytes;
  *static_cast<unsigned*>(answers[0]) = known ? static_cast<unsigned>(CU_MEMORYTYPE_DEVICE) : 0;
  *static_cast<unsigned*>(answers[1]) = 0;
  *static_cast<CUdeviceptr*>(answers[2]) = known ? kTheirs : 0;
  *static_cast<std::size_t*>(answers[3]) = known ? kTheirBytes : 0;
  return CUDA_SUCCESS;
}

CUresult get_event(CUgraphNode node, CUevent* event) {
  *event = node->event;
  return node->event == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

detail::CudaDriver made_up_driver() {
  detail::CudaDriver driver;
  driver.cuCtxGetCurrent = [](CUcontext* context) {
    *context = nullptr;
    return CUDA_SUCCESS;
  };
  driver.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  driver.cuGraphGetNodes = get_nodes;
  driver.cuGraphGetEdges =
      reinterpret_cast<decltype(driver.cuGraphGetEdges)>(reinterpret_cast<void*>(get_edges));
  driver.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType* type) {
    *type = node->type;
    return CUDA_SUCCESS;
  };
  driver.cuGraphChildGraphNodeGetGraph = [](CUgraphNode node, CUgraph* child) {
    *child = node->child;
    return CUDA_SUCCESS;
  };
  driver.cuGraphKernelNodeGetParams = [](CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
    *parameters = node->kernel;
    return node->kernel.func == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  };
  driver.cuGraphKernelNodeGetAttribute = [](CUgraphNode, CUlaunchAttributeID,
                                            CUlaunchAttributeValue*) {
    return CUDA_ERROR_NOT_SUPPORTED;
  };
  driver.cuGraphMemcpyNodeGetParams = [](CUgraphNode node, CUDA_MEMCPY3D* parameters) {
    *parameters = node->copy;
    return CUDA_SUCCESS;
  };
  driver.cuGraphMemsetNodeGetParams = [](CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
    *parameters = node->set;
    return CUDA_SUCCESS;
  };
  driver.cuGraphEventRecordNodeGetEvent = get_event;
  driver.cuGraphEventWaitNodeGetEvent = get_event;
  driver.cuGraphMemAllocNodeGetParams = [](CUgraphNode node,
                                           CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
    *parameters = node->allocation;
    return CUDA_SUCCESS;
  };
  driver.cuGraphMemFreeNodeGetParams = [](CUgraphNode node, CUdeviceptr* address) {
    *address = node->allocation.dptr;
    return CUDA_SUCCESS;
  };
  driver.cuGraphExternalSemaphoresSignalNodeGetParams =
      [](CUgraphNode node, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* parameters) {
        *parameters = node->signal;
        return CUDA_SUCCESS;
      };
  driver.cuGraphExternalSemaphoresWaitNodeGetParams =
      [](CUgraphNode node, CUDA_EXT_SEM_WAIT_NODE_PARAMS* parameters) {
        *parameters = node->wait;
        return CUDA_SUCCESS;
      };
  driver.cuFuncGetName = get_name;
  driver.cuFuncGetParamInfo = get_parameter;
  driver.cuFuncGetAttribute = [](int* value, CUfunction_attribute, CUfunction) {
    *value = 64;
    return CUDA_SUCCESS;
  };
  driver.cuPointerGetAttributes = get_pointer;
  return driver;
}

// A graph of the application, and its reading.
struct Theirs {
  detail::CudaDriver driver = made_up_driver();
  detail::CudaContext context{driver, 0, nullptr, std::make_shared<detail::DeviceStatus>(), {}};
  std::shared_ptr<detail::BufferCore> ours = std::make_shared<detail::BufferCore>();
  std::deque<CUgraphNode_st> nodes;
  CUgraph_st graph;

  Theirs() {
    ours->name = "ours";
    ours->bytes = kOurBytes;
    ours->device = context.status;
  }
  CUgraphNode add(CUgraphNode_st node, CUgraph_st& to) {
    nodes.push_back(node);
    to.nodes.push_back(&nodes.back());
    return &nodes.back();
  }
  CUgraphNode add(CUgraphNode_st node) { return add(node, graph); }
  void edge(CUgraphNode from, CUgraphNode to) { graph.edges.emplace_back(from, to); }
  [[nodiscard]] detail::ReadGraph read() {
    return detail::read_graph(context, &graph, "theirs", [this](const void* address) {
      const auto at = reinterpret_cast<CUdeviceptr>(address);
      if (at < kOurs || at >= kOurs + kOurBytes) return detail::FoundBuffer{};
      return detail::FoundBuffer{ours, at - kOurs};
    });
  }
  [[nodiscard]] std::string text() {
    detail::ReadGraph found = read();
    detail::LoweredGraph lowered =
        detail::build_lowered_graph(found.dependencies, Lowering::Faithful);
    detail::check_lowered_graph(found.dependencies, lowered);
    return to_text(detail::freeze_plan("theirs", found.recording, std::move(found.dependencies),
                                       std::move(lowered), {}));
  }
};

CUgraphNode_st memset_of(CUdeviceptr address) {
  CUgraphNode_st node{.type = CU_GRAPH_NODE_TYPE_MEMSET};
  node.set = {.dst = address, .pitch = 0, .value = 7, .elementSize = 4, .width = 16, .height = 1};
  return node;
}

bool check_contains(const std::string& text, std::string_view part) {
  INFO("expected: ", std::string(part));
  INFO("in: ", text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE(
    "graph reader: a kernel has its name, its values, and the buffers of its pointer parameters") {
  Theirs theirs;
  // (float* ours, struct { int; float* theirs; } both, unsigned n)
  CUfunc_st function{"_Z5scalePf4Bothj", {{0, 8}, {8, 16}, {24, 4}}};
  struct Both {
    std::int64_t number = 5;
    CUdeviceptr address = kTheirs + 256;
  } both;
  CUdeviceptr first = kOurs + 64;
  unsigned n = 1000;
  std::array<void*, 3> values = {&first, &both, &n};
  CUgraphNode_st node{.type = CU_GRAPH_NODE_TYPE_KERNEL};
  node.kernel.func = &function;
  node.kernel.gridDimX = 4;
  node.kernel.gridDimY = node.kernel.gridDimZ = 1;
  node.kernel.blockDimX = 128;
  node.kernel.blockDimY = node.kernel.blockDimZ = 1;
  node.kernel.sharedMemBytes = 32;
  node.kernel.kernelParams = values.data();
  theirs.add(node);
  const detail::ReadGraph found = theirs.read();
  const detail::Recording& recording = *found.recording;
  REQUIRE(recording.commands.size() == 1);
  CHECK(recording.origin == detail::RecordingOrigin::ReadBack);
  CHECK(recording.command_name(0) == "dispatch scale");
  REQUIRE(recording.buffers.size() == 2);
  CHECK(recording.buffers[0] == theirs.ours);
  CHECK(recording.buffers[1]->name == "device memory 1");
  CHECK(recording.buffers[1]->bytes == kTheirBytes);
  REQUIRE(recording.accesses.size() == 2);
  CHECK(recording.accesses[0].begin == 64);
  CHECK(recording.accesses[0].end == kOurBytes);
  CHECK(recording.accesses[1].begin == 256);
  CHECK(recording.accesses[1].end == kTheirBytes);
  const auto& dispatch = recording.payload<detail::DispatchPayload>(0);
  CHECK(dispatch.grid == Dim3(4));
  CHECK(dispatch.shared_bytes == 32);
  CHECK(dispatch.buffer_argument_count == 2);
  CHECK(check_contains(theirs.text(), "value at 24: e8030000"));
}

TEST_CASE("graph reader: copies, fills and joins become commands in topological order") {
  Theirs theirs;
  CUgraphNode_st copy{.type = CU_GRAPH_NODE_TYPE_MEMCPY};
  copy.copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.copy.srcDevice = kTheirs;
  copy.copy.srcPitch = 100;
  copy.copy.srcXInBytes = 8;
  copy.copy.srcY = 1;
  copy.copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.copy.dstDevice = kOurs;
  copy.copy.dstPitch = 50;
  copy.copy.WidthInBytes = 40;
  copy.copy.Height = 10;
  copy.copy.Depth = 1;
  const CUgraphNode last = theirs.add(copy);  // created first, runs last
  const CUgraphNode join = theirs.add({});
  const CUgraphNode a = theirs.add(memset_of(kTheirs)), b = theirs.add(memset_of(kOurs));
  theirs.edge(join, last);
  theirs.edge(a, join);
  theirs.edge(b, join);
  const detail::ReadGraph found = theirs.read();
  REQUIRE(found.dependencies.node_count() == 4);
  CHECK(found.recording->command_name(0) == "fill device memory 1");
  CHECK(found.recording->command_name(1) == "fill ours");
  CHECK(found.recording->command_name(2) == "barrier");
  CHECK(found.recording->command_name(3) == "copy device memory 1 -> ours");
  CHECK(found.dependencies.is_join == std::vector<std::uint8_t>{0, 0, 1, 0});
  REQUIRE(found.dependencies.edges.size() == 3);
  for (const detail::Edge& edge : found.dependencies.edges) {
    CHECK(edge.from < edge.to);
    CHECK(edge.cause.kind == detail::CauseKind::Captured);
  }
  const auto& payload = found.recording->payload<detail::CopyPayload>(3);
  CHECK(payload.source.offset == 108);
  CHECK(payload.source_pitch.row == 100);
  CHECK(payload.destination_pitch.row == 50);
  CHECK(check_contains(theirs.text(), "needed: captured"));
}

TEST_CASE(
    "graph reader: child graphs become labels around their nodes, and successors wait for their "
    "leaves") {
  Theirs theirs;
  constexpr std::size_t kWide = 9;  // 81 edges between the two: replaced by a join
  CUgraph_st first, second;
  for (std::size_t i = 0; i < kWide; ++i) theirs.add(memset_of(kTheirs + 64 * i), first);
  for (std::size_t i = 0; i < kWide; ++i) theirs.add(memset_of(kTheirs + 64 * i), second);
  CUgraph_st empty;
  const CUgraphNode a = theirs.add({.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = &first});
  const CUgraphNode b = theirs.add({.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = &second});
  const CUgraphNode c = theirs.add({.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = &empty});
  theirs.edge(a, b);
  theirs.edge(b, c);
  const detail::ReadGraph found = theirs.read();
  REQUIRE(found.recording->labels.size() == 4);
  CHECK(found.recording->labels[1].name == "child graph 1");
  CHECK(found.dependencies.node_count() == 2 * kWide + 2);
  CHECK(found.dependencies.edges.size() == 3 * kWide);
  CHECK(check_contains(theirs.text(), "in \"child graph 2\""));
  CHECK(check_contains(theirs.text(), "op empty child graph"));
}

TEST_CASE(
    "graph reader: nodes without a matching command and unreadable kernels become ops with their "
    "name") {
  Theirs theirs;
  theirs.add({.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD});
  theirs.add({.type = CU_GRAPH_NODE_TYPE_CONDITIONAL});
  theirs.add({.type = CU_GRAPH_NODE_TYPE_KERNEL});
  const detail::ReadGraph found = theirs.read();
  CHECK(found.recording->command_name(0) == "op event record");
  CHECK(found.recording->command_name(1) == "op conditional");
  CHECK(found.recording->command_name(2) == "op kernel");
  CHECK_THROWS_AS(
      [&] {
        const GraphOp& op = *found.recording->ops[0]->op;
        GraphOpDeclaration declaration(DeviceKind::Cuda, 0);
        op.declare(declaration);
      }(),
      Error);
}

TEST_CASE(
    "graph reader: events, memory and semaphores are described by numbers and sizes, not by "
    "addresses") {
  Theirs theirs;
  const auto event = [](std::uintptr_t at) { return reinterpret_cast<CUevent>(at); };
  CUexternalSemaphore semaphores[] = {reinterpret_cast<CUexternalSemaphore>(0x10),
                                      reinterpret_cast<CUexternalSemaphore>(0x20)};
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signals[2] = {};
  signals[0].params.fence.value = 5;
  signals[1].params.fence.value = 6;
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waited = {};
  waited.params.fence.value = 6;
  CUgraphNode_st allocation{.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
  allocation.allocation.bytesize = 4096;
  allocation.allocation.dptr = 0x1000;
  CUgraphNode_st release{.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
  release.allocation.dptr = 0x1000;
  CUgraphNode_st other_release{.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
  other_release.allocation.dptr = 0x2000;
  const CUgraphNode_st nodes[] = {
      {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event(8)},
      {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event(16)},
      {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = event(8)},
      allocation,
      release,
      other_release,
      {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, .signal = {semaphores, signals, 2}},
      {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, .wait = {semaphores + 1, &waited, 1}}};
  CUgraphNode before = nullptr;
  for (const CUgraphNode_st& node : nodes) {
    const CUgraphNode added = theirs.add(node);
    if (before != nullptr) theirs.edge(before, added);
    before = added;
  }
  const detail::ReadGraph found = theirs.read();
  const char* const expected[] = {"op event record, event 1",
                                  "op event record, event 2",
                                  "op event wait, event 1",
                                  "op memory allocation, 4096 bytes, allocation 1",
                                  "op memory release, allocation 1",
                                  "op memory release, of an allocation outside the graph",
                                  "op semaphore signal, semaphore 1 value 5, semaphore 2 value 6",
                                  "op semaphore wait, semaphore 2 value 6"};
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(found.recording->command_name(i) == expected[i]);
  CHECK(check_contains(theirs.text(), "event 2"));
}

}  // namespace reprise::test
