// mpi_error: the one function that turns a result of MPI into an Error. Threads: any.
#pragma once

#include <reprise/error.hpp>

namespace reprise::detail {

// The error of a result other than MPI_SUCCESS: RankLost or RankMismatch where MPI reports that,
// otherwise NativeFailure. `call` is the name of the MPI function.
[[nodiscard]] Error mpi_error(int result, const char* call, Stage stage);
// Throws mpi_error() unless `result` is MPI_SUCCESS.
void mpi_check(int result, const char* call, Stage stage);

}  // namespace reprise::detail
