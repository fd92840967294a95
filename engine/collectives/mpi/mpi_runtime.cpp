#include "collectives/mpi/mpi_runtime.hpp"

#include <cstdlib>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/mpi/mpi_check.hpp"
#include "collectives/reduce_elements.hpp"

namespace reprise::detail {
namespace {

template <ReduceOperator kReduce, class T>
void reduce_callback(void* from, void* into, int* count, MPI_Datatype*) {
  reduce_elements<kReduce>(static_cast<T*>(into), static_cast<const T*>(from),
                           static_cast<std::size_t>(*count));
}

template <ReduceOperator kReduce, class T>
[[nodiscard]] MPI_Op create_reduction() {
  MPI_Op op = MPI_OP_NULL;
  constexpr int kCommutes = 1;
  mpi_check(MPI_Op_create(&reduce_callback<kReduce, T>, kCommutes, &op), "MPI_Op_create",
            Stage::Open);
  return op;
}

[[nodiscard]] MPI_Datatype create_two_bytes() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  mpi_check(MPI_Type_contiguous(2, MPI_BYTE, &type), "MPI_Type_contiguous", Stage::Open);
  mpi_check(MPI_Type_commit(&type), "MPI_Type_commit", Stage::Open);
  return type;
}

template <class T>
[[nodiscard]] std::array<MPI_Op, 4> create_reductions() {
  return {create_reduction<ReduceOperator::Sum, T>(),
          create_reduction<ReduceOperator::Product, T>(),
          create_reduction<ReduceOperator::Min, T>(), create_reduction<ReduceOperator::Max, T>()};
}

[[nodiscard]] const char* name_of_level(int level) noexcept {
  switch (level) {
    case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    default: return "MPI_THREAD_MULTIPLE";
  }
}

}  // namespace

MpiRuntime& MpiRuntime::instance() {
  static MpiRuntime& runtime = *new MpiRuntime;  // handlers that run at exit use it
  return runtime;
}

bool MpiRuntime::is_usable() noexcept {
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return is_initialized != 0 && is_finalized == 0;
}

void MpiRuntime::initialize() {
  const std::lock_guard guard(initializing_);
  int is_finalized = 0, is_initialized = 0, level = MPI_THREAD_SINGLE;
  mpi_check(MPI_Finalized(&is_finalized), "MPI_Finalized", Stage::Open);
  if (is_finalized != 0) {
    fail(ErrorCode::InvalidState, Stage::Open, {},
         "MPI_Finalize was called before; MPI cannot be initialised again");
  }
  if (is_initialized_) return;
  mpi_check(MPI_Initialized(&is_initialized), "MPI_Initialized", Stage::Open);
  if (is_initialized == 0) {
    mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread",
              Stage::Open);
    // Open MPI 4.1 reports errors of collectives to the handler of MPI_COMM_WORLD, whichever
    // communicator they use.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::atexit([] { instance().finalize_at_exit(); });
  } else {
    mpi_check(MPI_Query_thread(&level), "MPI_Query_thread", Stage::Open);
  }
  if (level < MPI_THREAD_SERIALIZED) {
    fail(ErrorCode::InvalidState, Stage::Open, {},
         concat("MPI is initialised with ", name_of_level(level),
                ", but collectives run on threads of the engine: call MPI_Init_thread with "
                "MPI_THREAD_MULTIPLE, or leave the initialisation to the engine"));
  }
  is_serialized_ = level == MPI_THREAD_SERIALIZED;
  create_types();
  is_initialized_ = true;
}

void MpiRuntime::create_types() {
  half_ = create_two_bytes();
  bfloat16_ = create_two_bytes();
  half_ops_ = create_reductions<HalfBits>();
  bfloat16_ops_ = create_reductions<Bfloat16Bits>();
  float_ops_ = create_reductions<float>();
  double_ops_ = create_reductions<double>();
  int8_ops_ = create_reductions<std::int8_t>();
  uint8_ops_ = create_reductions<std::uint8_t>();
}

void MpiRuntime::finalize_at_exit() {
  if (pending_.load() == 0 && !has_failed() && is_usable()) MPI_Finalize();
}

MPI_Datatype MpiRuntime::datatype(ElementType type) const {
  switch (type) {
    case ElementType::I8: return MPI_INT8_T;
    case ElementType::U8: return MPI_UINT8_T;
    case ElementType::I32: return MPI_INT32_T;
    case ElementType::U32: return MPI_UINT32_T;
    case ElementType::I64: return MPI_INT64_T;
    case ElementType::U64: return MPI_UINT64_T;
    case ElementType::F16: return half_;
    case ElementType::BF16: return bfloat16_;
    case ElementType::F32: return MPI_FLOAT;
    case ElementType::F64: return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op MpiRuntime::reduction(ElementType type, ReduceOperator reduce) const {
  if (reduce == ReduceOperator::Average) reduce = ReduceOperator::Sum;
  const auto index = static_cast<std::size_t>(reduce);
  const bool is_min_or_max = reduce == ReduceOperator::Min || reduce == ReduceOperator::Max;
  const std::array<MPI_Op, 4> of_mpi{MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  switch (type) {
    case ElementType::F16: return half_ops_[index];
    case ElementType::BF16: return bfloat16_ops_[index];
    // MPI leaves open what Min and Max are of NaN and of zeros with different signs.
    case ElementType::F32: return is_min_or_max ? float_ops_[index] : of_mpi[index];
    case ElementType::F64: return is_min_or_max ? double_ops_[index] : of_mpi[index];
    case ElementType::I8: return int8_ops_[index];
    case ElementType::U8: return uint8_ops_[index];
    case ElementType::I32:
    case ElementType::U32:
    case ElementType::I64:
    case ElementType::U64: return of_mpi[index];
  }
  return MPI_OP_NULL;
}

}  // namespace reprise::detail
