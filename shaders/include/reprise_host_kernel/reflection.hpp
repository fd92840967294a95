// Derives the KernelDesc from a kernel's signature: the layout of its parameter block by the CUDA
// ABI, and the function that runs a block on the host device; and the ConstantDesc from a variable.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <reprise/host_kernel_runtime.hpp>
#include <reprise/kernel_desc.hpp>

#include <reprise_host_kernel/condition.hpp>
#include <reprise_host_kernel/threads.hpp>

#ifdef REPRISE_CHECKED_KERNELS
// Instrumented kernels call it before functions that do not return. Not in the engine: it would
// replace AddressSanitizer's own in programs that are built with that.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] void __asan_handle_no_return() {}
#endif

namespace reprise::inline REPRISE_ABI::host_kernel {

template <class T>
T load_parameter(const std::byte* from) {
  alignas(T) std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  return *std::launder(reinterpret_cast<T*>(bytes));
}

// Runs the threads of a block from `first` on: all of them, or those up to the first that waits for
// others.
template <class Call>
struct KernelRun : BlockRun {
  KernelRun(const HostBlock& of, const Call& c) : BlockRun(&run_from, of), call(c) {}

  static void run_from(BlockRun& base, ThreadPosition first) noexcept {
    auto& run = static_cast<KernelRun&>(base);
    const std::uint64_t arrivals = run.arrivals;
    const Dim3 size = run.block.block;
    for (std::uint32_t z = first.z; z < size.z; ++z) {
      for (std::uint32_t y = first.y; y < size.y; ++y) {
        for (std::uint32_t x = first.x; x < size.x; ++x) {
          language::threadIdx = {x, y, z};
#ifdef REPRISE_CHECKED_KERNELS
          asm volatile("" ::: "memory");  // reports of accesses read threadIdx
#endif
          run.call();
          if (run.arrivals != arrivals) return;  // fibers run the later threads
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

  static constexpr auto parameters =
      detail::parameter_table<language::reprise_condition, Parameters...>();

  static void run_block(const HostBlock& block) noexcept {
    language::blockIdx = {block.block_index.x, block.block_index.y, block.block_index.z};
    language::blockDim = {block.block.x, block.block.y, block.block.z};
    language::gridDim = {block.grid.x, block.grid.y, block.grid.z};
#ifdef REPRISE_CHECKED_KERNELS
    begin_checked_block(block, &language::threadIdx.x, dynamic_shared(block));
#endif
    run_threads(block, std::index_sequence_for<Parameters...>{});
  }

 private:
  template <std::size_t... I>
  static void run_threads([[maybe_unused]] const HostBlock& block,
                          std::index_sequence<I...>) noexcept {
    // Each thread gets its own copies, as on the GPU.
    const auto call = [... values = load_parameter<Parameters>(
                           block.parameters + parameters[I].offset)] { Function(values...); };
    KernelRun<decltype(call)> run(block, call);
    block_run = &run;
    run.run_from(run, {});
    if (run.arrivals != 0) finish(run);
    block_run = nullptr;
  }
};

template <auto Function>
consteval KernelDesc describe_kernel(const char* name, std::span<const std::byte> (*image)(),
                                     std::span<const KernelPtx> (*ptx)(), const char* source) {
  using Reflection = KernelReflection<Function>;
#ifdef REPRISE_CHECKED_KERNELS
  constexpr bool is_checked = true;
#else
  constexpr bool is_checked = false;
#endif
  return {name, Reflection::parameters, &Reflection::run_block, image, source, is_checked, ptx};
}

template <class T>
consteval ConstantDesc describe_constant(const char* name, T& variable,
                                         std::span<const std::byte> (*image)(),
                                         const char* source) {
  static_assert(std::is_trivially_copyable_v<T>, "constant memory holds trivially copyable types");
  return {name,  &detail::value_type<std::remove_all_extents_t<T>>, &variable, sizeof(T), image,
          source};
}

}  // namespace reprise::inline REPRISE_ABI::host_kernel
