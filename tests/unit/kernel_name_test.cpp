#include "base/kernel_name.hpp"

#include <doctest/doctest.h>

namespace reprise::test {

TEST_CASE(
    "kernel name: a C++ name loses what it returns and takes, and keeps its template arguments") {
  CHECK(detail::readable_kernel_name("_Z17application_scalePffj") == "application_scale");
  CHECK(detail::readable_kernel_name("_Z5scaleIfEvPT_S0_j") == "scale<float>");
  CHECK(detail::readable_kernel_name("_ZN2at6native4fillIfEEvPT_S2_") == "at::native::fill<float>");
}

TEST_CASE("kernel name: one that is no C++ name stays") {
  CHECK(detail::readable_kernel_name("sgemm_32x32") == "sgemm_32x32");
  CHECK(detail::readable_kernel_name("") == "");
}

TEST_CASE(
    "kernel name: functions as template arguments and anonymous namespaces are no parameters") {
  CHECK(detail::readable_kernel_name("_ZN12_GLOBAL__N_13addEPfj") == "(anonymous namespace)::add");
  CHECK(detail::readable_kernel_name("_Z3runIXadL_Z4stepfEEEvPf") == "run<&(step(float))>");
}

TEST_CASE(
    "kernel name: the short one has no namespaces, lambdas and lists of parameters, and no more "
    "than a line") {
  CHECK(detail::short_kernel_name("_ZN2at6native4fillIfEEvPT_S2_") == "fill<float>");
  CHECK(detail::short_kernel_name("_ZN12_GLOBAL__N_13addEPfj") == "add");
  CHECK(detail::short_kernel_name("_Z3runIN2ns5inner4GeluIfEEEvPf") == "run<Gelu<float>>");
  CHECK(detail::short_kernel_name("_Z3runIZN2ns4gelu4makeEvEUlfE_EvT_") == "run<make>");
  CHECK(detail::short_kernel_name("sgemm_32x32") == "sgemm_32x32");
  CHECK(detail::short_kernel_name("") == "");
  CHECK(detail::short_kernel_name(std::string(200, 'x')).size() == 60);
}

TEST_CASE("kernel name: demangled as a whole it keeps all of it") {
  CHECK(detail::demangled("_Z5scaleIfEvPT_f") == "void scale<float>(float*, float)");
  CHECK(detail::demangled("sgemm_32x32") == "sgemm_32x32");
}

TEST_CASE("kernel name: the operation of a kernel of NCCL") {
  CHECK(detail::nccl_operation(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs<4096>)") == "AllReduce");
  CHECK(detail::nccl_operation(
            "_Z38ncclDevKernel_ReduceScatter_Sum_f32_RING24ncclDevKernelArgsStorageILm4096EE") ==
        "ReduceScatter");
  CHECK(detail::nccl_operation("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)") ==
        "Broadcast");
  CHECK(detail::nccl_operation("ncclDevKernel_SendRecv(ncclDevKernelArgs<4096>)") == "SendRecv");
  CHECK(detail::nccl_operation("void run<nccl::Tag, MyKernel_AllReduce>(float*)") == "");
  CHECK(detail::nccl_operation("add") == "");
}

}  // namespace reprise::test
