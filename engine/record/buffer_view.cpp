#include <reprise/buffer.hpp>
#include <reprise/error.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/buffer_core.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& text) {
  throw Error({.code = code, .stage = Stage::Record}, text);
}

const detail::BufferCore& checked(const std::shared_ptr<detail::BufferCore>& core,
                                  std::string_view call) {
  return detail::require_handle(core, "buffer", call, Stage::Record);
}

}  // namespace

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

void check_elements(const BufferView& view, std::uint64_t element_bytes, std::uint64_t alignment) {
  if (!view || (view.bytes() % element_bytes == 0 && view.offset() % alignment == 0)) return;
  fail(ErrorCode::InvalidArgument, Stage::Record, "",
       concat("the ", view.bytes(), " bytes at offset ", view.offset(), " of ",
              view.name().empty() ? "an unnamed buffer" : view.name(),
              " are not whole elements of ", element_bytes, " bytes, aligned to ", alignment));
}

void check_pinned(const BufferView& view) {
  if (!view || view.kind() == BufferKind::PinnedHost) return;
  fail(ErrorCode::InvalidArgument, Stage::Record, "",
       concat(view.name().empty() ? "an unnamed buffer" : view.name(),
              " is not pinned host memory, so the host cannot access it; use CapturePool::host"));
}

void check_subrange(std::uint64_t whole, std::uint64_t offset, std::uint64_t size,
                    std::string_view name) {
  if (offset <= whole && size <= whole - offset) return;
  fail(ErrorCode::OutOfRange, Stage::Record, "",
       concat("a range of ", size, " bytes at offset ", offset, " exceeds the ", whole,
              " bytes of ", name.empty() ? "an unnamed buffer" : name));
}

std::string name_beside(const DeviceStatus& device, const DeviceStatus& other) {
  if (device.selector != other.selector) return device.selector;
  return concat("another Device of ", device.selector,
                " (each Instance::open_device() creates one)");
}

std::string display_name(const BufferCore& buffer) {
  if (!buffer.name.empty()) return buffer.name;
  if (buffer.kind == BufferKind::BorrowedHost) return "borrowed host memory";
  return concat("buffer #", buffer.id.slot);
}

std::string_view why_stale(const BufferCore& buffer) noexcept {
  if (buffer.cleared.load(std::memory_order_acquire)) return "its pool was cleared";
  return buffer.device->shut_down.load(std::memory_order_acquire) ? "its device was shut down"
                                                                  : "its device was lost";
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

BufferId BufferView::id() const noexcept { return core_ ? core_->id : BufferId(); }
BufferKind BufferView::kind() const { return checked(core_, "kind").kind; }
std::string_view BufferView::name() const noexcept {
  return core_ ? std::string_view(core_->name) : std::string_view();
}
bool BufferView::is_stale() const noexcept { return core_ && core_->is_stale(); }
std::uint32_t BufferView::generation() const noexcept { return core_ ? core_->generation : 0; }

std::optional<std::uint32_t> BufferView::device_id() const noexcept {
  if (!core_ || core_->device->shut_down.load(std::memory_order_acquire)) return std::nullopt;
  return detail::ordinal_of(*core_->device);
}

std::uint64_t BufferView::raw_device_ptr() const {
  return reinterpret_cast<std::uintptr_t>(data());
}

std::shared_ptr<const void> BufferView::validate() const {
  const detail::BufferCore& core = checked(core_, "validate");
  if (core.is_stale()) {
    fail(ErrorCode::StaleHandle, detail::concat("validate() of ", detail::display_name(core),
                                                ", which is stale: ", detail::why_stale(core)));
  }
  return core_;
}

void* BufferView::data() const {
  const detail::BufferCore& core = checked(core_, "data");
  if (core.is_stale()) {
    fail(ErrorCode::StaleHandle, detail::concat("data() of ", detail::display_name(core),
                                                ", which is stale: ", detail::why_stale(core)));
  }
  if (core.kind == BufferKind::Transient) {
    fail(
        ErrorCode::Unsupported,
        detail::concat(
            "data() of ", detail::display_name(core),
            ", a transient: it has no address outside a replay; allocate() a buffer that has one"));
  }
  if (core.kind == BufferKind::Condition) {
    fail(ErrorCode::Unsupported,
         detail::concat("data() of ", detail::display_name(core),
                        ", a condition: it has no memory; set it in a kernel"));
  }
  return core.address + offset_;
}

BufferView BufferView::subview(std::uint64_t offset, std::uint64_t bytes) const {
  const detail::BufferCore& core = checked(core_, "subview");
  detail::check_subrange(bytes_, offset, bytes, core.name);
  return {core_, offset_ + offset, bytes};
}

BufferView BufferView::replica(std::uint32_t i) const {
  const detail::BufferCore& core = checked(core_, "replica");
  if (i > core.copies.size()) {
    fail(ErrorCode::OutOfRange,
         detail::concat("replica(", i, ") of ", detail::display_name(core), ", of which there ",
                        core.copies.empty()
                            ? "is one copy"
                            : detail::concat("are ", core.copies.size() + 1, " copies")));
  }
  return i == 0 ? *this : BufferView(core.copies[i - 1], offset_, bytes_);
}

bool BufferView::overlaps(const BufferView& other) const noexcept {
  if (!core_ || !other.core_ || bytes_ == 0 || other.bytes_ == 0) return false;
  std::uint64_t begin = offset_, other_begin = other.offset_;
  if (core_ != other.core_) {
    if (core_->address == nullptr || other.core_->address == nullptr) return false;
    begin += reinterpret_cast<std::uintptr_t>(core_->address);
    other_begin += reinterpret_cast<std::uintptr_t>(other.core_->address);
  }
  return begin < other_begin + other.bytes_ && other_begin < begin + bytes_;
}

std::uint32_t BufferView::replicas() const noexcept {
  return core_ ? static_cast<std::uint32_t>(core_->copies.size()) + 1 : 0;
}

}  // namespace reprise::inline REPRISE_ABI
