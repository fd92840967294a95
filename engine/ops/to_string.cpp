// Names of the ops' public enumerators, as they are spelled.
#include <reprise/ops/ops.hpp>

#include "base/enum_names.hpp"

namespace reprise {

REPRISE_TO_STRING(FftDirection, Forward, Inverse)
REPRISE_TO_STRING(GemmType, F32, F64, F16, BF16)
REPRISE_TO_STRING(Transpose, No, Yes)
REPRISE_TO_STRING(ReduceKind, Sum, Min, Max)
REPRISE_TO_STRING(ScanKind, Exclusive, Inclusive)
REPRISE_TO_STRING(SortOrder, Ascending, Descending)
REPRISE_TO_STRING(ArrayType, F32, F64, I32, U32)

}  // namespace reprise
