#include "backend/host/checked_dispatch.hpp"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <reprise/host_kernel_runtime.hpp>

#include "backend/host/block_fibers.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// The dispatch, block and thread that the calling thread runs.
struct Running {
  CheckedDispatch* checks = nullptr;
  const HostBlock* block = nullptr;
  const std::uint32_t* thread = nullptr;  // the kernel's threadIdx
  std::uintptr_t shared = 0;              // the block's dynamic shared memory; 0: none
};
thread_local constinit Running running;

// Memory of the calling thread that needs no declaration: its stack, and the static and
// thread-local data of the program and its libraries.
class ThreadMemory {
 public:
  [[nodiscard]] bool contains(std::uintptr_t address) {
    if (has(address) || is_fiber_stack(reinterpret_cast<const std::byte*>(address))) return true;
    // A library may have been loaded, or its thread-local data allocated.
    constexpr std::uint32_t kMaxReads = 64;
    if (const unsigned long long loaded = loaded_modules();
        loaded != loaded_ || reads_ < kMaxReads) {
      loaded_ = loaded;
      ++reads_;
      read();
    }
    return has(address);
  }

 private:
  struct Range {
    std::uintptr_t begin = 0, end = 0;
  };

  [[nodiscard]] bool has(std::uintptr_t address) noexcept {
    const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& range) {
      return address >= range.begin && address < range.end;
    });
    if (found == ranges_.end()) return false;
    std::iter_swap(ranges_.begin(), found);
    return true;
  }

  void add(const void* begin, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    if (begin != nullptr && bytes != 0) ranges_.push_back({address, address + bytes});
  }

  // Changes when a library is loaded or unloaded; never 0.
  static unsigned long long loaded_modules() {
    unsigned long long count = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* result) {
          *static_cast<unsigned long long*>(result) = module->dlpi_adds + module->dlpi_subs;
          return 1;  // every module has the same
        },
        &count);
    return count;
  }

  static int add_module(dl_phdr_info* module, std::size_t, void* self) {
    auto& memory = *static_cast<ThreadMemory*>(self);
    for (const ElfW(Phdr) & part : std::span(module->dlpi_phdr, module->dlpi_phnum)) {
      if (part.p_type == PT_LOAD)
        memory.add(reinterpret_cast<const void*>(module->dlpi_addr + part.p_vaddr), part.p_memsz);
      if (part.p_type == PT_TLS) memory.add(module->dlpi_tls_data, part.p_memsz);
    }
    return 0;
  }

  void read() {
    ranges_.clear();
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
      void* stack = nullptr;
      std::size_t bytes = 0;
      if (::pthread_attr_getstack(&attributes, &stack, &bytes) == 0) add(stack, bytes);
      ::pthread_attr_destroy(&attributes);
    }
    ::dl_iterate_phdr(&add_module, this);
  }

  std::vector<Range> ranges_;  // the last one found is the first
  unsigned long long loaded_ = 0;
  std::uint32_t reads_ = 0;
};

ThreadMemory& thread_memory() {
  thread_local ThreadMemory memory;
  return memory;
}

std::int64_t linear_index(const HostBlock& block) noexcept {
  const auto& [x, y, z] = block.block_index;
  return x + std::int64_t{block.grid.x} * (y + std::int64_t{block.grid.y} * z);
}

// With offsets in buffers as bytes.
std::vector<BlockAccess> accesses_by_block(const Recording& recording, std::uint32_t command) {
  std::vector<MemoryPlace> places;
  for (std::uint32_t b = 0; b < recording.buffers.size(); ++b) places.push_back({.memory = b});
  const Command& of = recording.commands[command];
  const std::span accesses =
      std::span(recording.accesses).subspan(of.first_access, of.access_count);
  std::vector<BlockAccess> result = block_accesses(recording, command, accesses, places);
  // Two buffers may be the same memory, and an access that one of them declares may use the other.
  if (!recording.places.empty())
    for (BlockAccess& one : result) one = {one.access};
  return result;
}

bool is_dynamic_shared(std::uintptr_t address) noexcept {
  return running.shared != 0 && address - running.shared < host_kernel::kMaxSharedBytes;
}

std::string place(const HostBlock& block, const std::uint32_t* thread) {
  const Dim3& at = block.block_index;
  return concat("kernel ", block.kernel, ", block (", at.x, ", ", at.y, ", ", at.z, "), thread (",
                thread[0], ", ", thread[1], ", ", thread[2], ")");
}

// --- signals ---

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
struct sigaction previous_actions[std::size(kSignals)];

