// The one exception type of Reprise and its codes. Knows no device and no native header.
// Threads: values, free to copy between threads.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

// code, what it says about the caller's situation
#define REPRISE_ERROR_CODES(X)                                                                     \
  X(InvalidState, "the object is not in a state that allows this call")                            \
  X(InvalidArgument, "an argument has a value that is never valid")                                \
  X(OutOfRange, "a range leaves the buffer that it is in")                                         \
  X(Overlap, "source and destination of a copy share bytes")                                       \
  X(ArgumentCount, "a kernel got another number of arguments than it declares")                    \
  X(ArgumentSize, "a kernel argument has another size or kind than the parameter it is for")       \
  X(LaunchLimits, "a grid, block, cluster or shared size that the device cannot launch")           \
  X(Unsupported, "the device says in its capabilities that it cannot do this")                     \
  X(WrongDevice, "objects of two devices meet in one call")                                        \
  X(StaleHandle, "the handle is of an earlier generation of its device or pool")                   \
  X(MissingBarrier, "two conflicting commands are not ordered under Ordering::Explicit")           \
  X(CyclicDependency, "commands or queues wait for each other in a circle")                        \
  X(UnknownDevice, "no device has this name")                                                      \
  X(NoDriver, "there is no usable CUDA driver on this machine")                                    \
  X(DriverTooOld, "the installed CUDA driver is older than this build needs")                      \
  X(OutOfMemory, "the device or the host has not enough memory left")                              \
  X(SlabExhausted, "a budget has no room for the transient buffers of a graph")                    \
  X(KernelNotFound, "a module holds no kernel of this name for this device")                       \
  X(ParameterMismatch, "a kernel's compiled parameters differ from its parameter table")           \
  X(CapturingStream, "the queue's stream is being captured; a launch would end up in the capture") \
  X(NotInitialized, "the object was never given anything to work on, or was moved away")           \
  X(CaptureUnmatched, "a capture is ended that was never begun, or was ended before")              \
  X(CaptureInvalidated, "something that a capture does not allow happened while it was open")      \
  X(NotPerReplica, "instances of one graph would write memory that they share")                    \
  X(PoolInUse, "the pool is held by live graphs or recordings")                                    \
  X(DeviceLost, "the device reported an error that it does not recover from")                      \
  X(NativeFailure, "a native call failed for a reason that has no code of its own")                \
  X(Internal, "Reprise broke a promise it makes to itself; please report it")

enum class ErrorCode : std::uint8_t {
#define REPRISE_X(name, meaning) name,
  REPRISE_ERROR_CODES(REPRISE_X)
#undef REPRISE_X
};

// Where on the way of a command the error was found.
enum class Stage : std::uint8_t {
  Open,
  Load,
  Allocate,
  Record,
  Validate,
  DependencyGraph,
  Lanes,
  Memory,
  Plan,
  Instantiate,
  Upload,
  Launch,
  Wait,
  Profile
};

[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;
[[nodiscard]] std::string_view describe(ErrorCode code) noexcept;
[[nodiscard]] std::string_view to_string(Stage stage) noexcept;

// What an Error says besides its text. Decide by these fields, never by the text.
struct ErrorDetails {
  static constexpr std::uint32_t kNoCommand = 0xffffffffu;

  ErrorCode code = ErrorCode::Internal;
  Stage stage = Stage::Record;
  std::uint32_t command =
      kNoCommand;          // index in the command buffer, kNoCommand where there is none
  std::string label = {};  // label path of the command, "forward/layer 1"; or the object's label
  std::string message_id = {};   // stable id of the validation rule, empty where none is behind it
  std::string native_call = {};  // text of the native call, empty where none failed
  std::int64_t native_code = 0;  // its result
  std::string native_name = {};  // the result's own name, "cudaErrorInvalidValue"
  std::vector<std::uint32_t> unfinished =
      {};  // of DeviceLost, of a graph with fault markers: commands that began and did not end
};

class Error : public std::runtime_error {
 public:
  Error(ErrorDetails details, const std::string& text);

  [[nodiscard]] ErrorCode code() const noexcept { return details_.code; }
  [[nodiscard]] Stage stage() const noexcept { return details_.stage; }
  [[nodiscard]] const ErrorDetails& details() const noexcept { return details_; }

 private:
  ErrorDetails details_;
};

}  // namespace reprise
