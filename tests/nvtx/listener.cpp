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

struct Ears {
  std::mutex mutex;
  std::vector<Heard> heard;
  std::deque<std::string> strings;  // their addresses are the handles
  std::string domain;
  std::uint64_t ranges = 0;
};

// Never destroyed: used before main and after its end.
Ears& ears() {
  alignas(Ears) static std::byte place[sizeof(Ears)];
  static Ears* const all = new (place) Ears;
  return *all;
}

void hear(Heard heard) {
  const std::lock_guard lock(ears().mutex);
  ears().heard.push_back(std::move(heard));
}

Heard heard_of(Heard::Kind kind, const nvtxEventAttributes_t* event) {
  Heard heard;
  heard.kind = kind;
  heard.category = event->category;
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    heard.message = Heard::Message::Ascii;
    heard.text = event->message.ascii;
  } else if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    heard.message = Heard::Message::Registered;
    heard.text = *reinterpret_cast<const std::string*>(event->message.registered);
  }
  if (event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
    heard.payload = event->payload.ullValue;
  return heard;
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  const std::lock_guard lock(ears().mutex);
  if (ears().domain.empty()) ears().domain = name;
  return reinterpret_cast<nvtxDomainHandle_t>(&ears());
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  hear({.kind = Heard::Kind::Register, .text = text});
  const std::lock_guard lock(ears().mutex);
  return reinterpret_cast<nvtxStringHandle_t>(&ears().strings.emplace_back(text));
}

void NVTX_API name_category(nvtxDomainHandle_t, std::uint32_t category, const char* name) {
  hear({.kind = Heard::Kind::Category, .text = name, .category = category});
}

int NVTX_API push_range(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  hear(heard_of(Heard::Kind::Push, event));
  return 0;
}

int NVTX_API pop_range(nvtxDomainHandle_t) {
  hear({.kind = Heard::Kind::Pop});
  return 0;
}

nvtxRangeId_t NVTX_API start_range(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  Heard heard = heard_of(Heard::Kind::Start, event);
  const std::lock_guard lock(ears().mutex);
  heard.id = ++ears().ranges;
  ears().heard.push_back(heard);
  return heard.id;
}

void NVTX_API end_range(nvtxDomainHandle_t, nvtxRangeId_t id) {
  hear({.kind = Heard::Kind::End, .id = id});
}

void NVTX_API name_stream(CUstream stream, const char* name) {
  hear({.kind = Heard::Kind::Queue, .text = name, .subject = stream});
}

#ifdef REPRISE_LISTENS_TO_MEMORY
void NVTX_API name_regions(nvtxDomainHandle_t, const nvtxMemRegionsNameBatch_t* batch) {
  for (std::size_t i = 0; i < batch->regionCount; ++i) {
    hear({.kind = Heard::Kind::Memory,
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

// A tool around this program would be asked first.
[[maybe_unused]] const int no_other_tool = unsetenv("NVTX_INJECTION64_PATH");

}  // namespace

std::vector<Heard> take_heard() {
  const std::lock_guard lock(ears().mutex);
  return std::exchange(ears().heard, {});
}

std::string heard_domain() {
  const std::lock_guard lock(ears().mutex);
  return ears().domain;
}

}  // namespace reprise::test

// Where NVTX looks for a tool that is linked in; it has a weak one of each itself.
extern "C" {
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = &reprise::test::listen;
#ifdef REPRISE_LISTENS_TO_MEMORY
NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr =
    &reprise::test::listen_to_extension;
#endif
}
