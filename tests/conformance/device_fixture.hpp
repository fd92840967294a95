// DeviceFixture: the device named by $REPRISE_DEVICE (the host device if unset) with a queue, a
// pool and helpers that all conformance tests share. Validation is Full. Threads: one at a time,
// except for `device`, `queue` and `pool`, which any thread may use.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <reprise/reprise.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/thrown_by.hpp"

namespace reprise::test {

inline DeviceSelector selector_of_this_run() {
  const char* const name = std::getenv("REPRISE_DEVICE");
  return DeviceSelector::named(name == nullptr || *name == '\0' ? "host" : name);
}

// Checks that `call` throws `code` with a text that contains all of `parts`, and the code once.
inline void check_refused(ErrorCode code, std::initializer_list<std::string_view> parts,
                          const std::function<void()>& call) {
  const Error error = thrown_by(call);
  const std::string text = error.what();
  INFO("text: ", text);
  CHECK(to_string(error.code()) == to_string(code));
  const std::string suffix = " [" + std::string(to_string(code)) + ", ";
  CHECK(text.find(suffix) == text.rfind(suffix));
  for (const std::string_view part : parts) {
    INFO("part: ", std::string(part));
    CHECK(text.find(part) != std::string::npos);
  }
}

// Lowering::Persistent if $REPRISE_TEST_LOWERING is "persistent".
inline Lowering lowering_of_this_run() {
  const char* const name = std::getenv("REPRISE_TEST_LOWERING");
  return name != nullptr && std::string_view(name) == "persistent" ? Lowering::Persistent
                                                                   : Lowering::Auto;
}

template <class T>
std::vector<T> generated(std::size_t count, const std::function<T(std::size_t)>& value) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = value(i);
  return made;
}

struct DeviceFixture {
  std::shared_ptr<std::vector<std::string>> messages =
      std::make_shared<std::vector<std::string>>();  // ids in order of arrival
  Instance instance{
      {.application = "conformance",
       .validation = Validation::Full,
       .on_message = [ids = messages](const Message& m) { ids->emplace_back(m.id); }}};
  Device device = instance.open_device(selector_of_this_run());
  Queue queue = device.create_queue({.label = "main"});
  std::shared_ptr<CapturePool> pool = device.create_pool({.label = "test"});

  [[nodiscard]] bool is_host() const { return device.info().kind == DeviceKind::Host; }
  [[nodiscard]] Kernel kernel(const KernelDesc& desc) const { return device.load_kernel(desc); }

  [[nodiscard]] CommandBuffer recording(const CommandBufferDesc& desc = {}) const {
    CommandBuffer commands = device.create_command_buffer(desc);
    commands.begin();
    return commands;
  }
  [[nodiscard]] CapturedGraph compile(CommandBuffer& commands,
                                      Lowering lowering = lowering_of_this_run()) const {
    if (commands.state() == CommandBufferState::Recording) commands.end();
    return device.compile(commands, {.pool = pool, .lowering = lowering});
  }
  // Ends, compiles, launches once and waits. If $REPRISE_TEST_LOWERING is "inspection", an
  // inspection clone runs instead.
  void run(CommandBuffer& commands, Lowering lowering = lowering_of_this_run()) const {
    CapturedGraph graph = compile(commands, lowering);
    const char* const name = std::getenv("REPRISE_TEST_LOWERING");
    if (name != nullptr && std::string_view(name) == "inspection") {
      static_cast<void>(graph.inspect(queue));
    } else {
      graph.launch(queue).wait();
    }
  }
  // Runs the commands that `record` records.
  void run(const std::function<void(CommandBuffer&)>& record,
           const CommandBufferDesc& desc = {}) const {
    CommandBuffer commands = recording(desc);
    record(commands);
    run(commands);
  }

  // A device buffer with these values.
  template <class T>
  [[nodiscard]] GpuRef<T> buffer(const std::vector<T>& values, std::string_view name = "") const {
    auto made = pool->allocate<T>(values.size(), name);
    run([&](CommandBuffer& commands) { commands.copy(snapshot(values), made); });
    return made;
  }
  // The current values of `of`.
  template <class T>
  [[nodiscard]] std::vector<T> values(const GpuRef<T>& of) const {
    std::vector<T> found(of.size());
    run([&](CommandBuffer& commands) { commands.copy(of, borrowed(found)); });
    return found;
  }
};

}  // namespace reprise::test
