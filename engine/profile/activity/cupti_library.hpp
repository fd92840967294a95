// CuptiLibrary: NVIDIA's profiling library, found at run time and only when a profile asks for it,
// so that programs start and run without it. A process has one copy at most: to an engine, one that
// is there already belongs to somebody else, who then has its only subscription too; who is in the
// process before everybody shares it with whoever links it. Threads: load() is a pure function of
// the file system and the process.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::detail {

// call, symbol
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
    const CuptiLibrary* library = nullptr;  // null: it cannot be used
    std::string why_not = {};               // in plain words, where it is null
  };
  struct Search {
    std::vector<std::string> names;  // tried in this order; with a slash: that file
    enum class Present : std::uint8_t {
      IsTaken,
      IsShared
    } present = Present::IsTaken;  // what one that is there already is
  };
  // $REPRISE_CUPTI = off | FILE, else the names that the toolkit's library has, in the loader's own
  // places and the toolkit's usual ones.
  [[nodiscard]] static Search usual_places();
  // What a library that was opened has; empty, with the reason in `why_not`, where it is another
  // one, or too old.
  [[nodiscard]] static std::optional<CuptiLibrary> resolve(void* handle, std::string& why_not);
  // The library of this process; stays loaded. Never throws for want of it.
  [[nodiscard]] static Loaded load(const Search& search);

  // A failed call in plain words: who holds CUPTI, what is not allowed, or CUPTI's own.
  [[nodiscard]] std::string said(const char* call, CUptiResult result) const;
};

}  // namespace reprise::detail
