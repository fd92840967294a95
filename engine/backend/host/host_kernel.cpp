#include "backend/host/host_kernel.hpp"

#include <algorithm>
#include <map>

namespace reprise::detail {

namespace {

// Kernels of one file share its module.
std::shared_ptr<const PtxModule> parse(std::string_view ptx) {
  static std::mutex mutex;
  static std::map<const char*, std::weak_ptr<const PtxModule>> all;  // by the address of the text
  const std::lock_guard lock(mutex);
  std::weak_ptr<const PtxModule>& known = all[ptx.data()];
  std::shared_ptr<const PtxModule> module = known.lock();
  if (!module) known = module = std::make_shared<const PtxModule>(std::string(ptx));
  return module;
}

}  // namespace

std::shared_ptr<const Footprint> HostKernel::footprint(const DispatchPayload& dispatch) const {
  std::call_once(is_parsed_, [this] {
    const std::span<const KernelPtx> all = ptx_ != nullptr ? ptx_() : std::span<const KernelPtx>();
    const auto with_text = std::find_if(all.begin(), all.end(),
                                        [](const KernelPtx& one) { return !one.text.empty(); });
    if (with_text == all.end()) return;
    module_ = parse(with_text->text);
    footprints_ = std::make_unique<KernelFootprints>(*module_, find_kernel(*module_, name_));
  });
  return footprints_ ? find_footprint(*footprints_, dispatch) : nullptr;
}

}  // namespace reprise::detail
