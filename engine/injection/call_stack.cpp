#include "injection/call_stack.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/kernel_name.hpp"

namespace reprise::detail {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// ".../lib/python3.11/...", which contains Python's own modules and those that are installed.
bool is_below_python(std::string_view file) {
  for (const std::string_view folder : {"/lib/python3.", "/lib64/python3."}) {
    const std::size_t at = file.find(folder);
    if (at != std::string_view::npos && at + folder.size() < file.size() &&
        file[at + folder.size()] >= '0' && file[at + folder.size()] <= '9')
      return true;
  }
  return false;
}

// Code that torch.compile generated.
bool is_generated(std::string_view file) {
  static const char* const folder = ::secure_getenv("TORCHINDUCTOR_CACHE_DIR");
  return contains(file, "/torchinductor_") ||
         (folder != nullptr && *folder != '\0' && file.starts_with(folder));
}

bool is_of_driver(const char* module) {
  const std::string_view path = module;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libcupti.so") ||
         name.starts_with("libreprise_interposer.so");
}

// The path of the program, which the dynamic linker knows as it was started: "app".
const std::string& program() {
  static const std::string path = [] {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  }();
  return path;
}

}  // namespace

CodeName::Author author_of(std::string_view file) {
  const bool is_library = file.empty() || file.front() == '<' ||
                          contains(file, "/site-packages/") || contains(file, "/dist-packages/") ||
                          is_below_python(file) || is_generated(file);
  return is_library ? CodeName::Author::Library : CodeName::Author::User;
}

const CallFrame* user_frame(const CallFrame* innermost) {
  const CallFrame* found = nullptr;
  for (const CallFrame* frame = innermost; frame != nullptr; frame = frame->caller) {
    if (frame->code == nullptr) continue;
    if (frame->code->author == CodeName::Author::User) return frame;
    if (found == nullptr) found = frame;
  }
  return found;
}

NativeName native_name(std::uint64_t address) {
  NativeName name;
  Dl_info info{};
  link_map* map = nullptr;
  // The call precedes the address that it returns to.
  if (address == 0 || ::dladdr1(reinterpret_cast<const void*>(address - 1), &info,
                                reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
    return name;
  if (map != nullptr && *map->l_name == '\0') {
    name.module = program();
  } else if (info.dli_fname != nullptr) {
    name.module = info.dli_fname;
  }
  if (info.dli_sname != nullptr) name.function = demangled(info.dli_sname);
  name.offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return name;
}

const CallFrame* without_driver(const CallFrame* innermost) {
  if (innermost == nullptr || innermost->code != nullptr) return innermost;
  Dl_info own{};
  static_cast<void>(::dladdr(reinterpret_cast<const void*>(&without_driver), &own));
  while (innermost != nullptr && innermost->code == nullptr) {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(innermost->address - 1), &info) == 0) break;
    if (info.dli_fbase != own.dli_fbase && !is_of_driver(info.dli_fname)) break;
    innermost = innermost->caller;
  }
  return innermost;
}

const CallFrame* native_stack() {
  constexpr int kMaxFrames = 64;
  static std::mutex mutex;
  static auto* const frames = new CallFrames;  // never destroyed: threads may create nodes at exit
  void* addresses[kMaxFrames];
  int left = ::backtrace(addresses, kMaxFrames);
  const std::lock_guard lock(mutex);
  const CallFrame* stack = nullptr;
  while (left-- > 0) {
    stack = frames->find({stack, nullptr, 0, reinterpret_cast<std::uintptr_t>(addresses[left])});
    if (stack == nullptr) return nullptr;
  }
  return stack;
}

std::size_t CallFrames::Hash::operator()(const CallFrame& frame) const noexcept {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(frame.caller);
  for (const std::uint64_t word : {std::uint64_t{reinterpret_cast<std::uintptr_t>(frame.code)},
                                   std::uint64_t{frame.line}, frame.address}) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

const CallFrame* CallFrames::find(const CallFrame& frame) {
  const auto known = frames_.find(frame);
  if (known != frames_.end()) return &*known;
  return frames_.size() < kLimit ? &*frames_.insert(frame).first : nullptr;
}

}  // namespace reprise::detail