// Names the kernel, then lets the signal end the program as before. Calls nothing that allocates.
void on_signal(int signal, siginfo_t* info, void*) {
  if (running.block != nullptr && running.thread != nullptr) {
    const Dim3& at = running.block->block_index;
    char text[512];
    int length = 0;
    if (signal == SIGFPE) {
      length = std::snprintf(text, sizeof text, "reprise: a division by zero or its like");
    } else {
      length = std::snprintf(text, sizeof text, "reprise: an access to address %p", info->si_addr);
    }
    length += std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length),
                            " in kernel %s on the host device, block (%u, %u, %u), thread (%u, %u, "
                            "%u)\n",
                            running.block->kernel, at.x, at.y, at.z, running.thread[0],
                            running.thread[1], running.thread[2]);
    [[maybe_unused]] const ssize_t written = ::write(
        STDERR_FILENO, text, std::min<std::size_t>(sizeof text, static_cast<std::size_t>(length)));
  }
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] == signal) ::sigaction(signal, &previous_actions[i], nullptr);
  }
  // Returning repeats the instruction, now with the previous handler.
}

// Again if somebody else has installed a handler since.
void install_signal_handlers() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction present = {};
    ::sigaction(kSignals[i], nullptr, &present);
    if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == &on_signal) continue;
    previous_actions[i] = present;
    struct sigaction action = {};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace

CheckedDispatch::Scope::Scope(CheckedDispatch* checks) noexcept { running = {.checks = checks}; }
CheckedDispatch::Scope::~Scope() { running = {}; }

CheckedDispatch::Pause::Pause() noexcept : thread_(std::exchange(running.thread, nullptr)) {}
CheckedDispatch::Pause::~Pause() { running.thread = thread_; }

CheckedDispatch::CheckedDispatch(const Plan& plan, const Bindings& bindings, std::uint32_t command,
                                 WrittenBytes& written)
    : plan_(plan), command_(command) {
  install_signal_handlers();
  const Recording& recording = *plan.recording;
  for (std::uint32_t b = 0; b < recording.buffers.size(); ++b)
    addresses_.push_back(reinterpret_cast<std::uintptr_t>(bindings.address[b]));
  for (BlockAccess& by_block : accesses_by_block(recording, command)) {
    const BufferAccess& access = by_block.access;
    const std::uintptr_t address = addresses_[access.buffer];
    ranges_.push_back({address + access.begin, address + access.end, access.access, access.buffer,
                       written.track(*recording.buffers[access.buffer]), std::move(by_block)});
  }
}

std::string CheckedDispatch::name_of(std::uint32_t buffer) const {
  const BufferCore& core = *plan_.recording->buffers[buffer];
  return concat(core.address == nullptr ? "transient " : "buffer ",
                core.name.empty() ? "(without a name)" : core.name);
}

std::string CheckedDispatch::describe(Fault fault, std::uintptr_t address, std::size_t bytes,
                                      bool writes, const HostBlock& block) const {
  const auto range_text = [&](const Range& range) {
    const std::uintptr_t begin = addresses_[range.buffer];
    return concat(name_of(range.buffer), " (", plan_.recording->buffers[range.buffer]->bytes,
                  " bytes), of which the dispatch declares [", range.begin - begin, ", ",
                  range.end - begin, ")");
  };
  std::string text = concat(writes ? "writes " : "reads ", bytes, " bytes ");
  if (is_dynamic_shared(address)) {
    return text + concat("at offset ", address - running.shared,
                         " of the dynamic shared memory, of which the dispatch requests ",
                         block.shared_bytes, " bytes");
  }
  for (const Range& range : ranges_) {  // inside of a declared range
    if (address < range.begin || address + bytes > range.end) continue;
    text += concat("at offset ", address - addresses_[range.buffer], " of ", range_text(range));
    if (fault == Fault::OutsideDerivedBlock)
      return text + ", outside of the bytes that the kernel's PTX shows for the block";
    if (fault == Fault::OutsideDeclaredBlock)
      return text + ", outside of the bytes that by_block() declares for the block";
    if (writes && range.access == Access::Read) return text + " as read";
    if (address % bytes == 0 || bytes > 16)
      return text + ", before any command of the replay has written them";
    return text + concat(": the address is no multiple of ", bytes);
  }
  // An index that is off by a few elements is more likely than one of another buffer.
  constexpr std::uintptr_t kOffByFew = 64, kNear = 4096;
  const Range* nearest = nullptr;
  std::uintptr_t distance = kNear;
  for (const Range& range : ranges_) {
    const std::uintptr_t away = address + bytes > range.end ? address - std::min(address, range.end)
                                                            : range.begin - address;
    if (away < distance) {
      nearest = &range;
      distance = away;
    }
  }
  const auto near_text = [&] {
    const auto offset = static_cast<std::int64_t>(address - addresses_[nearest->buffer]);
    return concat("at offset ", offset, " of ", range_text(*nearest));
  };
  if (nearest != nullptr && distance < kOffByFew) return text + near_text();
  for (std::uint32_t b = 0; b < addresses_.size(); ++b) {
    const std::uint64_t size = plan_.recording->buffers[b]->bytes;
    if (addresses_[b] == 0 || address < addresses_[b] || address >= addresses_[b] + size) continue;
    return text + concat("at offset ", address - addresses_[b], " of ", name_of(b), " (", size,
                         " bytes), which the dispatch does not declare");
  }
  if (nearest != nullptr) return text + near_text();
  char number[32];
  std::snprintf(number, sizeof number, "%#zx", static_cast<std::size_t>(address));
  return text + concat("at address ", number, ", which is in no buffer of the graph");
}

