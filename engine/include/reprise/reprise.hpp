// Everything but the CUDA interop, which is in <reprise/cuda_interop.hpp>.
#pragma once

#include <reprise/buffer.hpp>
#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/condition.hpp>
#include <reprise/device.hpp>
#include <reprise/device_info.hpp>
#include <reprise/device_scalar.hpp>
#include <reprise/device_state.hpp>
#include <reprise/dot.hpp>
#include <reprise/error.hpp>
#include <reprise/graph_actor.hpp>
#include <reprise/graph_op.hpp>
#include <reprise/graph_update.hpp>
#include <reprise/instance.hpp>
#include <reprise/kernel.hpp>
#include <reprise/launch_args.hpp>
#include <reprise/memory_plan.hpp>
#include <reprise/message.hpp>
#include <reprise/pool.hpp>
#include <reprise/queue.hpp>
#include <reprise/scalar_slot.hpp>
#include <reprise/shake.hpp>
#include <reprise/stream_capture.hpp>
#include <reprise/trace.hpp>
#include <reprise/types.hpp>
