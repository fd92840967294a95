#include "injection/program_callbacks.hpp"

#include <exception>
#include <utility>

#include "base/text.hpp"
#include "injection/callback_data.hpp"
#include "injection/nvtx_functions.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

constexpr CallbackId kWanted[] = {
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphUpload},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphUpload_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuModuleUnload},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemMap},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemUnmap},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost},
};

// Reading used memory takes at most this share of the program's time, and this time.
constexpr trace::Time kMemoryTime = 2'000'000, kMemoryShare = 200;

}  // namespace

ProgramCallbacks::Thread& ProgramCallbacks::this_thread() {
  thread_local Thread thread;
  return thread;
}

ProgramCallbacks::ProgramCallbacks(ObservedProgram& program, Sources sources)
    : program_(program), sources_(std::move(sources)), began_(trace_now()) {
  knowledge_.origin_of = [this](CUgraphNode node) { return program_.origin_of(number_of(node)); };
  knowledge_.bodies_of = [this](CUgraphNode node) {
    std::vector<CUgraph> bodies;
    for (const std::uint64_t body : program_.bodies_of(number_of(node)))
      bodies.push_back(reinterpret_cast<CUgraph>(static_cast<std::uintptr_t>(body)));
    return bodies;
  };
  knowledge_.profiler_number_of = [this](CUgraphNode node) {
    std::uint64_t id = 0;
    return sources_.cupti != nullptr && sources_.cupti->node_id(node, &id) == CUPTI_SUCCESS
               ? static_cast<std::uint32_t>(id)
               : trace::kNone;
  };
}

std::span<const CallbackId> ProgramCallbacks::wanted() { return kWanted; }

std::string ProgramCallbacks::take_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, {});
}

void ProgramCallbacks::record_error(const std::string& text) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (error_.empty()) error_ = text;
  } catch (...) {  // out of memory: the text is lost
  }
}

void ProgramCallbacks::take(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                            const void* data) noexcept {
  try {
    switch (domain) {
      case CUPTI_CB_DOMAIN_RESOURCE: return take_resource(id, as<CUpti_ResourceData>(data));
      case CUPTI_CB_DOMAIN_DRIVER_API: return take_driver(id, as<CUpti_CallbackData>(data));
      default: return;  // CUPTI's enumeration has further domains
    }
  } catch (const std::exception& error) {
    record_error(error.what());
  } catch (...) {
    record_error("unknown exception");
  }
}

const DriverCalls* ProgramCallbacks::driver() {
  std::call_once(driver_once_, [this] {
    driver_ = sources_.load_driver();
    if (driver_.calls == nullptr) record_error(driver_.why_not);
  });
  return driver_.calls;
}

std::uint32_t ProgramCallbacks::current_device() {
  const DriverCalls* const calls = driver();
  CUdevice device = 0;
  if (calls == nullptr || calls->cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
  const auto id = static_cast<std::uint32_t>(device);
  if (program_.has_device(id)) return id;
  trace::Device record;
  record.id = id;
  record.selector = concat("cuda:", id);
  char name[256] = "";
  if (calls->cuDeviceGetName(name, sizeof(name) - 1, device) == CUDA_SUCCESS) record.name = name;
  CUuuid uuid = {};
  if (calls->cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS) {
    for (std::size_t i = 0; i < record.uuid.size(); ++i)
      record.uuid[i] = static_cast<std::uint8_t>(uuid.bytes[i]);
  }
  std::size_t bytes = 0;
  if (calls->cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS) record.memory_bytes = bytes;
  int multiprocessors = 0;
  if (calls->cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                  device) == CUDA_SUCCESS) {
    record.multiprocessors = static_cast<std::uint32_t>(multiprocessors);
  }
  program_.add_device(record);
  return id;
}

std::uint64_t ProgramCallbacks::used_memory() {
  const DriverCalls* const calls = driver();
  if (calls == nullptr) return 0;
  const trace::Time before = trace_now();
  if (memory_time_.load(std::memory_order_relaxed) >
      kMemoryTime + (before - began_) / kMemoryShare) {
    unread_memory_.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  const QuietCalls quiet(*calls);
  std::size_t free = 0, total = 0;
  const bool is_read = calls->cuMemGetInfo(&free, &total) == CUDA_SUCCESS;
  memory_time_.fetch_add(trace_now() - before, std::memory_order_relaxed);
  return is_read ? total - free : 0;
}

// --- Graphs and executables ---

void ProgramCallbacks::take_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED: return sources_.on_context();
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
      return program_.remove_queue(number_of(data.resourceHandle.stream));
    default:
      if (data.resourceDescriptor != nullptr)
        take_graph(id, as<CUpti_GraphData>(data.resourceDescriptor));
  }
}

