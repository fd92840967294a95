// NcclLibrary: NCCL's functions, opened at run time. Declares what it uses of NCCL's interface, so
// that neither a build nor a program needs NCCL. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <reprise/collectives.hpp>

struct CUstream_st;

namespace reprise::detail {

struct NcclUniqueId {
  char internal[128] = {};
};

// As in nccl.h of NCCL 2.19 and later.
struct NcclLibrary {
  using Stream = CUstream_st*;
  using Result = int;  // ncclResult_t; 0: success
  static constexpr Result kInProgress = 7;

  int version = 0;   // 22809 is 2.28.9
  std::string path;  // of the library

  const char* (*get_error_string)(Result);
  const char* (*get_last_error)(ncclComm*);
  Result (*get_unique_id)(NcclUniqueId*);
  Result (*comm_init_rank)(ncclComm**, int ranks, NcclUniqueId, int rank);
  Result (*comm_split)(ncclComm*, int color, int key, ncclComm**, void* config);
  Result (*comm_destroy)(ncclComm*);
  Result (*comm_abort)(ncclComm*);
  Result (*comm_get_async_error)(ncclComm*, Result*);
  Result (*comm_count)(const ncclComm*, int*);
  Result (*comm_user_rank)(const ncclComm*, int*);
  Result (*comm_cu_device)(const ncclComm*, int*);
  Result (*group_start)();
  Result (*group_end)();
  Result (*all_reduce)(const void*, void*, std::size_t, int type, int op, ncclComm*, Stream);
  Result (*reduce)(const void*, void*, std::size_t, int type, int op, int root, ncclComm*, Stream);
  Result (*broadcast)(const void*, void*, std::size_t, int type, int root, ncclComm*, Stream);
  Result (*all_gather)(const void*, void*, std::size_t, int type, ncclComm*, Stream);
  Result (*reduce_scatter)(const void*, void*, std::size_t, int type, int op, ncclComm*, Stream);
  Result (*send)(const void*, std::size_t, int type, int peer, ncclComm*, Stream);
  Result (*receive)(void*, std::size_t, int type, int peer, ncclComm*, Stream);

  // The library, which stays open until the process ends. Before NCCL is used for the first time,
  // sets NCCL_GRAPH_MIXING_SUPPORT and NCCL_GRAPH_REGISTER to 0 unless the application has set
  // them: loops need the first, and buffers whose pages are trimmed the second. Throws Error
  // (LibraryMissing), which names the package to install.
  [[nodiscard]] static const NcclLibrary& get();
  [[nodiscard]] static NcclLibrary open(const char* name);  // for get()
  // Throws Error (Unsupported) if NCCL may register the buffers of graphs: its ranks do that
  // together, but each rank rebinds, profiles and trims its graphs alone.
  static void require_no_registration();
  // Throws Error: RankLost for a failure of another rank, otherwise NativeFailure.
  void check(Result result, const char* call, ncclComm* communicator, Stage stage) const;
};

[[nodiscard]] int nccl_type(ElementType type) noexcept;
[[nodiscard]] int nccl_operator(ReduceOperator reduce) noexcept;

}  // namespace reprise::detail
