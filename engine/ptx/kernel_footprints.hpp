// KernelFootprints: the footprints of one kernel's dispatches, each derived once. Threads: any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ptx/block_footprint.hpp"

namespace reprise::detail {

class KernelFootprints {
 public:
  // The entry whose symbol or whose C++ name is `name`; the module outlives this object.
  KernelFootprints(const PtxModule& module, std::string_view name);
  KernelFootprints(const KernelFootprints&) = delete;
  KernelFootprints& operator=(const KernelFootprints&) = delete;

  [[nodiscard]] std::shared_ptr<const Footprint> find(const FootprintLaunch& launch);

 private:
  std::optional<FootprintProgram> program_;  // empty: the module has no such entry
  std::mutex mutex_;                         // protects the member below
  std::unordered_map<std::string, std::shared_ptr<const Footprint>> known_;  // by bytes of launches
};

}  // namespace reprise::detail
