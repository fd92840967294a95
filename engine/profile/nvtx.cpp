#include "profile/nvtx.hpp"

#ifdef REPRISE_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#if __has_include(<nvtx3/nvToolsExtMem.h>)  // an older toolkit has no names of memory
#include <nvtx3/nvToolsExtMem.h>
#define REPRISE_HAS_NVTX_MEM 1
#endif
#endif

#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

namespace reprise::detail {

#ifdef REPRISE_HAS_NVTX

namespace {

constexpr int kMaxName = 120;
constexpr std::size_t kMaxRegistered = 16384;
using Text = char[160];

int shortened(std::string_view name) {
  return static_cast<int>(name.size() < kMaxName ? name.size() : kMaxName);
}

const char* prefix(NvtxWork work) {
  switch (work) {
    case NvtxWork::Record: return "record";
    case NvtxWork::Compile: return "compile";
    case NvtxWork::Instantiate: return "instantiate";
    case NvtxWork::Upload: return "upload";
    case NvtxWork::Replay: return "replay";
    case NvtxWork::Label: return "label";
  }
  return "";
}

// Null if no tool is attached.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t handle = [] {
    const nvtxDomainHandle_t made = nvtxDomainCreateA("reprise");
    if (made == nullptr) return made;
    for (const NvtxWork work : {NvtxWork::Record, NvtxWork::Compile, NvtxWork::Instantiate,
                                NvtxWork::Upload, NvtxWork::Replay, NvtxWork::Label}) {
      nvtxDomainNameCategoryA(made, static_cast<std::uint32_t>(work) + 1, prefix(work));
    }
    return made;
  }();
  return handle;
}

// The tool's handle for a text, kept for the life of the process. Null after kMaxRegistered texts.
nvtxStringHandle_t registered(const char* text) noexcept {
  struct Strings {
    std::mutex mutex;
    std::unordered_map<std::string, nvtxStringHandle_t> known;
  };
  alignas(Strings) static std::byte storage[sizeof(Strings)];
  static Strings* const strings =
      new (storage) Strings;  // never destroyed: used during process exit
  try {
    const std::lock_guard lock(strings->mutex);
    const auto found = strings->known.find(text);
    if (found != strings->known.end()) return found->second;
    if (strings->known.size() == kMaxRegistered) return nullptr;
    return strings->known.emplace(text, nvtxDomainRegisterStringA(domain(), text)).first->second;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void write_name(Text& text, NvtxWork work, std::string_view name, std::uint64_t payload) {
  const int length = shortened(name);
  switch (work) {
    case NvtxWork::Replay:
      std::snprintf(text, sizeof text, "%.*s #%llu", length, name.data(),
                    static_cast<unsigned long long>(payload));
      break;
    case NvtxWork::Label: std::snprintf(text, sizeof text, "%.*s", length, name.data()); break;
    case NvtxWork::Record:
    case NvtxWork::Compile:
    case NvtxWork::Instantiate:
    case NvtxWork::Upload:
      std::snprintf(text, sizeof text, "%s %.*s", prefix(work), length, name.data());
      break;
  }
}

// `text` must outlive the result.
nvtxEventAttributes_t event_of(const Text& text, NvtxWork work, std::uint64_t payload) noexcept {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.category = static_cast<std::uint32_t>(work) + 1;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  if (work == NvtxWork::Replay) {
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = payload;
  } else if (const nvtxStringHandle_t handle = registered(text)) {
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = handle;
  }
  return event;
}

}  // namespace

bool nvtx_enabled() noexcept { return domain() != nullptr; }

void NvtxRange::push(NvtxWork work, std::string_view name, std::uint64_t payload) noexcept {
  Text text;
  write_name(text, work, name, payload);
  const nvtxEventAttributes_t event = event_of(text, work, payload);
  nvtxDomainRangePushEx(domain(), &event);
}

void NvtxRange::pop() noexcept { nvtxDomainRangePop(domain()); }

std::uint64_t nvtx_start(NvtxWork work, std::string_view name) noexcept {
  if (!nvtx_enabled()) return 0;
  Text text;
  write_name(text, work, name, 0);
  const nvtxEventAttributes_t event = event_of(text, work, 0);
  return nvtxDomainRangeStartEx(domain(), &event);
}

void nvtx_end(std::uint64_t range) noexcept {
  if (range != 0) nvtxDomainRangeEnd(domain(), range);
}

void nvtx_name_queue(void* stream, std::string_view label) noexcept {
  if (stream == nullptr || label.empty()) return;
  Text text;
  std::snprintf(text, sizeof text, "%.*s", shortened(label), label.data());
  nvtxNameCuStreamA(static_cast<CUstream>(stream), text);
}

void nvtx_name_memory([[maybe_unused]] const void* address, [[maybe_unused]] std::string_view owner,
                      [[maybe_unused]] std::string_view name) noexcept {
#ifdef REPRISE_HAS_NVTX_MEM
  char text[50];  // compute-sanitizer reports longer names as errors
  std::snprintf(text, sizeof text, "%.*s: %.*s", shortened(owner), owner.data(), shortened(name),
                name.data());
  nvtxMemRegionNameDesc_t region = {};
  region.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  region.nameType = NVTX_MESSAGE_TYPE_ASCII;
  region.region.pointer = address;
  region.name.ascii = text;
  nvtxMemRegionsNameBatch_t batch = {};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.regionCount = 1;
  batch.regionElementSize = sizeof region;
  batch.regionElements = &region;
  nvtxMemRegionsName(domain(), &batch);  // a tool may handle this call without supporting ranges
#endif
}

#else

bool nvtx_enabled() noexcept { return false; }
void NvtxRange::push(NvtxWork, std::string_view, std::uint64_t) noexcept {}
void NvtxRange::pop() noexcept {}
std::uint64_t nvtx_start(NvtxWork, std::string_view) noexcept { return 0; }
void nvtx_end(std::uint64_t) noexcept {}
void nvtx_name_queue(void*, std::string_view) noexcept {}
void nvtx_name_memory(const void*, std::string_view, std::string_view) noexcept {}

#endif

}  // namespace reprise::detail
