// NCCL, opened at run time.
#include <doctest/doctest.h>

#include <cstdlib>

#include "collectives/nccl_library.hpp"
#include "support/contains.hpp"
#include "support/thrown_by.hpp"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace reprise::test {

TEST_CASE("nccl library: a missing library is an error that says what to install") {
  const Error error =
      thrown_by([] { static_cast<void>(detail::NcclLibrary::open("libno_such_nccl.so")); });
  CHECK(error.code() == ErrorCode::LibraryMissing);
  CHECK(contains(error.what(), "libno_such_nccl.so"));
  CHECK(contains(error.what(), "apt-get install libnccl2"));
}

TEST_CASE("nccl library: another library is not NCCL") {
  const Error error = thrown_by([] { static_cast<void>(detail::NcclLibrary::open("libm.so.6")); });
  CHECK(error.code() == ErrorCode::LibraryMissing);
  CHECK(contains(error.what(), "ncclGetVersion"));
}

TEST_CASE("nccl library: graphs whose buffers NCCL registers are refused") {
  constexpr const char* kName = "NCCL_GRAPH_REGISTER";
  unsetenv(kName);
  const Error error = thrown_by([] { detail::NcclLibrary::require_no_registration(); });
  CHECK(error.code() == ErrorCode::Unsupported);
  CHECK(contains(error.what(), "set NCCL_GRAPH_REGISTER=0 when the program starts"));
  setenv(kName, "1", 1);
  CHECK(code_of([] { detail::NcclLibrary::require_no_registration(); }) == ErrorCode::Unsupported);
  setenv(kName, "0", 1);
  CHECK_NOTHROW(detail::NcclLibrary::require_no_registration());
  unsetenv(kName);
}

#if __has_include(<nccl.h>)
TEST_CASE("nccl library: its types and operators are those of nccl.h") {
  CHECK(sizeof(detail::NcclUniqueId) == sizeof(ncclUniqueId));
  CHECK(detail::nccl_type(ElementType::I8) == ncclInt8);
  CHECK(detail::nccl_type(ElementType::U8) == ncclUint8);
  CHECK(detail::nccl_type(ElementType::I32) == ncclInt32);
  CHECK(detail::nccl_type(ElementType::U32) == ncclUint32);
  CHECK(detail::nccl_type(ElementType::I64) == ncclInt64);
  CHECK(detail::nccl_type(ElementType::U64) == ncclUint64);
  CHECK(detail::nccl_type(ElementType::F16) == ncclFloat16);
  CHECK(detail::nccl_type(ElementType::BF16) == ncclBfloat16);
  CHECK(detail::nccl_type(ElementType::F32) == ncclFloat32);
  CHECK(detail::nccl_type(ElementType::F64) == ncclFloat64);
  CHECK(detail::nccl_operator(ReduceOperator::Sum) == ncclSum);
  CHECK(detail::nccl_operator(ReduceOperator::Product) == ncclProd);
  CHECK(detail::nccl_operator(ReduceOperator::Min) == ncclMin);
  CHECK(detail::nccl_operator(ReduceOperator::Max) == ncclMax);
  CHECK(detail::nccl_operator(ReduceOperator::Average) == ncclAvg);
  CHECK(detail::NcclLibrary::kInProgress == ncclInProgress);
}
#endif

}  // namespace reprise::test
