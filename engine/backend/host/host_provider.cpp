// The host device. Every machine has exactly one.
#include "backend/backend.hpp"
#include "backend/host/host_backend.hpp"

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
  static HostProvider provider;
  return provider;
}

}  // namespace reprise::detail
