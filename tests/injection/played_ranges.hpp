// Simulates a program's copy of NVTX, whose functions the library under test installs. Threads:
// those of the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "injection/nvtx_functions.hpp"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace reprise::test {

class PlayedRanges {
 public:
  // `created`: as for install_nvtx_functions().
  explicit PlayedRanges(void (*created)(const detail::NcclCommunicator&) =
                            [](const detail::NcclCommunicator&) {}) {
    is_installed = detail::install_nvtx_functions(&tables, created);
  }

  void push(const char* name) const {
    call<int(const char*)>(core, NVTX_CBID_CORE_RangePushA)(name);
  }
  void push(const wchar_t* name) const {
    call<int(const wchar_t*)>(core, NVTX_CBID_CORE_RangePushW)(name);
  }
  void push(const nvtxEventAttributes_t& attributes) const {
    call<int(const nvtxEventAttributes_t*)>(core, NVTX_CBID_CORE_RangePushEx)(&attributes);
  }
  void push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& attributes) const {
    call<int(nvtxDomainHandle_t, const nvtxEventAttributes_t*)>(
        domains, NVTX_CBID_CORE2_DomainRangePushEx)(domain, &attributes);
  }
  void pop() const { call<int()>(core, NVTX_CBID_CORE_RangePop)(); }
  void pop(nvtxDomainHandle_t domain) const {
    call<int(nvtxDomainHandle_t)>(domains, NVTX_CBID_CORE2_DomainRangePop)(domain);
  }
  [[nodiscard]] nvtxDomainHandle_t make_domain() const {
    return call<nvtxDomainHandle_t(const char*)>(domains, NVTX_CBID_CORE2_DomainCreateA)("domain");
  }
  [[nodiscard]] nvtxStringHandle_t keep(const char* text) const {
    return call<nvtxStringHandle_t(nvtxDomainHandle_t, const char*)>(
        domains, NVTX_CBID_CORE2_DomainRegisterStringA)(nullptr, text);
  }
  [[nodiscard]] nvtxStringHandle_t keep(const wchar_t* text) const {
    return call<nvtxStringHandle_t(nvtxDomainHandle_t, const wchar_t*)>(
        domains, NVTX_CBID_CORE2_DomainRegisterStringW)(nullptr, text);
  }

  bool is_installed = false;

 private:
  static constexpr std::size_t kFunctions = 32;
  using Functions = std::array<NvtxFunctionPointer, kFunctions>;
  inline static Functions core{}, domains{};

  template <class Signature>
  static Signature* call(const Functions& functions, std::size_t id) {
    return reinterpret_cast<Signature*>(functions[id]);
  }

  static int table_of(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
    static std::array<NvtxFunctionPointer*, kFunctions> core_slots, domain_slots;
    Functions& functions = module == NVTX_CB_MODULE_CORE ? core : domains;
    auto& slots = module == NVTX_CB_MODULE_CORE ? core_slots : domain_slots;
    for (std::size_t i = 0; i < kFunctions; ++i) slots[i] = &functions[i];
    *table = slots.data();
    *size = kFunctions;
    return 1;
  }
  static const void* tables(std::uint32_t id) {
    static const NvtxExportTableCallbacks callbacks{sizeof(NvtxExportTableCallbacks), &table_of};
    return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
  }
};

}  // namespace reprise::test
