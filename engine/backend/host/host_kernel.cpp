#include "backend/host/host_kernel.hpp"

#include <algorithm>

namespace reprise::detail {

std::shared_ptr<const Footprint> HostKernel::footprint(const DispatchPayload& dispatch) const {
  std::call_once(is_parsed_, [this] {
    const std::span<const KernelPtx> all = ptx_ != nullptr ? ptx_() : std::span<const KernelPtx>();
    const auto with_text = std::find_if(all.begin(), all.end(),
                                        [](const KernelPtx& one) { return !one.text.empty(); });
    if (with_text == all.end()) return;
    module_ = std::make_unique<const PtxModule>(std::string(with_text->text));
    footprints_ = std::make_unique<KernelFootprints>(*module_, find_kernel(*module_, name_));
  });
  return footprints_ ? find_footprint(*footprints_, dispatch) : nullptr;
}

}  // namespace reprise::detail
