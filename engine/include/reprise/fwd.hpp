// Declares the classes of the engine. Programs include this header instead of declaring them: their
// namespace depends on the version of the binary interface.
#pragma once

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

class BufferView;
class CapturedGraph;
class CapturePool;
class CommandBuffer;
class Condition;
class Device;
class DeviceState;
class Error;
class Fence;
class GraphActor;
class GraphOp;
class GraphOpDeclaration;
class GraphRecordCtx;
class Instance;
class Kernel;
class LaunchArgs;
class Queue;
class Recorder;
class StreamCapture;
class TraceRange;
template <class T>
class DeviceScalar;
template <class T>
class GpuRef;
template <class T>
class HostRef;

}  // namespace reprise::inline REPRISE_ABI
