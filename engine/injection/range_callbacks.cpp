// Handles the NVTX ranges that the program opens and closes.
#include <generated_nvtx_meta.h>

#include <exception>

#include "injection/callback_data.hpp"
#include "injection/program_callbacks.hpp"
#include "injection/utf16.hpp"

namespace reprise::detail {
namespace {

constexpr char kUnnamed[] = "range";

std::string text_of(const char* text) { return text == nullptr ? kUnnamed : text; }
std::string text_of(const wchar_t* text) { return text == nullptr ? kUnnamed : to_utf8(text); }

// The type of a payload that is an array of nvtxPayloadData_t.
constexpr auto kExtendedPayload = static_cast<std::int32_t>(0xDFBD0009);

std::span<const NvtxPayload> payloads_of(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr || attributes->payloadType != kExtendedPayload ||
      attributes->payload.ullValue == 0 || attributes->reserved0 <= 0)
    return {};
  return {reinterpret_cast<const NvtxPayload*>(attributes->payload.ullValue),
          static_cast<std::size_t>(attributes->reserved0)};
}

}  // namespace

std::string ProgramCallbacks::range_name(const void* of) {
  const auto* const attributes = static_cast<const nvtxEventAttributes_t*>(of);
  if (attributes == nullptr) return kUnnamed;
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: return text_of(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return text_of(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const std::lock_guard lock(mutex_);
      const auto found = registered_strings_.find(number_of(attributes->message.registered));
      return found == registered_strings_.end() ? kUnnamed : found->second;
    }
    default: return kUnnamed;  // no message
  }
}

void ProgramCallbacks::register_string(const CUpti_NvtxData& data, std::string text) {
  if (data.functionReturnValue == nullptr) return;
  const auto handle = *static_cast<const nvtxStringHandle_t*>(data.functionReturnValue);
  const std::lock_guard lock(mutex_);
  registered_strings_[number_of(handle)] = std::move(text);
}

void ProgramCallbacks::take_range(CUpti_CallbackId id, const CUpti_NvtxData& data) {
  OpenScopes& scopes = this_thread().scopes;
  const void* const p = data.functionParams;
  switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
      return scopes.push(0, text_of(as<nvtxRangePushA_params>(p).message));
    case CUPTI_CBID_NVTX_nvtxRangePushW:
      return scopes.push(0, text_of(as<nvtxRangePushW_params>(p).message));
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
      return scopes.push(0, range_name(as<nvtxRangePushEx_params>(p).eventAttrib));
    case CUPTI_CBID_NVTX_nvtxRangePop: return scopes.pop(0);
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
      const auto& push = as<nvtxDomainRangePushEx_params>(p);
      std::string name = range_name(push.core.eventAttrib);
      this_thread().nccl_calls.push(number_of(push.domain), name,
                                    payloads_of(push.core.eventAttrib));
      return scopes.push(number_of(push.domain), std::move(name));
    }
    case CUPTI_CBID_NVTX_nvtxDomainRangePop:
      return take_pop(number_of(as<nvtxDomainRangePop_params>(p).domain));
    case CUPTI_CBID_NVTX_nvtxDomainRegisterStringA:
      return register_string(data, text_of(as<nvtxDomainRegisterStringA_params>(p).string));
    case CUPTI_CBID_NVTX_nvtxDomainRegisterStringW:  // whose parameter CUPTI's header has as a
                                                     // narrow text
      return register_string(data, text_of(reinterpret_cast<const wchar_t*>(
                                       as<nvtxDomainRegisterStringW_params>(p).string)));
    default: return;  // not subscribed
  }
}

void ProgramCallbacks::take_pop(std::uint64_t domain,
                                std::span<const NvtxPayload> payloads) noexcept {
  try {
    Thread& thread = this_thread();
    thread.scopes.pop(domain);
    if (const auto created = thread.nccl_calls.pop(domain, payloads))
      program_.communicator_created(*created);
  } catch (const std::exception& error) {
    record_error(error.what());
  }
}

}  // namespace reprise::detail
