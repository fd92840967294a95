// A library for CUDA_INJECTION64_PATH that subscribes to CUPTI and does nothing with what it
// receives: the least that observing a program costs. BARE_SUBSCRIBER selects what `reprise run`
// needs at that level:
//   callbacks   those of the program's calls
//   nodes       callbacks, and records of kernels, copies and fills
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "injection/program_callbacks.hpp"

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

}  // namespace

extern "C" int InitializeInjection() {
  const char* const level = std::getenv("BARE_SUBSCRIBER");
  const std::string_view wanted = level == nullptr ? "" : level;
  if (wanted != "callbacks" && wanted != "nodes") {
    std::fprintf(stderr, "bare_subscriber: set BARE_SUBSCRIBER to callbacks or nodes\n");
    std::exit(2);
  }
  CUpti_SubscriberHandle subscriber = nullptr;
  check(cuptiSubscribe(&subscriber, &ignore, nullptr), "cuptiSubscribe");
  for (const reprise::detail::CallbackId& one : reprise::detail::ProgramCallbacks::wanted())
    check(cuptiEnableCallback(1, subscriber, one.domain, one.id), "cuptiEnableCallback");
  if (wanted == "callbacks") return 1;
  check(cuptiActivityRegisterCallbacks(&give_buffer, &read_buffer),
        "cuptiActivityRegisterCallbacks");
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    check(cuptiActivityEnable(kind), "cuptiActivityEnable");
  return 1;
}
