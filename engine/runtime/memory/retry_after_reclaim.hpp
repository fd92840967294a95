// room: what is taken of a device's memory is tried once more where there is too little, when idle
// graphs have given what they need not hold. Threads: any, without any lock.
#pragma once

#include <string>
#include <type_traits>

#include "base/failure.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

// What `take` gives. What it throws comes with `where`, and, where a budget or the device had too
// little, with who takes most of it: of `pool`, null for none, where a budget refused.
template <class Take>
std::invoke_result_t<Take&> retry_after_reclaim(DeviceCore& device, const PoolCore* pool,
                                                const std::string& label, const std::string& where,
                                                Take take) {
  try {
    return take();
  } catch (const Error& error) {
    if (!lacks_memory(error)) throw with_context(error, label, where);
  }
  device.make_room(nullptr);
  try {
    return take();
  } catch (const Error& error) {
    if (!lacks_memory(error)) throw with_context(error, label, where);
    const std::string holders =
        device.largest_holders(error.code() == ErrorCode::SlabExhausted ? pool : nullptr);
    throw with_context(error, label, holders.empty() ? where : where + "; " + holders);
  }
}

}  // namespace reprise::detail
