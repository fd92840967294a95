// CheckedDispatch: the memory that a dispatch may access, for kernels that the C++ compiler built
// with REPRISE_CHECKED_KERNELS: they report each access before they make it. Allowed are the bytes
// that the dispatch declares, its parameters and shared memory, and the stack and static data of
// the thread. Bytes of transients that are read have to be written before. An access outside of the
// bytes that a dispatch declares for the block is an undeclared access, one outside of the
// footprint that was derived from the kernel's PTX a fault of the derivation (Internal). Threads:
// any; the blocks of a dispatch run on many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/kernel.hpp>

#include "backend/backend.hpp"
#include "backend/host/written_bytes.hpp"
#include "plan/dispatch_footprint.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class CheckedDispatch {
 public:
  // `plan` and `written` outlive this object.
  CheckedDispatch(const Plan& plan, const Bindings& bindings, std::uint32_t command,
                  WrittenBytes& written);

  // Lets the blocks of a dispatch on this thread report to `checks`; null: nothing is checked.
  class Scope {
   public:
    explicit Scope(CheckedDispatch* checks) noexcept;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();
  };

  // Accesses of this thread are not checked: code of the runtime that was compiled with kernels.
  class Pause {
   public:
    Pause() noexcept;
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause();

   private:
    const std::uint32_t* const thread_;
  };

  // An access of a kernel. `block` and `thread`: which one.
  void check(std::uintptr_t address, std::size_t bytes, bool writes, const HostBlock& block,
             const std::uint32_t* thread) noexcept;

  // Throws the error of the first forbidden access since the last call, if there was one.
  void throw_fault();

 private:
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    Access access = Access::Read;
    std::uint32_t buffer = 0;         // in the recording
    std::uint8_t* written = nullptr;  // by byte; null: not known
    // Offsets in the buffer that the dispatch's footprint contains.
    BlockAccess by_block = {};
  };
  // The fault of an access. Nothing: the access is allowed.
  enum class Fault : std::uint8_t {
    Nothing,
    Undeclared,
    Unwritten,
    OutsideDeclaredBlock,
    OutsideDerivedBlock
  };
  [[nodiscard]] Fault find_fault(std::uintptr_t address, std::size_t bytes, bool writes,
                                 const HostBlock& block) const;
  [[nodiscard]] std::string describe(Fault fault, std::uintptr_t address, std::size_t bytes,
                                     bool writes, const HostBlock& block) const;
  [[nodiscard]] std::string name_of(std::uint32_t buffer) const;

  const Plan& plan_;
  const std::uint32_t command_;
  std::vector<Range> ranges_;                     // declared
  std::vector<std::uintptr_t> addresses_;         // by buffer of the recording; 0: none
  std::mutex mutex_;                              // protects the fault
  ErrorCode code_ = ErrorCode::UndeclaredAccess;  // of the first forbidden access
  std::string fault_;                             // of the first forbidden access
  std::uint64_t faults_ = 0;
};

}  // namespace reprise::detail
