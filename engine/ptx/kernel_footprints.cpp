#include "ptx/kernel_footprints.hpp"

#include <cstring>
#include <utility>

namespace reprise::detail {

namespace {

// Launches with different values are forgotten together when there are more.
constexpr std::size_t kMaxKnown = 1024;

// All that determines the footprint: values that can change are zero.
std::string key_of(const FootprintLaunch& launch) {
  std::string key(reinterpret_cast<const char*>(launch.parameters.data()),
                  launch.parameters.size());
  for (const FootprintLaunch::Range& range : launch.unknown)
    if (std::size_t{range.offset} + range.bytes <= key.size())
      std::memset(key.data() + range.offset, 0, range.bytes);
  const auto add = [&key](const auto& values) {
    for (const auto& value : values)
      key.append(reinterpret_cast<const char*>(&value), sizeof value);
    key += '|';
  };
  add(launch.grid);
  add(launch.block);
  add(launch.pointers);
  add(launch.unknown);
  return key;
}

}  // namespace

KernelFootprints::KernelFootprints(const PtxModule& module, const PtxFunction* entry) {
  if (entry != nullptr) program_.emplace(module, *entry);
}

std::shared_ptr<const Footprint> KernelFootprints::find(const FootprintLaunch& launch) {
  const std::lock_guard lock(mutex_);
  if (known_.size() > kMaxKnown) known_.clear();
  std::shared_ptr<const Footprint>& known = known_[key_of(launch)];
  if (!known)
    known = std::make_shared<const Footprint>(
        program_ ? derive_footprint(*program_, launch)
                 : Footprint{.problem = "has no PTX that can be read"});
  return known;
}

}  // namespace reprise::detail
