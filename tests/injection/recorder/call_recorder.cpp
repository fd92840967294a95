// Records a program's calls and CUPTI's records as test data: a library that CUDA injects like that
// of `reprise run`. Writes the file $REPRISE_RECORD_CALLS; tests/injection/recorded_program.hpp
// describes its format. To record NVTX ranges, set NVTX_INJECTION64_PATH to libcupti.
#include <generated_nvtx_meta.h>
#include <stdlib.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "injection/callback_data.hpp"
#include "injection/program_callbacks.hpp"
#include "injection/recorder/node_text.hpp"
#include "injection/utf16.hpp"
#include "profile/activity/cupti_records.hpp"
#include "profile/process_info.hpp"

namespace reprise::test {
namespace {

using detail::as;
using detail::concat;
using detail::number_of;
using Kind = CallLog::Kind;

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr std::size_t kBufferBytes = 1 << 18;

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

class CallRecorder {
 public:
  CallRecorder(const char* path, const detail::CuptiLibrary& cupti)
      : log_(path), cupti_(cupti), began_(detail::trace_now()) {}

  void start() {
    if (!log_.is_open()) return;
    static_cast<void>(
        cupti_.register_clock([] { return static_cast<std::uint64_t>(detail::trace_now()); }));
    CUpti_SubscriberHandle subscriber = nullptr;
    if (cupti_.subscribe(&subscriber, &on_callback, this) != CUPTI_SUCCESS)
      return log_.write("0 refused\n");
    for (const detail::CallbackId& one : detail::ProgramCallbacks::wanted())
      static_cast<void>(cupti_.enable_callback(1, subscriber, one.domain, one.id));
    static_cast<void>(cupti_.register_buffers(&on_buffer_requested, &on_buffer_completed));
    for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(cupti_.enable(kind));
  }
  void finish() {
    if (!is_on_.exchange(false)) return;
    static_cast<void>(cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    log_.write("0 end\n");
  }

 private:
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);
  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* records) {
    *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
    *size = kBufferBytes;
    *records = 0;
  }
  static void CUPTIAPI on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer,
                                           std::size_t, std::size_t valid);

  [[nodiscard]] std::string graph(CUgraph graph) {
    return concat(log_.number(Kind::Graph, number_of(graph)));
  }
  [[nodiscard]] std::string node(CUgraphNode node) {
    return concat(log_.number(Kind::Node, number_of(node)));
  }
  [[nodiscard]] std::string exec(CUgraphExec exec) {
    return concat(log_.number(Kind::Exec, number_of(exec)));
  }
  [[nodiscard]] std::string stream(CUstream stream) {
    return concat(log_.number(Kind::Stream, number_of(stream)));
  }

  const detail::DriverCalls* driver() {
    static const detail::DriverCalls::Loaded loaded = detail::DriverCalls::load();
    return loaded.calls;
  }
  [[nodiscard]] std::optional<NodeText> nodes() {
    if (driver() == nullptr) return std::nullopt;
    return NodeText(*driver(), cupti_, log_, [this](CUgraphNode of) {
      const std::lock_guard lock(mutex_);
      const auto found = bodies_.find(of);
      return found == bodies_.end() ? std::vector<CUgraph>() : found->second;
    });
  }
  void say(const std::string& line) { log_.write(concat(thread(), line, "\n")); }
  static std::string thread_of(std::uint32_t number) { return concat(number, " "); }
  [[nodiscard]] std::string thread() {
    return thread_of(log_.number(Kind::Thread, detail::thread_number()));
  }
  // Writes the current device if it differs from the thread's previous one.
  void say_device() {
    thread_local CUdevice known = 0;
    CUdevice now = 0;
    if (driver() == nullptr || driver()->cuCtxGetDevice(&now) != CUDA_SUCCESS || now == known)
      return;
    known = now;
    say(concat("device ", now));
  }
  void describe(CUgraph of) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (driver() == nullptr) return;
    static_cast<void>(driver()->cuThreadExchangeStreamCaptureMode(&mode));
    log_.write(nodes()->graph(of, thread()));
    static_cast<void>(driver()->cuThreadExchangeStreamCaptureMode(&mode));
  }

  void take_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
  void take_driver(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void take_memory(CUpti_CallbackId id, const void* p);
  void take_range(CUpti_CallbackId id, const CUpti_NvtxData& data);
  void take_launch(const CUpti_CallbackData& data, CUgraphExec of, CUstream on, const char* form);
  void allocated(const char* family, std::uint64_t address, std::uint64_t bytes) {
    say_device();
    say(concat("alloc ", family, " ", hex(address), " ", bytes));
  }
  void push(std::uint64_t domain, const nvtxEventAttributes_t* attributes);

  CallLog log_;
  const detail::CuptiLibrary& cupti_;
  const trace::Time began_;
  std::atomic<bool> is_on_{true};
  std::mutex mutex_;  // guards bodies_
  std::unordered_map<CUgraphNode, std::vector<CUgraph>> bodies_;
};

CallRecorder* the_recorder = nullptr;  // never destroyed

