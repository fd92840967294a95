#include "profile/nvtx.hpp"

#ifdef REPRISE_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include <cstdio>

namespace reprise::detail {

#ifdef REPRISE_HAS_NVTX

namespace {

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

// Null where no tool is attached.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t handle = [] {
    const nvtxDomainHandle_t made = nvtxDomainCreateA("reprise");
    if (made == nullptr) return made;
    for (const NvtxWork work : {NvtxWork::Record, NvtxWork::Compile, NvtxWork::Instantiate, NvtxWork::Upload, NvtxWork::Replay, NvtxWork::Label}) {
      nvtxDomainNameCategoryA(made, static_cast<std::uint32_t>(work) + 1, prefix(work));
    }
    return made;
  }();
  return handle;
}

}  // namespace

bool nvtx_listens() noexcept { return domain() != nullptr; }

void NvtxRange::push(NvtxWork work, std::string_view name, std::uint64_t payload) noexcept {
  char text[160];
  const int length = static_cast<int>(name.size() < 120 ? name.size() : 120);
  switch (work) {
    case NvtxWork::Replay: std::snprintf(text, sizeof text, "%.*s #%llu", length, name.data(), static_cast<unsigned long long>(payload)); break;
    case NvtxWork::Label: std::snprintf(text, sizeof text, "%.*s", length, name.data()); break;
    case NvtxWork::Record:
    case NvtxWork::Compile:
    case NvtxWork::Instantiate:
    case NvtxWork::Upload: std::snprintf(text, sizeof text, "%s %.*s", prefix(work), length, name.data()); break;
  }
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.category = static_cast<std::uint32_t>(work) + 1;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = payload;
  nvtxDomainRangePushEx(domain(), &event);
}

void NvtxRange::pop() noexcept { nvtxDomainRangePop(domain()); }

#else

bool nvtx_listens() noexcept { return false; }
void NvtxRange::push(NvtxWork, std::string_view, std::uint64_t) noexcept {}
void NvtxRange::pop() noexcept {}

#endif

}  // namespace reprise::detail
