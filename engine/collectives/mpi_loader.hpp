// Opens libreprise_mpi.so, the part of the library that calls MPI, so that programs without MPI
// start where no MPI library is installed. Threads: any.
#pragma once

#include "collectives/mpi_module.hpp"

namespace reprise::detail {

// The module, which stays open until the process ends. Looks for it in REPRISE_MODULE_DIR (a
// compile definition), in the folder of the library or program that contains this function and in
// `reprise` and `../lib/reprise` of that folder, and then where the dynamic linker looks. Throws
// Error (LibraryMissing) with what to install.
[[nodiscard]] MpiModule& load_mpi_module();

}  // namespace reprise::detail
