// Names of kernels as people read them: needs no GPU.
#include <doctest/doctest.h>

#include "backend/cuda/native_kernel.hpp"

namespace reprise::test {

TEST_CASE("kernel name: a C++ name loses what it returns and takes, and keeps its template arguments") {
  CHECK(detail::readable_kernel_name("_Z17application_scalePffj") == "application_scale");
  CHECK(detail::readable_kernel_name("_Z5scaleIfEvPT_S0_j") == "scale<float>");
  CHECK(detail::readable_kernel_name("_ZN2at6native4fillIfEEvPT_S2_") == "at::native::fill<float>");
}

TEST_CASE("kernel name: one that is no C++ name stays") {
  CHECK(detail::readable_kernel_name("sgemm_32x32") == "sgemm_32x32");
  CHECK(detail::readable_kernel_name("") == "");
}

TEST_CASE("kernel name: functions as template arguments and anonymous namespaces are no parameters") {
  CHECK(detail::readable_kernel_name("_ZN12_GLOBAL__N_13addEPfj") == "(anonymous namespace)::add");
  CHECK(detail::readable_kernel_name("_Z3runIXadL_Z4stepfEEEvPf") == "run<&(step(float))>");
}

}  // namespace reprise::test
