// HandMadeGraph: a plan for the host device without the earlier stages: commands on memory of the
// test, and edges between them. Threads: one thread at a time.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/host_exec.hpp"

namespace reprise::test {

// A kernel argument: a buffer and a byte offset.
struct BufferAt {
  std::uint32_t buffer = 0;
  std::uint64_t offset = 0;
};

struct LaunchShape {
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;
};

class HandMadeGraph {
 public:
  explicit HandMadeGraph(detail::Backend& backend);

  template <class T>
  [[nodiscard]] BufferAt buffer(std::vector<T>& memory) {
    return {add_buffer(std::as_writable_bytes(std::span(memory))), 0};
  }

  // Each function returns the command's index.
  template <class... Arguments>
  std::uint32_t dispatch(const KernelDesc& kernel, const LaunchShape& shape,
                         const Arguments&... arguments) {
    std::vector<std::byte> block(kParameterBytes);
    std::vector<detail::BufferArgument> buffers;
    std::uint32_t index = 0;
    (place(kernel, index++, arguments, block, buffers), ...);
    return add_dispatch(kernel, shape, block, buffers);
  }
  std::uint32_t update(BufferAt destination, std::span<const std::byte> bytes);
  std::uint32_t host(std::function<void()> function);
  std::uint32_t join();  // a remaining barrier

  // Orders `before` before `after`. Without any edge and without unordered(), the commands form a
  // chain.
  void edge(std::uint32_t before, std::uint32_t after) { edges_.emplace_back(before, after); }
  void unordered() { chain_ = false; }
  void with_entry_exit() { entry_exit_ = true; }

  [[nodiscard]] std::shared_ptr<const detail::Plan> plan();
  [[nodiscard]] detail::Bindings bindings() const { return {addresses_}; }
  // Instantiates through the backend.
  [[nodiscard]] std::unique_ptr<detail::BackendExec> instantiate() {
    return backend_.instantiate(plan(), bindings(), detail::Instrumentation::None);
  }

 private:
  static constexpr std::size_t kParameterBytes = 256;

  template <class Argument>
  static void place(const KernelDesc& kernel, std::uint32_t index, const Argument& argument,
                    std::vector<std::byte>& block, std::vector<detail::BufferArgument>& buffers) {
    const std::uint32_t offset = kernel.parameters[index].offset;
    if constexpr (std::is_same_v<Argument, BufferAt>) {
      buffers.push_back({offset, argument.buffer, argument.offset});
    } else {
      std::memcpy(block.data() + offset, &argument, sizeof(argument));
    }
  }
  std::uint32_t add_buffer(std::span<std::byte> memory);
  std::uint32_t add_dispatch(const KernelDesc& kernel, const LaunchShape& shape,
                             std::span<const std::byte> parameters,
                             std::span<const detail::BufferArgument> buffers);
  std::uint32_t add(detail::CommandKind kind, const void* payload);

  detail::Backend& backend_;
  std::shared_ptr<detail::Recording> recording_;
  std::shared_ptr<detail::Arena> arena_;
  std::vector<std::byte*> addresses_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  bool chain_ = true, entry_exit_ = false;
};

}  // namespace reprise::test
