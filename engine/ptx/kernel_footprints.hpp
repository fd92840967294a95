// KernelFootprints: the footprints of one kernel's dispatches, each derived once. Threads: any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "ptx/block_footprint.hpp"

namespace reprise::detail {

class KernelFootprints {
 public:
  // Of an entry of the module, which outlives this object; null: the module has no such entry.
  KernelFootprints(const PtxModule& module, const PtxFunction* entry);
  KernelFootprints(const KernelFootprints&) = delete;
  KernelFootprints& operator=(const KernelFootprints&) = delete;

  [[nodiscard]] std::shared_ptr<const Footprint> find(const FootprintLaunch& launch);

 private:
  std::optional<FootprintProgram> program_;  // empty: the module has no such entry
  std::mutex mutex_;                         // protects the member below
  std::unordered_map<std::string, std::shared_ptr<const Footprint>> known_;  // by bytes of launches
};

}  // namespace reprise::detail