void CallRecorder::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void* data) {
  auto& recorder = *static_cast<CallRecorder*>(self);
  if (!recorder.is_on_) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) recorder.take_resource(id, as<CUpti_ResourceData>(data));
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) recorder.take_driver(id, as<CUpti_CallbackData>(data));
  if (domain == CUPTI_CB_DOMAIN_NVTX) recorder.take_range(id, as<CUpti_NvtxData>(data));
}

void CallRecorder::on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                       std::size_t valid) {
  CallRecorder& self = *the_recorder;
  std::string lines;
  for (CUpti_Activity* activity = nullptr;
       self.cupti_.next_record(buffer, valid, &activity) == CUPTI_SUCCESS;) {
    const auto record = detail::node_record(*activity);
    if (!record) continue;
    const std::string kernel =
        record->kernel == nullptr ? "-" : concat(self.log_.kernel(record->kernel, "0 0 -"));
    lines += concat("0 ran ", static_cast<int>(activity->kind), " ", record->node >> 32, " ",
                    record->node & 0xffffffffu, " ", record->correlation, " ", record->stream, " ",
                    static_cast<trace::Time>(record->started) - self.began_, " ",
                    record->ended - record->started, " ", kernel, "\n");
  }
  self.log_.write(lines);
  std::free(buffer);
}

void CallRecorder::take_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED: {
      static const int registered = std::atexit([] { the_recorder->finish(); });
      static_cast<void>(registered);
      return say("context");
    }
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
      return say(concat("stream-gone ", stream(data.resourceHandle.stream)));
    default: break;
  }
  if (data.resourceDescriptor == nullptr) return;
  const auto& of = as<CUpti_GraphData>(data.resourceDescriptor);
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      return say(concat("graph-gone ", graph(of.graph)));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      return say(concat("node-made ", graph(of.graph), " ", node(of.node)));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      return say(
          concat("node-copied ", node(of.originalNode), " ", graph(of.graph), " ", node(of.node)));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
      return say(concat("node-gone ", node(of.node)));
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: {
      std::uint32_t profiler_id = 0;
      static_cast<void>(cupti_.exec_id(of.graphExec, &profiler_id));
      say_device();
      describe(of.graph);
      return say(
          concat("instantiated ", graph(of.graph), " ", exec(of.graphExec), " ", profiler_id));
    }
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      return say(concat("exec-gone ", exec(of.graphExec)));
    default: return;
  }
}

void CallRecorder::take_launch(const CUpti_CallbackData& data, CUgraphExec of, CUstream on,
                               const char* form) {
  const std::string what = concat(exec(of), " ", stream(on), " ", form);
  if (data.callbackSite == CUPTI_API_ENTER) return say(concat("launch ", what));
  say(concat("launched ", what, " ",
             static_cast<int>(*static_cast<const CUresult*>(data.functionReturnValue)), " ",
             data.correlationId));
}