void ProgramCallbacks::take_graph(CUpti_CallbackId id, const CUpti_GraphData& graph) {
  Thread& thread = this_thread();
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      return program_.graph_destroyed(number_of(graph.graph));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED: {
      ++thread.nodes_created;
      ThreadRanges& ranges = thread_ranges();
      // An executable's own nodes are created by its instantiation, which no line of theirs made.
      return program_.node_created(number_of(graph.graph), number_of(graph.node),
                                   {ranges.scopes.path(), ranges.nccl_calls.operations(),
                                    thread.instantiates ? nullptr : stack()});
    }
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      return program_.node_copied(number_of(graph.originalNode), number_of(graph.graph),
                                  number_of(graph.node));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
      return program_.node_destroyed(number_of(graph.node));
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: return instantiated(graph);
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      return program_.destroyed(number_of(graph.graphExec), trace_now());
    default: return;  // not subscribed
  }
}

ObservedGraph ProgramCallbacks::read(CUgraph graph) {
  const DriverCalls* const calls = driver();
  if (calls != nullptr) return read_driver_graph(*calls, kernels_, knowledge_, graph);
  ObservedGraph nothing;
  nothing.error = driver_.why_not;
  return nothing;
}

void ProgramCallbacks::instantiated(const CUpti_GraphData& graph) {
  Thread& thread = this_thread();
  ObservedProgram::Instantiation made;
  made.started = std::exchange(thread.instantiation_start, 0);
  made.at = trace_now();
  made.exec = number_of(graph.graphExec);
  made.graph = number_of(graph.graph);
  made.used_before = thread.used_before;
  made.launchers = thread.launchers;
  thread.created_exec = graph.graphExec;
  made.device = current_device();
  if (sources_.cupti == nullptr ||
      sources_.cupti->exec_id(graph.graphExec, &made.profiler_id) != CUPTI_SUCCESS)
    made.profiler_id = 0;
  made.scope = thread_ranges().scopes.creator();
  made.stack = stack();
  program_.instantiated(made, read(graph.graph));
}

// --- Launches ---

void ProgramCallbacks::take_launch(const CUpti_CallbackData& data, CUgraphExec exec,
                                   CUstream stream, PerThread per_thread) {
  Thread& thread = this_thread();
  if (data.callbackSite == CUPTI_API_ENTER) {
    thread.nodes_before = thread.nodes_created;
    if (!program_.is_launched(number_of(exec))) thread.used_before = used_memory();
    thread.launch_start = trace_now();
    return;
  }
  if (!succeeded(data) || thread.nodes_created != thread.nodes_before)
    return;  // a launch into a captured stream adds a node and starts nothing
  ObservedProgram::Launch launch;
  launch.returned = trace_now();
  launch.started = thread.launch_start;
  launch.exec = number_of(exec);
  launch.stream = queue_of(stream, program_.device_of(launch.exec), per_thread);
  launch.thread = thread_number();
  launch.correlation = data.correlationId;
  if (sources_.launch_stacks) launch.stack = stack();
  switch (program_.launched(launch, nodes_.load(std::memory_order_relaxed))) {
    case ObservedProgram::Order::First:
      return program_.first_launch_ended(launch.exec, launch.returned - launch.started,
                                         {thread.used_before, used_memory()}, launch.returned);
    case ObservedProgram::Order::Later: return;
  }
}

std::uint64_t ProgramCallbacks::queue_of(CUstream stream, std::uint32_t device,
                                         PerThread per_thread) {
  // Special handles denote one stream per device or per thread.
  const bool is_per_thread =
      stream == CU_STREAM_PER_THREAD || (stream == nullptr && per_thread == PerThread::Yes);
  std::uint64_t queue = number_of(stream);
  if (is_per_thread) {
    queue = (std::uint64_t{1} << 63) | (std::uint64_t{thread_number()} << 16) | device;
  } else if (stream == nullptr || stream == CU_STREAM_LEGACY) {
    queue = std::uint64_t{device} + 1;
  }
  if (program_.has_queue(queue)) return queue;
  std::string label;
  unsigned long long number = 0;
  if (is_per_thread) {
    label = concat("default stream of thread ", thread_number());
  } else if (queue <= 0xffff) {
    label = "default stream";
  } else if (const DriverCalls* const calls = driver();
             calls != nullptr && calls->cuStreamGetId(stream, &number) == CUDA_SUCCESS) {
    label = concat("stream ", number);
  } else {
    label = "stream";
  }
  program_.name_queue(queue, device, std::move(label));
  return queue;
}

}  // namespace reprise::detail
