#include "injection/recorded_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "injection/traced.hpp"

namespace reprise::test {

// Reads one line word by word. A missing word or an invalid number is an error.
class RecordedProgram::Line {
 public:
  explicit Line(const std::string& text) : text_(text), words_(text) {}
  [[noreturn]] void fail() const {
    throw std::runtime_error("a recording has a line that can't be read: " + text_);
  }
  std::string word() {
    std::string one;
    if (!(words_ >> one)) fail();
    return one;
  }
  template <class T = std::uint32_t>
  T number() {
    return static_cast<T>(parse(word(), 10));
  }
  std::uint64_t address() { return parse(word(), 16); }
  template <class Handle>
  Handle handle(std::uint64_t unit) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number<std::uint64_t>() * unit));
  }
  // Fails if words remain.
  bool is_complete() { return (words_ >> std::ws).eof(); }
  // The rest of the line.
  std::string rest() {
    std::string text;
    words_.get();  // the space before the text
    std::getline(words_, text);
    return text;
  }
  std::uint64_t parse(const std::string& digits, int base) const {
    try {
      std::size_t used = 0;
      const std::uint64_t value = std::stoull(digits, &used, base);
      if (used == digits.size()) return value;
    } catch (const std::exception&) {  // reported below
    }
    fail();
  }

 private:
  const std::string text_;
  std::istringstream words_;
};

namespace {

using detail::ObservedProgram;

constexpr std::uint64_t kExecUnit = 0x100, kStreamUnit = 0x100000;

CUstream stream_of(std::uint64_t number) {
  return reinterpret_cast<CUstream>(
      static_cast<std::uintptr_t>(number <= 2 ? number : number * kStreamUnit));
}

}  // namespace

RecordedProgram::RecordedProgram(ObservedProgram::Nodes nodes)
    : callbacks_(program_, {&cupti_.library(),
                            [this] {
                              return detail::DriverCalls::Loaded{&driver_, {}};
                            },
                            [] {}}),
      recorder_(cupti_.library(), program_),
      calls_([this](CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
        callbacks_.take(domain, id, data);
      }) {
  callbacks_.record_nodes(nodes);
  switch (nodes) {
    case ObservedProgram::Nodes::Recorded: REQUIRE(recorder_.start().empty()); break;
    case ObservedProgram::Nodes::Unrecorded: break;
  }
}

void RecordedProgram::play(std::istream& recording) {
  bool has_end = false;
  for (std::string text; std::getline(recording, text);) {
    Line line(text);
    if (has_end) line.fail();
    const auto thread = line.number();
    if (thread == 0) {
      const std::string verb = line.word();
      if (verb == "end") {
        has_end = true;
      } else if (verb == "kernel") {
        read_kernel(line);
      } else if (verb == "ran") {
        play_record(line);
      } else {
        line.fail();
      }
      continue;
    }
    std::string error;
    threads_.run(thread, [&] {
      try {
        play_line(line);
        if (!line.is_complete()) line.fail();
      } catch (const std::runtime_error& e) {
        error = e.what();
      }
    });
    if (!error.empty()) throw std::runtime_error(error);
  }
  if (!has_end) throw std::runtime_error("a recording without an end");
}

std::vector<trace::Record> RecordedProgram::records() {
  recorder_.flush(detail::NodeRecorder::Wait::ForAll);
  return collected(program_, detail::ObservedExec::Outstanding::Complete);
}

void RecordedProgram::read_kernel(Line& line) {
  HandMadeKernel& kernel = kernels_[line.number()];
  kernel.registers = line.number<int>();
  kernel.static_shared_bytes = line.number<int>();
  std::istringstream layout(line.word());
  for (std::string one; std::getline(layout, one, ',') && one != "-";) {
    const std::size_t colon = one.find(':');
    if (colon == std::string::npos) line.fail();
    kernel.parameter_offsets.push_back(line.parse(one.substr(0, colon), 10));
    kernel.parameter_bytes.push_back(line.parse(one.substr(colon + 1), 10));
  }
  kernel.name = line.rest();
}

void RecordedProgram::play_record(Line& line) {
  HandMadeRecord record;
  record.kind = line.number<CUpti_ActivityKind>();
  record.node = line.number<std::uint64_t>() << 32;
  record.node |= line.number();
  record.correlation = line.number();
  record.stream = line.number();
  record.started = line.number<std::uint64_t>();
  record.ended = record.started + line.number<std::uint64_t>();
  if (const std::string kernel = line.word(); kernel != "-")
    record.kernel = kernels_.at(static_cast<std::uint32_t>(line.parse(kernel, 10))).name.c_str();
  cupti_.add(record);
}

