// A library for CUDA_INJECTION64_PATH that subscribes to CUPTI and does nothing with what it
// receives: the least that observing a program costs. BARE_SUBSCRIBER selects what `reprise run`
// needs at that level:
//   callbacks   launches, changes and creations of graphs
//   replays     callbacks, and records of graph launches
//   nodes       callbacks, and records of kernels, copies and fills
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::size_t kBufferBytes = 8u << 20;

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = kBufferBytes;
  *records = 0;
}

void CUPTIAPI read_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
  }
  std::free(buffer);
}

void check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  std::fprintf(stderr, "bare_subscriber: %s returned %d\n", call, static_cast<int>(result));
  std::exit(3);
}

void enable(CUpti_SubscriberHandle subscriber, CUpti_CallbackId id) {
  check(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id), "cuptiEnableCallback");
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* const level = std::getenv("BARE_SUBSCRIBER");
  const std::string_view wanted = level == nullptr ? "" : level;
  CUpti_SubscriberHandle subscriber = nullptr;
  check(cuptiSubscribe(&subscriber, &ignore, nullptr), "cuptiSubscribe");
  for (const CUpti_CallbackId id :
       {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate, CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
        CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
        CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
        CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams,
        CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams,
        CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams,
        CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled,
        CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
        CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
        CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
        CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz})
    enable(subscriber, id);
  check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE), "cuptiEnableDomain");
  if (wanted == "callbacks") return 1;
  check(cuptiActivityRegisterCallbacks(&give_buffer, &read_buffer),
        "cuptiActivityRegisterCallbacks");
  if (wanted == "replays") {
    check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), "cuptiActivityEnable");
  } else if (wanted == "nodes") {
    for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
      check(cuptiActivityEnable(kind), "cuptiActivityEnable");
  } else {
    std::fprintf(stderr, "bare_subscriber: set BARE_SUBSCRIBER to callbacks, replays or nodes\n");
    std::exit(2);
  }
  return 1;
}
