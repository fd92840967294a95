#include "capture/pointer_resolver.hpp"

#include <algorithm>
#include <functional>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {
namespace {

// A total order of addresses from different arrays.
constexpr std::less<const std::byte*> kBefore;

}  // namespace

void PointerResolver::refresh() {
  buffers_ = core_of(device_)->live_buffers();
  std::erase_if(buffers_, [](const auto& buffer) {
    return buffer->address == nullptr || buffer->kind == BufferKind::BorrowedHost ||
           buffer->is_stale();
  });
  std::sort(buffers_.begin(), buffers_.end(),
            [](const auto& a, const auto& b) { return kBefore(a->address, b->address); });
}

BufferView PointerResolver::find_listed(const void* pointer) const {
  const auto* const address = static_cast<const std::byte*>(pointer);
  const auto after =
      std::upper_bound(buffers_.begin(), buffers_.end(), address,
                       [](const std::byte* at, const std::shared_ptr<PoolBuffer>& buffer) {
                         return kBefore(at, buffer->address);
                       });
  // Adopted memory may lie inside another buffer, so this searches for the nearest start whose
  // buffer contains the address.
  for (auto at = after; at != buffers_.begin();) {
    const std::shared_ptr<PoolBuffer>& buffer = *--at;
    const auto offset = static_cast<std::uint64_t>(address - buffer->address);
    if (offset < buffer->bytes && !buffer->is_stale())
      return make_handle<BufferView>(buffer, offset, buffer->bytes - offset);
  }
  return {};
}

BufferView PointerResolver::find(const void* address) {
  if (BufferView known = find_listed(address)) return known;
  refresh();
  return find_listed(address);
}

BufferView PointerResolver::resolve(const void* address, std::string_view role) {
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

BufferView PointerResolver::resolve(const void* address, std::uint64_t bytes,
                                    std::string_view role) {
  const BufferView remaining = resolve(address, role);
  if (bytes > remaining.bytes()) {
    fail(ErrorCode::OutOfRange, Stage::Record, role,
         concat(role, " of ", bytes, " bytes exceeds ", display_name(*core_of(remaining)),
                ", which has ", remaining.bytes(), " bytes from that address"));
  }
  return remaining.subview(0, bytes);
}

}  // namespace reprise::detail
