// Derives the KernelDesc from a kernel's signature: the layout of its parameter block by the CUDA
// ABI, and the function that runs a block on the host device.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <reprise/host_kernel_runtime.hpp>
#include <reprise/kernel.hpp>

#include <reprise_host_kernel/condition.hpp>
#include <reprise_host_kernel/threads.hpp>

namespace reprise::host_kernel {

template <class... Parameters>
consteval std::array<KernelParameter, sizeof...(Parameters)> lay_out() {
  std::array<KernelParameter, sizeof...(Parameters)> result{};
  [[maybe_unused]] std::size_t index = 0, end = 0;
  [[maybe_unused]] const auto place = [&](std::size_t size, std::size_t alignment, bool is_pointer,
                                          bool is_condition) {
    end = (end + alignment - 1) / alignment * alignment;
    result[index++] = {static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(size),
                       is_pointer, false, is_condition};
    end += size;
  };
  (place(sizeof(Parameters), alignof(Parameters), std::is_pointer_v<Parameters>,
         std::is_same_v<Parameters, language::reprise_condition>),
   ...);
  return result;
}

template <class T>
T load_parameter(const std::byte* from) {
  alignas(T) std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  return *std::launder(reinterpret_cast<T*>(bytes));
}

// Runs the threads of a block from `first` on: all of them, or those up to the first that waits at
// a barrier.
template <class Call>
struct KernelRun : BlockRun {
  KernelRun(Dim3 size, const Call& c) : BlockRun(&run_from, size), call(c) {}

  static void run_from(BlockRun& base, ThreadPosition first) noexcept {
    auto& run = static_cast<KernelRun&>(base);
    const std::uint64_t arrivals = run.arrivals;
    const Dim3 size = run.block;
    for (std::uint32_t z = first.z; z < size.z; ++z) {
      for (std::uint32_t y = first.y; y < size.y; ++y) {
        for (std::uint32_t x = first.x; x < size.x; ++x) {
          language::threadIdx = {x, y, z};
          run.call();
          if (run.arrivals != arrivals) return;  // the barrier ran the later threads
        }
        first.x = 0;
      }
      first.y = 0;
    }
  }
  Call call;
};

template <auto Function>
struct KernelReflection;

template <class... Parameters, void (*Function)(Parameters...)>
struct KernelReflection<Function> {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "kernel parameters must be trivially copyable values or pointers");

  static constexpr auto parameters = lay_out<Parameters...>();

  static void run_block(const HostBlock& block) noexcept {
    language::blockIdx = {block.block_index.x, block.block_index.y, block.block_index.z};
    language::blockDim = {block.block.x, block.block.y, block.block.z};
    language::gridDim = {block.grid.x, block.grid.y, block.grid.z};
    dynamic_shared = block.dynamic_shared;
    run_threads(block, std::index_sequence_for<Parameters...>{});
  }

 private:
  template <std::size_t... I>
  static void run_threads([[maybe_unused]] const HostBlock& block,
                          std::index_sequence<I...>) noexcept {
    // Each thread gets its own copies, as on the GPU.
    const auto call = [... values = load_parameter<Parameters>(
                           block.parameters + parameters[I].offset)] { Function(values...); };
    KernelRun<decltype(call)> run(block.block, call);
    block_run = &run;
    run.run_from(run, {});
    if (run.arrivals != 0) finish(run);
    block_run = nullptr;
  }
};

template <auto Function>
consteval KernelDesc describe_kernel(const char* name, std::span<const std::byte> (*image)(),
                                     const char* source) {
  using Reflection = KernelReflection<Function>;
  return {name, Reflection::parameters, &Reflection::run_block, image, source};
}

}  // namespace reprise::host_kernel
