#include "nvtx/listener.hpp"

#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#if __has_include(<nvtx3/nvToolsExtMem.h>)
#include <nvtx3/nvToolsExtMem.h>
#define REPRISE_LISTENS_TO_MEMORY 1
#endif

namespace reprise::test {
namespace {

struct Recorder {
  std::mutex mutex;
  std::vector<NvtxEvent> events;
  std::deque<std::string> strings;  // the handles are addresses of elements
  std::string domain;
  std::uint64_t ranges = 0;
};

// Never destroyed: used before main and during process exit.
Recorder& recorder() {
  alignas(Recorder) static std::byte place[sizeof(Recorder)];
  static Recorder* const all = new (place) Recorder;
  return *all;
}

void record_event(NvtxEvent events) {
  const std::lock_guard lock(recorder().mutex);
  recorder().events.push_back(std::move(events));
}

NvtxEvent make_event(NvtxEvent::Kind kind, const nvtxEventAttributes_t* event) {
  NvtxEvent events;
  events.kind = kind;
  events.category = event->category;
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    events.message = NvtxEvent::Message::Ascii;
    events.text = event->message.ascii;
  } else if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    events.message = NvtxEvent::Message::Registered;
    events.text = *reinterpret_cast<const std::string*>(event->message.registered);
  }
  if (event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
    events.payload = event->payload.ullValue;
  return events;
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  const std::lock_guard lock(recorder().mutex);
  if (recorder().domain.empty()) recorder().domain = name;
  return reinterpret_cast<nvtxDomainHandle_t>(&recorder());
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  record_event({.kind = NvtxEvent::Kind::Register, .text = text});
  const std::lock_guard lock(recorder().mutex);
  return reinterpret_cast<nvtxStringHandle_t>(&recorder().strings.emplace_back(text));
}

void NVTX_API name_category(nvtxDomainHandle_t, std::uint32_t category, const char* name) {
  record_event({.kind = NvtxEvent::Kind::Category, .text = name, .category = category});
}

int NVTX_API push_range(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  record_event(make_event(NvtxEvent::Kind::Push, event));
  return 0;
}

int NVTX_API pop_range(nvtxDomainHandle_t) {
  record_event({.kind = NvtxEvent::Kind::Pop});
  return 0;
}

nvtxRangeId_t NVTX_API start_range(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  NvtxEvent events = make_event(NvtxEvent::Kind::Start, event);
  const std::lock_guard lock(recorder().mutex);
  events.id = ++recorder().ranges;
  recorder().events.push_back(events);
  return events.id;
}

void NVTX_API end_range(nvtxDomainHandle_t, nvtxRangeId_t id) {
  record_event({.kind = NvtxEvent::Kind::End, .id = id});
}

void NVTX_API name_stream(CUstream stream, const char* name) {
  record_event({.kind = NvtxEvent::Kind::Queue, .text = name, .subject = stream});
}

#ifdef REPRISE_LISTENS_TO_MEMORY
void NVTX_API name_regions(nvtxDomainHandle_t, const nvtxMemRegionsNameBatch_t* batch) {
  for (std::size_t i = 0; i < batch->regionCount; ++i) {
    record_event({.kind = NvtxEvent::Kind::Memory,
                  .text = batch->regionElements[i].name.ascii,
                  .subject = batch->regionElements[i].region.pointer});
  }
}

int NVTX_API listen_to_extension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_MODULEID_MEM) return 0;
  for (std::size_t i = 0; i < module->segments[0].slotCount; ++i)
    module->segments[0].functionSlots[i] = 0;
  module->segments[0].functionSlots[NVTX3EXT_CBID_nvtxMemRegionsName] =
      reinterpret_cast<std::intptr_t>(&name_regions);
  return 1;
}
#endif

template <class Function>
void put(NvtxFunctionTable table, unsigned at, Function* function) {
  *table[at] = reinterpret_cast<NvtxFunctionPointer>(function);
}

int NVTX_API listen(NvtxGetExportTableFunc_t tables) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr, cuda = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core, &size) == 0) return 0;
  put(core, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
  put(core, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
  put(core, NVTX_CBID_CORE2_DomainNameCategoryA, &name_category);
  put(core, NVTX_CBID_CORE2_DomainRangePushEx, &push_range);
  put(core, NVTX_CBID_CORE2_DomainRangePop, &pop_range);
  put(core, NVTX_CBID_CORE2_DomainRangeStartEx, &start_range);
  put(core, NVTX_CBID_CORE2_DomainRangeEnd, &end_range);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &cuda, &size) == 0) return 0;
  put(cuda, NVTX_CBID_CUDA_NameCuStreamA, &name_stream);
  return 1;
}

// A tool attached to this program from outside takes precedence.
[[maybe_unused]] const int no_other_tool = unsetenv("NVTX_INJECTION64_PATH");

}  // namespace

std::vector<NvtxEvent> take_events() {
  const std::lock_guard lock(recorder().mutex);
  return std::exchange(recorder().events, {});
}

std::string heard_domain() {
  const std::lock_guard lock(recorder().mutex);
  return recorder().domain;
}

}  // namespace reprise::test

// NVTX's entry points for statically linked tools; NVTX defines weak ones.
extern "C" {
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = &reprise::test::listen;
#ifdef REPRISE_LISTENS_TO_MEMORY
NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr =
    &reprise::test::listen_to_extension;
#endif
}
