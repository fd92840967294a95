#include "faults/core_dump.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "faults/line_table.hpp"

namespace reprise::faults {

namespace {

// Values and offsets from cudacoredump.h.
constexpr std::uint16_t kCoreType = 4, kCudaMachine = 190;
constexpr std::uint32_t kUser = 0x80000000u, kGlobalMemory = kUser + 2, kRelocatedImage = kUser + 7,
                        kDeviceTable = kUser + 9, kMultiprocessorTable = kUser + 11,
                        kGridTable = kUser + 12, kBlockTable = kUser + 13, kWarpTable = kUser + 14,
                        kThreadTable = kUser + 15, kParameters = kUser + 18,
                        kConstantBanks = kUser + 21;
constexpr std::uint64_t kMaxParameters = 32764,  // of one kernel, bytes
    kMaxAllParameters = 64u << 20;

// One entry of a table.
struct Entry {
  Bytes bytes;
  // The field at `offset`; 0 where the driver's entries end before it.
  template <class T>
  [[nodiscard]] T get(std::uint64_t offset) const {
    return read_at<T>(bytes, offset).value_or(T{});
  }
  [[nodiscard]] Extent extent(std::uint64_t offset) const {
    return {get<std::uint32_t>(offset), get<std::uint32_t>(offset + 4),
            get<std::uint32_t>(offset + 8)};
  }
};

class DumpReader {
 public:
  DumpReader(Bytes bytes, const std::string& name) : elf_(bytes, name), unused_(bytes.size()) {
    if (elf_.type() != kCoreType || elf_.machine() != kCudaMachine)
      throw DumpError(name + ": not a GPU core dump");
    for (std::uint32_t i = 0; i < elf_.sections().size(); ++i) {
      const Section& one = elf_.sections()[i];
      // The tables and memory of an entry refer to its table and its index in it.
      if (one.type > kUser) children_[{one.link, one.info}].push_back(i);
      if (one.type == kRelocatedImage) add_image(one);
    }
  }

  CoreDump read() {
    for (std::uint32_t i = 0; i < elf_.sections().size(); ++i) {
      if (elf_.sections()[i].type != kDeviceTable) continue;
      const std::uint64_t devices = count(elf_.sections()[i]);
      for (std::uint64_t d = 0; d < devices; ++d) {
        device_ = entry(elf_.sections()[i], d).get<std::uint32_t>(24);
        for_each(i, d, kGridTable, [&](std::uint32_t table) { read_grids(table); });
        for_each(i, d, kMultiprocessorTable,
                 [&](std::uint32_t table) { read_multiprocessors(table); });
      }
    }
    return std::move(dump_);
  }

 private:
  struct Image {
    ElfFile elf;
    std::vector<Function> functions;
  };

  void add_image(const Section& section) {
    const Bytes bytes = elf_.contents(section);
    use(section, bytes.size());
    try {
      ElfFile image(bytes, std::string(section.name));
      auto functions = image.functions();
      images_.push_back({std::move(image), std::move(functions)});
    } catch (const DumpError& error) {
      elf_.fail(section, std::string("is no image of code: ") + error.what());
    }
  }

  [[nodiscard]] std::uint64_t count(const Section& table) {
    if (table.bytes == 0) return 0;
    constexpr std::uint64_t kLeast = 16;  // bytes of an entry
    if (table.entry_bytes < kLeast)
      elf_.fail(table, "has entries of " + std::to_string(table.entry_bytes) + " bytes");
    const std::uint64_t bytes = elf_.contents(table).size();
    use(table, bytes);
    return bytes / table.entry_bytes;
  }
  // What is read of the sections together is no more than the file, unless sections overlap.
  void use(const Section& section, std::uint64_t bytes) {
    if (bytes > unused_) elf_.fail(section, "overlaps others");
    unused_ -= bytes;
  }
  [[nodiscard]] Entry entry(const Section& table, std::uint64_t index) const {
    return {elf_.contents(table).subspan(index * table.entry_bytes, table.entry_bytes)};
  }
  template <class Visit>
  void for_each(std::uint32_t table, std::uint64_t index, std::uint32_t type, Visit visit) {
    const auto found = children_.find({table, static_cast<std::uint32_t>(index)});
    if (found == children_.end()) return;
    for (const std::uint32_t child : found->second) {
      // Children follow their parents in the hierarchy of types: no cycle.
      if (elf_.sections()[child].type == type) visit(child);
    }
  }