void CallRecorder::take_driver(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* const p = data.functionParams;
  const auto nodes_now = nodes();
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      return take_launch(data, as<cuGraphLaunch_params>(p).hGraph,
                         as<cuGraphLaunch_params>(p).hStream, "plain");
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return take_launch(data, as<cuGraphLaunch_ptsz_params>(p).hGraphExec,
                         as<cuGraphLaunch_ptsz_params>(p).hStream, "ptsz");
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2: {
      if (data.callbackSite != CUPTI_API_EXIT) return;
      const auto& update = as<cuGraphExecUpdate_v2_params>(p);
      describe(update.hGraph);
      return say(concat("updated ", exec(update.hGraphExec), " ", graph(update.hGraph), " ",
                        static_cast<int>(*static_cast<const CUresult*>(data.functionReturnValue))));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz:
      if (data.callbackSite == CUPTI_API_ENTER) say("instantiate");
      return;
    default: break;
  }
  if (!detail::succeeded(data) || !nodes_now) return;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2: {
      const bool is_newer = id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2;
      const CUgraphNodeParams& made = *(is_newer ? as<cuGraphAddNode_v2_params>(p).nodeParams
                                                 : as<cuGraphAddNode_params>(p).nodeParams);
      if (made.type != CU_GRAPH_NODE_TYPE_CONDITIONAL || made.conditional.phGraph_out == nullptr)
        return;
      const CUgraphNode conditional = *(is_newer ? as<cuGraphAddNode_v2_params>(p).phGraphNode
                                                 : as<cuGraphAddNode_params>(p).phGraphNode);
      const std::vector<CUgraph> bodies(made.conditional.phGraph_out,
                                        made.conditional.phGraph_out + made.conditional.size);
      std::string line = concat("bodies ", node(conditional));
      for (const CUgraph body : bodies) line += concat(" ", graph(body));
      say(line);
      const std::lock_guard lock(mutex_);
      bodies_[conditional] = bodies;
      return;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2: {
      const auto& set = as<cuGraphExecKernelNodeSetParams_v2_params>(p);
      return say(concat("set ", exec(set.hGraphExec), " ", node(set.hNode), " ",
                        nodes_now->kernel(*set.nodeParams)));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams: {
      const auto& set = as<cuGraphExecMemcpyNodeSetParams_params>(p);
      return say(concat("set ", exec(set.hGraphExec), " ", node(set.hNode), " ",
                        NodeText::copy(*set.copyParams)));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams: {
      const auto& set = as<cuGraphExecMemsetNodeSetParams_params>(p);
      return say(concat("set ", exec(set.hGraphExec), " ", node(set.hNode), " ",
                        NodeText::fill(*set.memsetParams)));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled: {
      const auto& set = as<cuGraphNodeSetEnabled_params>(p);
      return say(concat("enabled ", exec(set.hGraphExec), " ", node(set.hNode), " ",
                        set.isEnabled != 0 ? 1 : 0));
    }
    default: return take_memory(id, p);
  }
}

void CallRecorder::take_memory(CUpti_CallbackId id, const void* p) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2:
      return allocated("device", *as<cuMemAlloc_v2_params>(p).dptr,
                       as<cuMemAlloc_v2_params>(p).bytesize);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged:
      return allocated("managed", *as<cuMemAllocManaged_params>(p).dptr,
                       as<cuMemAllocManaged_params>(p).bytesize);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz:
      return allocated("stream", *as<cuMemAllocAsync_params>(p).dptr,
                       as<cuMemAllocAsync_params>(p).bytesize);
    case CUPTI_DRIVER_TRACE_CBID_cuMemMap:
      return allocated("mapped", as<cuMemMap_params>(p).ptr, as<cuMemMap_params>(p).size);
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2:
      return allocated("host", number_of(*as<cuMemHostAlloc_params>(p).pp),
                       as<cuMemHostAlloc_params>(p).bytesize);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2:
      return allocated("host", number_of(*as<cuMemAllocHost_v2_params>(p).pp),
                       as<cuMemAllocHost_v2_params>(p).bytesize);
    case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
      return say(concat("free device ", hex(as<cuMemFree_v2_params>(p).dptr)));
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz:
      return say(concat("free stream ", hex(as<cuMemFreeAsync_params>(p).dptr)));
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost:
      return say(concat("free host ", hex(number_of(as<cuMemFreeHost_params>(p).p))));
    case CUPTI_DRIVER_TRACE_CBID_cuMemUnmap:
      return say(
          concat("unmap ", hex(as<cuMemUnmap_params>(p).ptr), " ", as<cuMemUnmap_params>(p).size));
    default: return say(concat("unrecorded ", id));
  }
}

void CallRecorder::push(std::uint64_t domain, const nvtxEventAttributes_t* attributes) {
  const std::string to = concat(log_.number(Kind::Domain, domain), " ");
  if (attributes == nullptr) return say(concat("push ", to));
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return say(concat("push ", to, attributes->message.ascii));
    case NVTX_MESSAGE_TYPE_UNICODE:
      return say(concat("push ", to, detail::to_utf8(attributes->message.unicode)));
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return say(concat("push-kept ", to,
                        log_.number(Kind::Text, number_of(attributes->message.registered))));
    default: return say(concat("push ", to));
  }
}

void CallRecorder::take_range(CUpti_CallbackId id, const CUpti_NvtxData& data) {
  const void* const p = data.functionParams;
  switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
      return say(concat("push 0 ", as<nvtxRangePushA_params>(p).message));
    case CUPTI_CBID_NVTX_nvtxRangePushW:
      return say(concat("push 0 ", detail::to_utf8(as<nvtxRangePushW_params>(p).message)));
    case CUPTI_CBID_NVTX_nvtxRangePushEx: return push(0, as<nvtxRangePushEx_params>(p).eventAttrib);
    case CUPTI_CBID_NVTX_nvtxRangePop: return say("pop 0");
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
      return push(number_of(as<nvtxDomainRangePushEx_params>(p).domain),
                  as<nvtxDomainRangePushEx_params>(p).core.eventAttrib);
    case CUPTI_CBID_NVTX_nvtxDomainRangePop:
      return say(concat(
          "pop ", log_.number(Kind::Domain, number_of(as<nvtxDomainRangePop_params>(p).domain))));
    case CUPTI_CBID_NVTX_nvtxDomainRegisterStringA:
      if (data.functionReturnValue == nullptr) return;
      return say(concat("keep ",
                        log_.number(Kind::Text, number_of(*static_cast<const nvtxStringHandle_t*>(
                                                    data.functionReturnValue))),
                        " ", as<nvtxDomainRegisterStringA_params>(p).string));
    default: return;
  }
}

void begin() {
  const char* const path = std::getenv("REPRISE_RECORD_CALLS");
  if (path == nullptr) return;
  detail::CuptiLibrary::Search search = detail::CuptiLibrary::default_search();
  search.present = detail::CuptiLibrary::Search::Present::Shared;
  const detail::CuptiLibrary::Loaded cupti = detail::CuptiLibrary::load(search);
  if (cupti.library == nullptr) return;
  the_recorder = new CallRecorder(path, *cupti.library);
  the_recorder->start();
}

}  // namespace
}  // namespace reprise::test

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static std::once_flag once;
  std::call_once(once, &reprise::test::begin);
  return 1;
}
