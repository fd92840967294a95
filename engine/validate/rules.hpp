// The table of validation rules. Rule ids are stable: users suppress findings by id. Threads:
// constants.
#pragma once

#include <cstdint>
#include <string_view>

#include <reprise/error.hpp>
#include <reprise/message.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {

// rule, id, lowest level that checks it, severity, error code
#define REPRISE_RULES(X)                                                                           \
  X(HandleStale, "handle-stale", Off, Error, StaleHandle)                                          \
  X(DeviceForeign, "device-foreign", Off, Error, WrongDevice)                                      \
  X(RangeOutOfBounds, "range-out-of-bounds", Off, Error, OutOfRange)                               \
  X(CopyOverlap, "copy-overlap", Off, Error, Overlap)                                              \
  X(DispatchParametersMismatch, "dispatch-parameters-mismatch", Off, Error, ArgumentSize)          \
  X(EdgeInvalid, "edge-invalid", Off, Error, InvalidArgument)                                      \
  X(ConditionDecidesNothing, "condition-decides-nothing", Off, Error, InvalidArgument)             \
  X(ConditionDecidesSeveral, "condition-decides-several", Off, Error, InvalidArgument)             \
  X(ConditionalUnsupported, "conditional-unsupported", Off, Error, Unsupported)                    \
  X(DispatchGridZero, "dispatch-grid-zero", Basic, Error, LaunchLimits)                            \
  X(DispatchGridTooLarge, "dispatch-grid-too-large", Basic, Error, LaunchLimits)                   \
  X(DispatchBlockZero, "dispatch-block-zero", Basic, Error, LaunchLimits)                          \
  X(DispatchBlockTooLarge, "dispatch-block-too-large", Basic, Error, LaunchLimits)                 \
  X(DispatchSharedTooLarge, "dispatch-shared-too-large", Basic, Error, LaunchLimits)               \
  X(DispatchParametersTooLarge, "dispatch-parameters-too-large", Basic, Error, LaunchLimits)       \
  X(DispatchClusterUnsupported, "dispatch-cluster-unsupported", Basic, Error, Unsupported)         \
  X(DispatchClusterZero, "dispatch-cluster-zero", Basic, Error, LaunchLimits)                      \
  X(DispatchClusterTooLarge, "dispatch-cluster-too-large", Basic, Error, LaunchLimits)             \
  X(DispatchClusterIndivisible, "dispatch-cluster-indivisible", Basic, Error, LaunchLimits)        \
  X(DispatchCooperativeUnsupported, "dispatch-cooperative-unsupported", Basic, Error, Unsupported) \
  X(DispatchCooperativeTooLarge, "dispatch-cooperative-too-large", Basic, Error, LaunchLimits)     \
  X(CopyPitchTooLarge, "copy-pitch-too-large", Basic, Error, Unsupported)                          \
  X(FillPitchTooLarge, "fill-pitch-too-large", Basic, Error, Unsupported)                          \
  X(FillElementInvalid, "fill-element-invalid", Basic, Error, InvalidArgument)                     \
  X(HazardUnordered, "hazard-unordered", Full, Error, MissingBarrier)                              \
  X(BarrierOrdersNothing, "barrier-orders-nothing", Full, Warning, InvalidArgument)                \
  X(EdgeOrdersNothing, "edge-orders-nothing", Full, Warning, InvalidArgument)                      \
  X(TransientReadBeforeWrite, "transient-read-before-write", Full, Warning, InvalidArgument)       \
  X(TransientNeverRead, "transient-never-read", Full, Warning, InvalidArgument)                    \
  X(DeadWrite, "dead-write", Full, Warning, InvalidArgument)                                       \
  X(ConditionNeverSet, "condition-never-set", Full, Warning, InvalidArgument)                      \
  X(FindingsLeftOut, "findings-left-out", Full, Info, InvalidArgument)

enum class Rule : std::uint8_t {
#define REPRISE_X(rule, id, level, severity, code) rule,
  REPRISE_RULES(REPRISE_X)
#undef REPRISE_X
};

struct RuleRow {
  std::string_view id;
  Validation level;
  Severity severity;
  ErrorCode code;
};

inline constexpr RuleRow kRules[] = {
#define REPRISE_X(rule, id, level, severity, code) \
  {id, Validation::level, Severity::severity, ErrorCode::code},
    REPRISE_RULES(REPRISE_X)
#undef REPRISE_X
};
[[nodiscard]] constexpr const RuleRow& row_of(Rule rule) {
  return kRules[static_cast<std::size_t>(rule)];
}

}  // namespace reprise::detail