  [[nodiscard]] std::pair<const Image*, const Function*> function_at(std::uint64_t address) const {
    for (const Image& image : images_) {
      const auto after =
          std::upper_bound(image.functions.begin(), image.functions.end(), address,
                           [](std::uint64_t a, const Function& f) { return a < f.address; });
      if (after == image.functions.begin()) continue;
      const Function& function = *std::prev(after);
      if (address - function.address < std::max<std::uint64_t>(function.bytes, 1))
        return {&image, &function};
    }
    return {nullptr, nullptr};
  }

  // The memory at `address` that the dump has; empty: none.
  [[nodiscard]] Bytes memory_at(std::uint64_t address, std::uint64_t bytes) const {
    for (const Section& one : elf_.sections()) {
      if (one.type != kGlobalMemory || address < one.address || address - one.address >= one.bytes)
        continue;
      const Bytes from = elf_.contents(one).subspan(address - one.address);
      return from.first(std::min<std::uint64_t>(from.size(), bytes));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::byte> parameters_of(std::uint32_t table, std::uint64_t index,
                                                     std::uint64_t offset) {
    Bytes found;
    for_each(table, index, kParameters, [&](std::uint32_t child) {
      found = elf_.contents(elf_.sections()[child]);
      use(elf_.sections()[child], found.size());
    });
    if (found.empty()) {
      for_each(table, index, kConstantBanks, [&](std::uint32_t child) {
        const Section& banks = elf_.sections()[child];
        for (std::uint64_t i = 0, n = count(banks); i < n; ++i) {
          const Entry bank = entry(banks, i);
          const std::uint64_t bytes = bank.get<std::uint32_t>(8);
          if (bank.get<std::uint32_t>(12) == 0 && offset < bytes)  // bank 0 has the parameters
            found = memory_at(bank.get<std::uint64_t>(0) + offset, bytes - offset);
        }
      });
    }
    found = found.first(std::min({std::uint64_t{found.size()}, kMaxParameters, parameters_left_}));
    parameters_left_ -= found.size();
    return {found.begin(), found.end()};
  }

  void read_grids(std::uint32_t table) {
    const Section& section = elf_.sections()[table];
    for (std::uint64_t i = 0, n = count(section); i < n; ++i) {
      const Entry from = entry(section, i);
      DumpedGrid grid;
      grid.id = from.get<std::uint64_t>(0);
      grid.device = device_;
      if (const auto [image, function] = function_at(from.get<std::uint64_t>(24)); function)
        grid.kernel = function->name;
      grid.grid = from.extent(72);
      grid.block = from.extent(84);
      grid.parameters = parameters_of(table, i, from.get<std::uint64_t>(48));
      grids_.emplace(std::pair{device_, grid.id}, static_cast<std::uint32_t>(dump_.grids.size()));
      dump_.grids.push_back(std::move(grid));
    }
  }

  void read_multiprocessors(std::uint32_t table) {
    const Section& section = elf_.sections()[table];
    for (std::uint64_t i = 0, n = count(section); i < n; ++i) {
      const Entry from = entry(section, i);
      multiprocessor_ = from.get<std::uint32_t>(0);
      const std::size_t before = dump_.exceptions.size();
      for_each(table, i, kBlockTable, [&](std::uint32_t child) { read_blocks(child); });
      const auto code = from.get<std::uint32_t>(8);
      if (code == 0 || dump_.exceptions.size() != before) continue;
      DumpedException exception = make_exception(code);  // its warps have ended
      if (from.get<std::uint32_t>(12) != 0) locate(exception, from.get<std::uint64_t>(16));
      dump_.exceptions.push_back(std::move(exception));
    }
  }

  void read_blocks(std::uint32_t table) {
    const Section& section = elf_.sections()[table];
    for (std::uint64_t i = 0, n = count(section); i < n; ++i) {
      const Entry from = entry(section, i);
      const Extent block = from.extent(8);
      const auto known = grids_.find({device_, from.get<std::uint64_t>(0)});
      const std::uint32_t index = known == grids_.end() ? kNoGrid : known->second;
      if (index != kNoGrid) {
        DumpedGrid& grid = dump_.grids[index];
        if (grid.blocks++ == 0) grid.first_block = block;
      }
      for_each(table, i, kWarpTable, [&](std::uint32_t child) { read_warps(child, index, block); });
    }
  }

  void read_warps(std::uint32_t table, std::uint32_t grid, const Extent& block) {
    const Section& section = elf_.sections()[table];
    for (std::uint64_t i = 0, n = count(section); i < n; ++i) {
      const Entry from = entry(section, i);
      DumpedException found;
      std::uint64_t address = 0;
      for_each(table, i, kThreadTable, [&](std::uint32_t child) {
        const Section& threads = elf_.sections()[child];
        for (std::uint64_t t = 0, all = count(threads); t < all; ++t) {
          const Entry thread = entry(threads, t);
          const auto code = thread.get<std::uint32_t>(32);
          if (code == 0 || found.threads++ != 0) continue;
          const std::uint32_t threads_so_far = found.threads;
          found = make_exception(code);
          found.threads = threads_so_far;
          found.thread = thread.extent(20);
          address = thread.get<std::uint64_t>(0);
        }
      });
      if (found.threads == 0) continue;
      found.grid = grid;
      found.block = block;
      // The counter of the threads may be beyond the instruction that failed.
      if (from.get<std::uint32_t>(24) != 0) address = from.get<std::uint64_t>(0);
      locate(found, address);
      dump_.exceptions.push_back(std::move(found));
    }
  }

  [[nodiscard]] DumpedException make_exception(std::uint32_t code) const {
    DumpedException exception;
    exception.code = code;
    exception.device = device_;
    exception.multiprocessor = multiprocessor_;
    return exception;
  }

  void locate(DumpedException& exception, std::uint64_t address) {
    const auto [at, is_new] = places_.try_emplace(address);
    Place& place = at->second;
    if (is_new) {
      const auto [image, function] = function_at(address);
      if (function != nullptr) {
        place.function = function->name;
        place.line = line_of(image->elf, address);
      }
    }
    exception.address = address;
    exception.function = place.function;
    exception.file = place.line.file;
    exception.line = place.line.line;
  }

  // Unknown for code without a line table.
  [[nodiscard]] static SourceLine line_of(const ElfFile& image, std::uint64_t address) {
    const Section* const lines = image.find(".debug_line");
    if (lines == nullptr) return {};
    const Section* const texts = image.find(".debug_line_str");
    return find_line(image.contents(*lines), texts == nullptr ? Bytes() : image.contents(*texts),
                     address);
  }

  struct Place {
    std::string_view function;
    SourceLine line;
  };
  ElfFile elf_;
  std::uint64_t unused_;  // bytes of the file that were not read yet as a section
  std::uint64_t parameters_left_ = kMaxAllParameters;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> children_;
  std::vector<Image> images_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> grids_;  // by device and id
  std::map<std::uint64_t, Place> places_;                                   // by address
  std::uint32_t device_ = 0, multiprocessor_ = 0;  // of the tables being read
  CoreDump dump_;
};

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status {};
    if (file >= 0 && ::fstat(file, &status) == 0 && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      data_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    const int reason = errno;
    if (file >= 0) ::close(file);
    if (file < 0 || data_ == MAP_FAILED)
      throw DumpError(path.string() + ": cannot read: " + std::strerror(reason));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (bytes_ != 0) ::munmap(data_, bytes_);
  }
  [[nodiscard]] Bytes bytes() const { return {static_cast<const std::byte*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

CoreDump read_core_dump(Bytes bytes, const std::string& name) {
  return DumpReader(bytes, name).read();
}

CoreDump read_core_dump(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  return read_core_dump(mapped.bytes(), file.string());
}

std::string exception_name(std::uint32_t code) {
  // CUDBGException_t of cudadebugger.h.
  static constexpr const char* kNames[] = {nullptr,
                                           "illegal address",
                                           "stack overflow",
                                           "stack overflow",
                                           "illegal instruction",
                                           "address out of range",
                                           "misaligned address",
                                           "invalid address space",
                                           "invalid program counter",
                                           "stack overflow",
                                           "illegal address",
                                           "misaligned address",
                                           "failed assertion",
                                           "failed system call",
                                           "illegal address",
                                           "system atomic on memory that cannot migrate",
                                           "invalid system atomic",
                                           "address outside of the cluster",
                                           "block of the cluster is not present",
                                           "overwritten stack canary",
                                           "invalid access to tensor memory",
                                           "leaked tensor memory",
                                           "call that needs a newer driver"};
  if (code < std::size(kNames) && kNames[code] != nullptr) return kNames[code];
  return "exception " + std::to_string(code);
}

}  // namespace reprise::faults
