// HostFixture: an opened host device with one queue, for tests of the backend alone.
#pragma once

#include <memory>

#include <reprise/error.hpp>

#include "backend/backend.hpp"

namespace reprise::test {

struct HostFixture {
  std::shared_ptr<detail::DeviceStatus> status = [] {
    auto made = std::make_shared<detail::DeviceStatus>();
    made->selector = "host";
    return made;
  }();
  std::unique_ptr<detail::Backend> backend = detail::host_provider().open(0, status);
  std::unique_ptr<detail::BackendQueue> queue = backend->create_queue("main");

  void run(detail::BackendExec& exec) {
    static_cast<void>(queue->wait(exec.launch(*queue), std::nullopt));
  }
};

// The error code that `call` throws; Internal if it throws nothing.
template <class Call>
ErrorCode code_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Internal;
}

}  // namespace reprise::test
