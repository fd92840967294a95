// CallStack: the functions that a thread was in when it created a node. Stacks share their frames,
// so a stack is a pointer to its innermost frame, and equal stacks are equal pointers. Threads:
// frames are immutable; CallFrames and CodeNames are used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace reprise::detail {

// A function of Python.
struct CodeName {
  std::string function, file;
  // Part of Python, of an installed package, or generated: not a file that the user wrote.
  enum class Author : std::uint8_t { User, Library } author = Author::User;
  friend auto operator<=>(const CodeName&, const CodeName&) = default;
};

[[nodiscard]] CodeName::Author author_of(std::string_view file);

struct CallFrame {
  const CallFrame* caller = nullptr;  // null: the outermost frame
  const CodeName* code = nullptr;     // null: native code
  std::uint32_t line = 0;             // of Python
  std::uint64_t address = 0;          // of native code: where the call returns to
  friend bool operator==(const CallFrame&, const CallFrame&) = default;
};

// The innermost frame of the user's own Python code, otherwise the innermost of Python; null: the
// stack has none.
[[nodiscard]] const CallFrame* user_frame(const CallFrame* innermost);

// The name of native code: a function (empty: unknown), the module that contains it, and the offset
// in the module. Takes the dynamic linker's lock.
struct NativeName {
  std::string function, module;
  std::uint64_t offset = 0;
};
[[nodiscard]] NativeName native_name(std::uint64_t address);
// The innermost frame of native code outside the driver, the profiler and this library.
[[nodiscard]] const CallFrame* without_driver(const CallFrame* innermost);

// The stack of this thread. Threads: any. Unwinding takes the dynamic linker's lock if the C
// library is older than 2.35, so it may wait for a thread that loads a library.
[[nodiscard]] const CallFrame* native_stack();

// Interned frames. Their addresses do not change.
class CallFrames {
 public:
  // Null: there are too many.
  [[nodiscard]] const CallFrame* find(const CallFrame& frame);
  [[nodiscard]] const CodeName* find(CodeName name) {
    return &*names_.insert(std::move(name)).first;
  }

 private:
  static constexpr std::size_t kLimit = 1'000'000;
  struct Hash {
    std::size_t operator()(const CallFrame& frame) const noexcept;
  };
  std::unordered_set<CallFrame, Hash> frames_;
  std::set<CodeName> names_;
};

}  // namespace reprise::detail
