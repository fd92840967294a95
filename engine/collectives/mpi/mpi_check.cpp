#include "collectives/mpi/mpi_check.hpp"

#include <mpi.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

[[nodiscard]] ErrorCode code_of(int error_class) noexcept {
  switch (error_class) {
#ifdef MPIX_ERR_PROC_FAILED
    case MPIX_ERR_PROC_FAILED:
    case MPIX_ERR_REVOKED: return ErrorCode::RankLost;
#endif
    case MPI_ERR_TRUNCATE: return ErrorCode::RankMismatch;  // more elements than expected
    default: return ErrorCode::NativeFailure;
  }
}

}  // namespace

Error mpi_error(int result, const char* call, Stage stage) {
  int error_class = MPI_ERR_UNKNOWN, length = 0;
  char buffer[MPI_MAX_ERROR_STRING] = {};
  MPI_Error_class(result, &error_class);
  MPI_Error_string(result, buffer, &length);
  // "MPI_ERR_TRUNCATE: message truncated"
  const std::string_view text(buffer, static_cast<std::size_t>(length));
  const std::string_view name = text.substr(0, std::min(text.find(':'), text.size()));
  return Error({.code = code_of(error_class),
                .stage = stage,
                .native_call = call,
                .native_code = result,
                .native_name = std::string(name)},
               concat("MPI failed: ", text));
}

void mpi_check(int result, const char* call, Stage stage) {
  if (result != MPI_SUCCESS) throw mpi_error(result, call, stage);
}

}  // namespace reprise::detail
