// HandleAccess: the engine's only path into public handles, which befriend it. Converts between a
// handle and the object behind it. Knows no handle type. Threads: as the handle.
#pragma once

#include <memory>
#include <utility>

#include <reprise/types.hpp>

namespace reprise::detail {

struct HandleAccess {
  // The shared_ptr (or unique_ptr) behind a handle; null for an empty handle.
  template <class Handle>
  [[nodiscard]] static const auto& core(const Handle& handle) noexcept {
    return handle.core_;
  }
  template <class Op>
  [[nodiscard]] static auto* ranks(const Op& op) noexcept {
    return op.ranks();
  }
  template <class Args>
  [[nodiscard]] static auto arguments(const Args& args) noexcept {
    return args.arguments();
  }
  template <class Args>
  [[nodiscard]] static auto owners(const Args& args) noexcept {
    return args.owners();
  }
  template <class Handle, class... Arguments>
  [[nodiscard]] static Handle make(Arguments&&... arguments) {
    return Handle(std::forward<Arguments>(arguments)...);
  }
  template <class Handle, class... Arguments>
  [[nodiscard]] static std::shared_ptr<Handle> make_shared(Arguments&&... arguments) {
    return std::shared_ptr<Handle>(new Handle(std::forward<Arguments>(arguments)...));
  }
};

template <class Handle>
[[nodiscard]] const auto& core_of(const Handle& handle) noexcept {
  return HandleAccess::core(handle);
}

// The handle of `arguments`, which its private constructor takes.
template <class Handle, class... Arguments>
[[nodiscard]] Handle make_handle(Arguments&&... arguments) {
  return HandleAccess::make<Handle>(std::forward<Arguments>(arguments)...);
}

}  // namespace reprise::detail
