// CuptiLibrary: NVIDIA's profiling library, loaded at run time and only on demand, so that programs
// start without it. CUPTI supports one subscriber per process: the engine does not use a copy that
// is already loaded, because another profiler owns it; the injection library, which is loaded
// first, shares its copy with libraries that link CUPTI. Threads: any; load() depends only on the
// file system and the process.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::detail {

// REPRISE_CUPTI_CALLS(member, symbol)
#define REPRISE_CUPTI_CALLS(X)                              \
  X(get_version, cuptiGetVersion)                           \
  X(result_string, cuptiGetResultString)                    \
  X(subscribe, cuptiSubscribe)                              \
  X(unsubscribe, cuptiUnsubscribe)                          \
  X(enable_callback, cuptiEnableCallback)                   \
  X(register_buffers, cuptiActivityRegisterCallbacks)       \
  X(register_clock, cuptiActivityRegisterTimestampCallback) \
  X(enable, cuptiActivityEnable)                            \
  X(disable, cuptiActivityDisable)                          \
  X(flush_all, cuptiActivityFlushAll)                       \
  X(next_record, cuptiActivityGetNextRecord)                \
  X(dropped_records, cuptiActivityGetNumDroppedRecords)     \
  X(node_id, cuptiGetGraphNodeId)                           \
  X(exec_id, cuptiGetGraphExecId)                           \
  X(finalize, cuptiFinalize)

struct CuptiLibrary {
#define REPRISE_X(call, symbol) decltype(&::symbol) call = nullptr;
  REPRISE_CUPTI_CALLS(REPRISE_X)
#undef REPRISE_X

  struct Loaded {
    const CuptiLibrary* library = nullptr;  // null: unavailable
    std::string why_not = {};               // why `library` is null
  };
  struct Search {
    std::vector<std::string> names;  // tried in this order; a name with a slash is a path
    enum class Present : std::uint8_t {
      Taken,
      Shared
    } present = Present::Taken;  // the treatment of a copy that is already loaded
  };
  // $REPRISE_CUPTI if it is set (off or a path); otherwise the toolkit's library names in the
  // loader's search path and the usual folders of the toolkit.
  [[nodiscard]] static Search default_search();
  // Resolves the calls of an opened library. Empty, with the reason in `why_not`, if a symbol is
  // missing or the version is too old.
  [[nodiscard]] static std::optional<CuptiLibrary> resolve(void* handle, std::string& why_not);
  // Loads the library, which then stays loaded. Failures are reported in the result.
  [[nodiscard]] static Loaded load(const Search& search);

  // The text of a failed call: another subscriber, missing permission, or CUPTI's own text.
  [[nodiscard]] std::string describe_error(const char* call, CUptiResult result) const;
};

}  // namespace reprise::detail
