// Error, the exception type of the engine, and its codes. Must not depend on a device or on native
// headers. Threads: values; may be copied between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

// X(code, description)
#define REPRISE_ERROR_CODES(X)                                                                     \
  X(InvalidState, "the object is not in a state that allows this call")                            \
  X(InvalidArgument, "an argument has a value that is never valid")                                \
  X(OutOfRange, "a range exceeds its buffer")                                                      \
  X(Overlap, "the source and destination of a copy share bytes")                                   \
  X(ArgumentCount, "a kernel got a different number of arguments than it declares")                \
  X(ArgumentSize, "a kernel argument has a different size or kind than its parameter")             \
  X(ArgumentType, "a kernel argument has a different type than its parameter")                     \
  X(LaunchLimits, "the device cannot launch this grid, block, cluster or shared memory size")      \
  X(Unsupported, "the device reports in its capabilities that it cannot do this")                  \
  X(WrongDevice, "one call uses objects of two devices")                                           \
  X(StaleHandle, "the handle belongs to an earlier generation of its device or pool")              \
  X(MissingBarrier, "two conflicting commands are not ordered under Ordering::Explicit")           \
  X(CyclicDependency, "commands or queues wait for each other in a cycle")                         \
  X(UnknownDevice, "no device has this name")                                                      \
  X(NoDriver, "this machine has no usable CUDA driver")                                            \
  X(DriverTooOld, "the installed CUDA driver is older than this build requires")                   \
  X(OutOfMemory, "the device or the host has not enough memory left")                              \
  X(SlabExhausted, "a budget has no room for the transient buffers of a graph")                    \
  X(KernelNotFound, "a module has no kernel of this name for this device")                         \
  X(ParameterMismatch, "the compiled parameters of a kernel differ from its parameter table")      \
  X(UndeclaredAccess, "a kernel accessed memory that its dispatch does not declare")               \
  X(UninitializedRead, "a kernel read bytes of a transient before the replay wrote them")          \
  X(CapturingStream, "the queue's stream is being captured; a launch would end up in the capture") \
  X(NotInitialized, "the object is empty or was moved from")                                       \
  X(CaptureUnmatched, "a capture is ended that was never started or has already ended")            \
  X(CaptureInvalidated, "something that the capture does not allow happened while it was open")    \
  X(NotPerReplica, "replicas of one graph would write memory that they share")                     \
  X(PoolInUse, "live graphs or recordings hold the pool")                                          \
  X(LibraryMissing, "a library that is opened at run time is not installed")                       \
  X(RankMismatch, "ranks record or launch different collectives")                                  \
  X(RankLost, "another rank ended, failed or does not arrive")                                     \
  X(DeviceLost, "the device reported an error from which it does not recover")                     \
  X(NativeFailure, "a native call failed for a reason without its own code")                       \
  X(Internal, "an internal invariant of Reprise is broken; please report it")

enum class ErrorCode : std::uint8_t {
#define REPRISE_X(name, description) name,
  REPRISE_ERROR_CODES(REPRISE_X)
#undef REPRISE_X
};

// The stage on a command's path that detected the error.
enum class Stage : std::uint8_t {
  Open,
  Load,
  Allocate,
  Record,
  Validate,
  Dependencies,
  Lowering,
  Memory,
  Plan,
  Instantiate,
  Upload,
  Launch,
  Wait,
  Profile
};

[[nodiscard]] REPRISE_API std::string_view to_string(ErrorCode code) noexcept;
[[nodiscard]] REPRISE_API std::string_view describe(
    ErrorCode code) noexcept;  // the table's description
[[nodiscard]] REPRISE_API std::string_view to_string(Stage stage) noexcept;

// The fields of an Error besides its text. Programs decide by these fields, never by the text.
struct ErrorDetails {
  ErrorCode code = ErrorCode::Internal;
  Stage stage = Stage::Record;
  std::optional<std::uint32_t> command = {};  // index in the command buffer
  std::string label = {};        // of the command, "forward/layer 1"; otherwise of the object
  std::string message_id = {};   // stable id of the violated validation rule
  std::string native_call = {};  // text of the native call that failed
  std::int64_t native_code = 0;  // its result
  std::string native_name = {};  // name of the result, "cudaErrorInvalidValue"
  // DeviceLost of a graph with fault markers: indices of commands that started and did not end.
  std::vector<std::uint32_t> unfinished = {};
};

class REPRISE_API Error : public std::runtime_error {
 public:
  // what() is `text`, followed by the details in brackets.
  Error(ErrorDetails details, std::string text);

  [[nodiscard]] ErrorCode code() const noexcept { return details_.code; }
  [[nodiscard]] Stage stage() const noexcept { return details_.stage; }
  [[nodiscard]] const ErrorDetails& details() const noexcept { return details_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  ErrorDetails details_;
  std::string text_;
};

}  // namespace reprise::inline REPRISE_ABI
