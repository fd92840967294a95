// The host device. Every machine has exactly one.
#include <tbb/global_control.h>

#include "backend/backend.hpp"
#include "backend/host/host_backend.hpp"
#include "base/creator_process.hpp"

namespace reprise::detail {

namespace {

class HostProvider final : public BackendProvider {
 public:
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return {host_device_info()}; }
  [[nodiscard]] std::string unavailable_reason() override { return {}; }
  [[nodiscard]] std::unique_ptr<Backend> open(std::uint32_t,
                                              std::shared_ptr<DeviceStatus> status) override {
    return std::make_unique<HostBackend>(std::move(status));
  }
  void require_driver() override {}
};

}  // namespace

BackendProvider& host_provider() {
  // Keeps oneTBB's threads until the process ends. Otherwise the exit of a forked child would end
  // its parent's threads, through objects on their stacks, which threads of the child may use now.
  static const bool is_kept =
      (keep_until_exit(new tbb::task_scheduler_handle(tbb::attach{})), true);
  static_cast<void>(is_kept);
  static HostProvider provider;
  return provider;
}

}  // namespace reprise::detail
