#include "injection/nvtx_functions.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "injection/utf16.hpp"

// Only the types: the functions are those of the program.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace reprise::detail {
namespace {

constexpr char kUnnamed[] = "range";
constexpr int kNoLevel = -2;  // NVTX: the tool does not report levels of ranges

// The type of a payload that is an array of nvtxPayloadData_t.
constexpr auto kExtendedPayload = static_cast<std::int32_t>(0xDFBD0009);

std::atomic<void (*)(const NcclCommunicator&)> on_communicator{nullptr};

// Never destroyed: threads of the program may use it until the process ends.
const std::string* registered(std::string text) {
  static auto* const mutex = new std::mutex;
  static auto* const texts = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return &*texts->insert(std::move(text)).first;
}

std::span<const NvtxPayload> payloads_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr || attributes->payloadType != kExtendedPayload ||
      attributes->payload.ullValue == 0 || attributes->reserved0 <= 0)
    return {};
  return {reinterpret_cast<const NvtxPayload*>(attributes->payload.ullValue),
          static_cast<std::size_t>(attributes->reserved0)};
}

// Out of memory, ranges are lost.
int push(std::uint64_t domain, std::string_view name,
         std::span<const NvtxPayload> payloads = {}) noexcept {
  try {
    ThreadRanges& ranges = thread_ranges();
    ranges.nccl_calls.push(domain, name, payloads);
    ranges.scopes.push(domain, name);
  } catch (const std::exception&) {
  }
  return kNoLevel;
}

int push_wide(std::uint64_t domain, std::wstring_view name,
              std::span<const NvtxPayload> payloads = {}) noexcept {
  try {
    return push(domain, to_utf8(name), payloads);
  } catch (const std::exception&) {
    return kNoLevel;
  }
}

int push(std::uint64_t domain, const nvtxEventAttributes_t* attributes) noexcept {
  const auto payloads = payloads_of(attributes);
  const auto* const message = attributes == nullptr ? nullptr : &attributes->message;
  if (message == nullptr || message->ascii == nullptr) return push(domain, kUnnamed, payloads);
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return push(domain, message->ascii, payloads);
    case NVTX_MESSAGE_TYPE_UNICODE: return push_wide(domain, message->unicode, payloads);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return push(domain, *reinterpret_cast<const std::string*>(message->registered), payloads);
    default: return push(domain, kUnnamed, payloads);  // no message
  }
}

std::uint64_t number_of(nvtxDomainHandle_t domain) {
  return reinterpret_cast<std::uintptr_t>(domain);
}

int NVTX_API range_push_a(const char* name) { return push(0, name == nullptr ? kUnnamed : name); }
int NVTX_API range_push_w(const wchar_t* name) {
  return name == nullptr ? push(0, kUnnamed) : push_wide(0, name);
}
int NVTX_API range_push(const nvtxEventAttributes_t* attributes) { return push(0, attributes); }
int NVTX_API range_pop() {
  end_range(0);
  return kNoLevel;
}
int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return push(number_of(domain), attributes);
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
  end_range(number_of(domain));
  return kNoLevel;
}

// Different for each domain.
nvtxDomainHandle_t make_domain() {
  static std::atomic<std::uintptr_t> last{0};
  return reinterpret_cast<nvtxDomainHandle_t>(++last);
}
nvtxDomainHandle_t NVTX_API create_domain_a(const char*) { return make_domain(); }
nvtxDomainHandle_t NVTX_API create_domain_w(const wchar_t*) { return make_domain(); }

nvtxStringHandle_t handle_of(const std::string* text) {
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(text));
}
nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t, const char* text) {
  return handle_of(registered(text == nullptr ? kUnnamed : text));
}
nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t, const wchar_t* text) {
  return handle_of(registered(text == nullptr ? kUnnamed : to_utf8(text)));
}

// nvtxExtModuleInfo_t and the payload extension of NVTX, whose headers would define its functions.
struct NvtxSegment {
  std::size_t id, slots;
  std::intptr_t* functions;
};
struct NvtxModule {
  std::uint16_t nvtx_version, bytes, module, compatibility;
  std::size_t segment_count;
  NvtxSegment* segments;
};
constexpr std::uint16_t kPayloadModule = 2;
constexpr std::size_t kRangePopPayload = 4;

int pop_range_payload(const void* domain, const NvtxPayload* payloads, std::size_t count) {
  end_range(reinterpret_cast<std::uintptr_t>(domain), {payloads, payloads == nullptr ? 0 : count});
  return kNoLevel;
}

struct Table {
  NvtxFunctionTable functions = nullptr;
  unsigned count = 0;

  template <class Function>
  void put(unsigned at, Function* function) const {
    if (at < count) *functions[at] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
};

}  // namespace

ThreadRanges& thread_ranges() {
  thread_local ThreadRanges ranges;
  return ranges;
}

void end_range(std::uint64_t domain, std::span<const NvtxPayload> payloads) noexcept {
  try {
    ThreadRanges& ranges = thread_ranges();
    ranges.scopes.pop(domain);
    if (const auto created = ranges.nccl_calls.pop(domain, payloads))
      on_communicator.load()(*created);
  } catch (const std::exception&) {
  }
}

bool install_nvtx_functions(const void* (*tables)(std::uint32_t),
                            void (*created)(const NcclCommunicator&)) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  Table core, domains;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core.functions, &core.count) == 0 ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &domains.functions, &domains.count) ==
          0)
    return false;
  on_communicator.store(created);
  core.put(NVTX_CBID_CORE_RangePushA, &range_push_a);
  core.put(NVTX_CBID_CORE_RangePushW, &range_push_w);
  core.put(NVTX_CBID_CORE_RangePushEx, &range_push);
  core.put(NVTX_CBID_CORE_RangePop, &range_pop);
  domains.put(NVTX_CBID_CORE2_DomainRangePushEx, &domain_push);
  domains.put(NVTX_CBID_CORE2_DomainRangePop, &domain_pop);
  domains.put(NVTX_CBID_CORE2_DomainCreateA, &create_domain_a);
  domains.put(NVTX_CBID_CORE2_DomainCreateW, &create_domain_w);
  domains.put(NVTX_CBID_CORE2_DomainRegisterStringA, &register_a);
  domains.put(NVTX_CBID_CORE2_DomainRegisterStringW, &register_w);
  return true;
}

void install_nvtx_extension(const void* extension) {
  const auto& module = *static_cast<const NvtxModule*>(extension);
  if (module.module != kPayloadModule || module.segment_count == 0 ||
      module.segments[0].slots <= kRangePopPayload)
    return;
  module.segments[0].functions[kRangePopPayload] =
      reinterpret_cast<std::intptr_t>(&pop_range_payload);
}

}  // namespace reprise::detail
