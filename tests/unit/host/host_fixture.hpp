// HostFixture: an opened host device with one queue, for tests of the backend alone.
#pragma once

#include <memory>

#include <reprise/error.hpp>

#include "backend/backend.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {

struct HostFixture {
  std::shared_ptr<detail::DeviceStatus> status = [] {
    auto made = std::make_shared<detail::DeviceStatus>();
    made->selector = "host";
    return made;
  }();
  std::unique_ptr<detail::Backend> backend = detail::host_provider().open(0, status);
  std::unique_ptr<detail::BackendQueue> queue = backend->create_queue({.label = "main"});

  void run(detail::BackendExec& exec) {
    static_cast<void>(queue->wait(exec.launch(*queue), std::nullopt));
  }
};

}  // namespace reprise::test