CheckedDispatch::Fault CheckedDispatch::find_fault(std::uintptr_t address, std::size_t bytes,
                                                   bool writes, const HostBlock& block) const {
  const bool is_aligned = bytes > 16 || address % bytes == 0;
  for (const Range& range : ranges_) {
    if (!is_aligned || address < range.begin || address + bytes > range.end) continue;
    if (writes && range.access == Access::Read) continue;
    const auto offset = static_cast<std::int64_t>(address - addresses_[range.buffer]);
    if (!range.by_block.contains(offset, offset + static_cast<std::int64_t>(bytes),
                                 linear_index(block)))
      return range.by_block.is_declared ? Fault::OutsideDeclaredBlock : Fault::OutsideDerivedBlock;
    if (range.written == nullptr) return Fault::Nothing;
    const std::span flags(range.written + (address - addresses_[range.buffer]), bytes);
    if (writes) {
      WrittenBytes::set(flags);
    } else if (!WrittenBytes::is_any_set(flags)) {  // in part: perhaps a structure with padding
      return Fault::Unwritten;
    }
    return Fault::Nothing;
  }
  const auto parameters = reinterpret_cast<std::uintptr_t>(block.parameters);
  if (!writes && address >= parameters && address + bytes <= parameters + block.parameter_bytes)
    return Fault::Nothing;
  const bool is_allowed = is_dynamic_shared(address)
                              ? address + bytes <= running.shared + block.shared_bytes
                              : thread_memory().contains(address);
  return is_allowed ? Fault::Nothing : Fault::Undeclared;
}

void CheckedDispatch::check(std::uintptr_t address, std::size_t bytes, bool writes,
                            const HostBlock& block, const std::uint32_t* thread) noexcept {
  try {
    const Fault fault = find_fault(address, bytes, writes, block);
    if (fault == Fault::Nothing) return;
    const std::lock_guard lock(mutex_);
    if (++faults_ != 1) return;
    code_ = fault == Fault::Unwritten             ? ErrorCode::UninitializedRead
            : fault == Fault::OutsideDerivedBlock ? ErrorCode::Internal
                                                  : ErrorCode::UndeclaredAccess;
    fault_.clear();
    fault_ = concat(place(block, thread), ": ", describe(fault, address, bytes, writes, block));
  } catch (const std::bad_alloc&) {
    // Without memory for a text the fault has none.
  }
}

void CheckedDispatch::throw_fault() {
  const std::lock_guard lock(mutex_);
  if (faults_ == 0) return;
  const Recording& recording = *plan_.recording;
  const Command& of = recording.commands[command_];
  ErrorDetails details;
  details.code = code_;
  details.stage = Stage::Launch;
  details.command = command_;
  details.label = recording.label_path(of.label);
  std::string text = concat("command ", command_, " (", recording.command_name(command_), ", ",
                            of.where.file, ":", of.where.line, "): ", fault_);
  if (faults_ > 1) text += concat("; forbidden accesses: ", faults_);
  faults_ = 0;
  throw Error(std::move(details), text);
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI::host_kernel {

void begin_checked_block(const HostBlock& block, const std::uint32_t* thread,
                         const std::byte* shared) noexcept {
  detail::running.block = &block;
  detail::running.thread = thread;
  detail::running.shared = reinterpret_cast<std::uintptr_t>(shared);
}

void check_access(const void* address, std::size_t bytes, bool writes) noexcept {
  const detail::Running& now = detail::running;
  if (now.checks == nullptr || now.thread == nullptr) return;
  now.checks->check(reinterpret_cast<std::uintptr_t>(address), bytes, writes, *now.block,
                    now.thread);
}

}  // namespace reprise::inline REPRISE_ABI::host_kernel