void RecordedProgram::play_line(Line& line) {
  const std::string verb = line.word();
  if (verb == "context") return calls_.context_made();
  if (verb == "device") {
    hand_made_device = line.number<CUdevice>();
  } else if (verb == "stream-gone") {
    calls_.stream_gone(stream_of(line.number<std::uint64_t>()));
  } else if (verb == "instantiate") {
    calls_.enter(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
                 cuGraphInstantiateWithParams_params{});
  } else if (verb.starts_with("push") || verb == "pop" || verb == "keep") {
    play_range(verb, line);
  } else if (verb == "alloc" || verb == "free" || verb == "unmap") {
    play_memory(verb, line);
  } else if (verb == "launch" || verb == "launched" || verb == "updated" || verb == "set" ||
             verb == "enabled" || verb == "bodies") {
    play_call(verb, line);
  } else {
    play_graph(verb, line);
  }
}

void RecordedProgram::play_graph(const std::string& verb, Line& line) {
  CUpti_GraphData data = {};
  const auto graph = [&] { return handle_of<CUgraph>(graphs_[line.number()]); };
  const auto node = [&] { return handle_of<CUgraphNode>(nodes_[line.number()].made); };
  const auto exec = [&] { return line.handle<CUgraphExec>(kExecUnit); };
  if (verb == "graph") {
    described_ = line.number();
    graphs_[described_] = {};
  } else if (verb == "node") {
    Node& one = nodes_[line.number()];
    one.made = {};
    one.made.profiler_id = line.number();
    read_what(line, one);
    graphs_[described_].others.push_back(&one.made);
  } else if (verb == "edge") {
    const auto from = line.number<std::size_t>(), to = line.number<std::size_t>();
    HandMadeGraph& of = graphs_[described_];
    if (std::max(from, to) >= of.others.size()) line.fail();
    of.edges.emplace_back(from, to);
  } else if (verb == "node-made") {
    data.graph = graph();
    data.node = node();
    calls_.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
  } else if (verb == "node-copied") {
    data.originalNode = node();
    data.graph = graph();
    data.node = node();
    calls_.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
  } else if (verb == "node-gone") {
    data.node = node();
    calls_.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, data);
  } else if (verb == "graph-gone") {
    data.graph = graph();
    calls_.resource(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, data);
  } else if (verb == "instantiated") {
    data.graph = graph();
    data.graphExec = exec();
    cupti_.set_exec_id(data.graphExec, line.number());
    calls_.resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, data);
  } else if (verb == "exec-gone") {
    data.graphExec = exec();
    calls_.resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, data);
  } else {
    line.fail();
  }
}

void RecordedProgram::read_what(Line& line, Node& node) {
  const std::string what = line.word();
  HandMadeNode& made = node.made;
  if (what == "kernel") {
    made.type = CU_GRAPH_NODE_TYPE_KERNEL;
    HandMadeKernel& kernel = kernels_.at(line.number());
    CUDA_KERNEL_NODE_PARAMS& p = made.kernel;
    p.func = handle_of<CUfunction>(kernel);
    for (unsigned* const one : {&p.gridDimX, &p.gridDimY, &p.gridDimZ, &p.blockDimX, &p.blockDimY,
                                &p.blockDimZ, &p.sharedMemBytes})
      *one = line.number();
    node.parameters.clear();
    node.places.clear();
    for (const std::size_t bytes : kernel.parameter_bytes) node.parameters.emplace_back(bytes);
    while (!line.is_complete()) {
      const std::string word = line.word();
      const std::size_t dot = word.find('.'), equals = word.find('=');
      if (dot == std::string::npos || equals == std::string::npos) line.fail();
      const std::uint64_t parameter = line.parse(word.substr(0, dot), 10),
                          at = line.parse(word.substr(dot + 1, equals - dot - 1), 10);
      const std::uint64_t value = line.parse(word.substr(equals + 1), 16);
      if (parameter >= node.parameters.size() ||
          at + sizeof value > node.parameters[parameter].size())
        line.fail();
      std::memcpy(node.parameters[parameter].data() + at, &value, sizeof value);
    }
    for (auto& bytes : node.parameters) node.places.push_back(bytes.data());
    p.kernelParams = node.places.data();
  } else if (what == "copy") {
    made.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    CUDA_MEMCPY3D& p = made.copy;
    p.srcMemoryType = line.number<CUmemorytype>();
    p.srcDevice = line.address();
    p.srcHost = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(p.srcDevice));
    for (std::size_t* const one : {&p.srcXInBytes, &p.srcY, &p.srcZ, &p.srcPitch, &p.srcHeight})
      *one = line.number<std::size_t>();
    p.dstMemoryType = line.number<CUmemorytype>();
    p.dstDevice = line.address();
    p.dstHost = reinterpret_cast<void*>(static_cast<std::uintptr_t>(p.dstDevice));
    for (std::size_t* const one : {&p.dstXInBytes, &p.dstY, &p.dstZ, &p.dstPitch, &p.dstHeight,
                                   &p.WidthInBytes, &p.Height, &p.Depth})
      *one = line.number<std::size_t>();
  } else if (what == "fill") {
    made.type = CU_GRAPH_NODE_TYPE_MEMSET;
    made.fill.dst = line.address();
    made.fill.pitch = line.number<std::size_t>();
    made.fill.value = line.number();
    made.fill.elementSize = line.number();
    made.fill.width = line.number<std::size_t>();
    made.fill.height = line.number<std::size_t>();
  } else if (what == "allocate") {
    made.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    made.allocation.dptr = line.address();
    made.allocation.bytesize = line.number<std::size_t>();
  } else if (what == "child") {
    made.type = CU_GRAPH_NODE_TYPE_GRAPH;
    made.child = &graphs_[line.number()];
  } else if (what == "other") {
    made.type = line.number<CUgraphNodeType>();
  } else {
    line.fail();
  }
}

