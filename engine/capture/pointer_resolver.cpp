#include "capture/pointer_resolver.hpp"

#include <algorithm>
#include <functional>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {
namespace {

// A total order of addresses from different arrays.
constexpr std::less<const std::byte*> kBefore;

}  // namespace

void PointerResolver::look() {
  known_ = device_.core()->live_buffers();
  std::erase_if(
      known_, [](const auto& buffer) { return buffer->address == nullptr || buffer->is_stale(); });
  std::sort(known_.begin(), known_.end(),
            [](const auto& a, const auto& b) { return kBefore(a->address, b->address); });
}

BufferView PointerResolver::find_known(const void* place) const {
  const auto* const address = static_cast<const std::byte*>(place);
  const auto after =
      std::upper_bound(known_.begin(), known_.end(), address,
                       [](const std::byte* at, const std::shared_ptr<PoolBuffer>& buffer) {
                         return kBefore(at, buffer->address);
                       });
  // Adopted memory may lie inside another buffer, so this searches for the nearest start whose
  // buffer contains the address.
  for (auto at = after; at != known_.begin();) {
    const std::shared_ptr<PoolBuffer>& buffer = *--at;
    const auto offset = static_cast<std::uint64_t>(address - buffer->address);
    if (offset < buffer->bytes && !buffer->is_stale())
      return {buffer, offset, buffer->bytes - offset};
  }
  return {};
}

BufferView PointerResolver::find(const void* address) {
  if (BufferView known = find_known(address)) return known;
  look();
  return find_known(address);
}

BufferView PointerResolver::reach(const void* address, std::string_view role) {
  if (address == nullptr)
    fail(ErrorCode::InvalidArgument, Stage::Record, role, concat(role, " is a null pointer"));
  if (BufferView known = find(address)) return known;
#ifdef REPRISE_HAS_CUDA
  if (device_.info().kind == DeviceKind::Cuda) {
    if (BufferView adopted = adopt_allocation(device_, address)) return adopted;
  }
#endif
  fail(ErrorCode::InvalidArgument, Stage::Record, role,
       concat(role, " does not point into a buffer of device ", device_.info().selector,
              "; use memory of CapturePool::allocate or host"));
}

BufferView PointerResolver::reach(const void* address, std::uint64_t bytes, std::string_view role) {
  const BufferView rest = reach(address, role);
  if (bytes > rest.bytes()) {
    fail(ErrorCode::OutOfRange, Stage::Record, role,
         concat(role, " of ", bytes, " bytes exceeds ", display_name(*rest.core()), ", which has ",
                rest.bytes(), " bytes from that address"));
  }
  return rest.subview(0, bytes);
}

}  // namespace reprise::detail