void RecordedProgram::set(Line& line) {
  const auto exec = line.handle<CUgraphExec>(kExecUnit);
  const auto of = handle_of<CUgraphNode>(nodes_[line.number()].made);
  Node node;
  read_what(line, node);
  switch (node.made.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
                         cuGraphExecKernelNodeSetParams_v2_params{exec, of, &node.made.kernel});
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams,
                         cuGraphExecMemcpyNodeSetParams_params{exec, of, &node.made.copy, nullptr});
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams,
                         cuGraphExecMemsetNodeSetParams_params{exec, of, &node.made.fill, nullptr});
    default: line.fail();
  }
}

void RecordedProgram::play_call(const std::string& verb, Line& line) {
  if (verb == "set") return set(line);
  if (verb == "bodies") {
    CUgraphNode node = handle_of<CUgraphNode>(nodes_[line.number()].made);
    std::vector<CUgraph> bodies;
    while (!line.is_complete()) bodies.push_back(handle_of<CUgraph>(graphs_[line.number()]));
    CUgraphNodeParams parameters = {};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.size = static_cast<unsigned>(bodies.size());
    parameters.conditional.phGraph_out = bodies.data();
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2,
                       cuGraphAddNode_v2_params{&node, nullptr, nullptr, nullptr, 0, &parameters});
  }
  const auto exec = line.handle<CUgraphExec>(kExecUnit);
  PlayedCalls::Outcome outcome;
  if (verb == "enabled") {
    const auto node = handle_of<CUgraphNode>(nodes_[line.number()].made);
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled,
                       cuGraphNodeSetEnabled_params{exec, node, line.number()});
  }
  if (verb == "updated") {
    const auto graph = handle_of<CUgraph>(graphs_[line.number()]);
    outcome.result = line.number<CUresult>();
    CUgraphExecUpdateResultInfo info = {};
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
                       cuGraphExecUpdate_v2_params{exec, graph, &info}, outcome);
  }
  const CUstream stream = stream_of(line.number<std::uint64_t>());
  const bool is_plain = line.word() == "plain";
  const auto play = [&](CUpti_CallbackId id, const auto& parameters) {
    if (verb == "launch") return calls_.enter(id, parameters);
    outcome.result = line.number<CUresult>();
    outcome.correlation = line.number();
    calls_.leave(id, parameters, outcome);
  };
  if (is_plain)
    return play(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, cuGraphLaunch_params{exec, stream});
  play(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, cuGraphLaunch_ptsz_params{exec, stream});
}

void RecordedProgram::play_memory(const std::string& verb, Line& line) {
  const std::string family = verb == "unmap" ? "" : line.word();
  CUdeviceptr address = line.address();
  void* host = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  if (verb == "unmap")
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemUnmap,
                       cuMemUnmap_params{address, line.number<std::size_t>()});
  if (verb == "free") {
    if (family == "device")
      return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, cuMemFree_v2_params{address});
    if (family == "stream")
      return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync,
                         cuMemFreeAsync_params{address, nullptr});
    if (family == "host")
      return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, cuMemFreeHost_params{host});
    line.fail();
  }
  const auto bytes = line.number<std::size_t>();
  if (family == "device")
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
                       cuMemAlloc_v2_params{&address, bytes});
  if (family == "managed")
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged,
                       cuMemAllocManaged_params{&address, bytes, 0});
  if (family == "stream")
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,
                       cuMemAllocAsync_params{&address, bytes, nullptr});
  if (family == "mapped")
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemMap, cuMemMap_params{address, bytes, 0, 0, 0});
  if (family == "host")
    return calls_.call(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc,
                       cuMemHostAlloc_params{&host, bytes, 0});
  line.fail();
}

void RecordedProgram::play_range(const std::string& verb, Line& line) {
  if (verb == "keep") {
    const auto handle = line.number<std::uint64_t>();
    texts_[handle] = ranges_.keep(line.rest().c_str());
    return;
  }
  const auto number = line.number<std::uintptr_t>();
  const auto domain = reinterpret_cast<nvtxDomainHandle_t>(number);
  if (verb == "pop") return number == 0 ? ranges_.pop() : ranges_.pop(domain);
  nvtxEventAttributes_t attributes = {};
  std::string name;
  if (verb == "push-kept") {
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = texts_.at(line.number<std::uint64_t>());
  } else if (verb == "push") {
    name = line.rest();
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
  } else {
    line.fail();
  }
  number == 0 ? ranges_.push(attributes) : ranges_.push(domain, attributes);
}

}  // namespace reprise::test
