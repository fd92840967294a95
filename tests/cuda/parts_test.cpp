// The parts of the CUDA device that need no GPU: sticky codes, shapes of copies, parameter tables,
// host callbacks.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include <reprise/error.hpp>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/graph/host_callbacks.hpp"
#include "backend/cuda/graph/instantiate_graph.hpp"
#include "backend/cuda/graph/transfer_nodes.hpp"
#include "cuda/gpu.hpp"

namespace reprise::test {

using namespace detail;

TEST_CASE("cuda_check: an illegal address marks the device lost, once") {
  DeviceStatus status;
  const ErrorDetails error = error_of([&] {
    cuda_check(cudaErrorIllegalAddress, "cudaMalloc", {Stage::Allocate, &status});
  });
  CHECK(error.code == ErrorCode::DeviceLost);
  CHECK(error.stage == Stage::Allocate);
  CHECK(error.native_call == "cudaMalloc");
  CHECK(error.native_code == 700);
  CHECK(error.native_name == "cudaErrorIllegalAddress");
  CHECK(status.lost);
  CHECK(status.generation == 2);
  CHECK(error_of([&] {
          cuda_check(CUDA_ERROR_LAUNCH_FAILED, "cuEventQuery", {Stage::Wait, &status});
        }).code == ErrorCode::DeviceLost);
  CHECK(status.generation == 2);
}

TEST_CASE("cuda graph builder: each reason not to instantiate a graph has its text and number") {
  const std::string unused = describe(cudaGraphInstantiateConditionalHandleUnused, 7);
  CHECK(unused ==
        "the graph of 7 nodes cannot be instantiated: a conditional handle decides no conditional "
        "node (result 5)");
  const auto newer = static_cast<cudaGraphInstantiateResult>(99);
  for (const cudaGraphInstantiateResult result :
       {cudaGraphInstantiateSuccess, cudaGraphInstantiateError,
        cudaGraphInstantiateInvalidStructure, cudaGraphInstantiateNodeOperationNotSupported,
        cudaGraphInstantiateMultipleDevicesNotSupported, newer}) {
    const std::string text = describe(result, 1);
    CAPTURE(text);
    CHECK(text.starts_with("the graph of 1 node cannot be instantiated: "));
    CHECK(text.ends_with("(result " + std::to_string(result) + ")"));
  }
}

TEST_CASE("cuda_check: each code maps to the matching Error") {
  DeviceStatus status;
  const CallContext call{Stage::Load, &status};
  CHECK(error_of([&] { cuda_check(cudaErrorMemoryAllocation, "cudaMalloc", call); }).code ==
        ErrorCode::OutOfMemory);
  CHECK(error_of([&] { cuda_check(CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc", call); }).code ==
        ErrorCode::OutOfMemory);
  CHECK(error_of([&] { cuda_check(cudaErrorInsufficientDriver, "cudaMalloc", call); }).code ==
        ErrorCode::DriverTooOld);
  CHECK(error_of([&] {
          cuda_check(cudaErrorNoKernelImageForDevice, "cudaLibraryGetKernel", call);
        }).code == ErrorCode::KernelNotFound);
  CHECK(error_of([&] {
          cuda_check(cudaErrorStreamCaptureImplicit, "cudaGraphLaunch", call);
        }).code == ErrorCode::CapturingStream);
  CHECK(error_of([&] {
          cuda_check(cudaErrorCooperativeLaunchTooLarge, "cudaGraphInstantiate", call);
        }).code == ErrorCode::LaunchLimits);
  CHECK(error_of([&] { cuda_check(cudaErrorInvalidValue, "cudaMalloc", call); }).code ==
        ErrorCode::NativeFailure);
  CHECK_FALSE(status.lost);
  CHECK_NOTHROW(cuda_check(cudaSuccess, "cudaMalloc", call));
}

TEST_CASE("transfer nodes: a copy uses the fewest dimensions that move the same bytes") {
  const CopyShape dense = reduce({{64, 4, 3}, {64, 256}, {64, 256}});
  CHECK(dense.extent.width == 768);
  CHECK(dense.extent.height == 1);
  CHECK(dense.extent.depth == 1);

  // Slices are contiguous on both sides.
  const CopyShape rows = reduce({{64, 4, 3}, {80, 320}, {64, 256}});
  CHECK(rows.extent.width == 64);
  CHECK(rows.extent.height == 12);
  CHECK(rows.extent.depth == 1);
  CHECK(rows.source.row == 80);

  const CopyShape columns = reduce({{8, 1, 5}, {8, 96}, {8, 8}});  // slices of one row
  CHECK(columns.extent.height == 5);
  CHECK(columns.extent.depth == 1);
  CHECK(columns.source.row == 96);
  CHECK(columns.destination.row == 8);

  const CopyShape cube = reduce({{64, 4, 3}, {80, 400}, {64, 256}});
  CHECK(cube.extent.height == 4);
  CHECK(cube.extent.depth == 3);
  CHECK(cube.source.slice == 400);
}

TEST_CASE(
    "kernel parameters: a table that differs from the code is reported with kernel, index, offsets "
    "and sizes") {
  const std::vector<KernelParameter> compiled = {{0, 8, false}, {8, 4, false}};
  CHECK_NOTHROW(
      check_parameters("k", std::vector<KernelParameter>{{0, 8, true}, {8, 4, false}}, compiled));

  std::string text;
  const ErrorDetails size = error_of(
      [&] {
        check_parameters("k", std::vector<KernelParameter>{{0, 8, true}, {8, 8, false}}, compiled);
      },
      &text);
  CHECK(size.code == ErrorCode::ParameterMismatch);
  CHECK(size.label == "k");
  CHECK(text.find("parameter 1 has 8 bytes at 8 in its table and 4 bytes at 8") !=
        std::string::npos);

  CHECK(
      error_of([&] {
        check_parameters("k", std::vector<KernelParameter>{{0, 8, true}, {12, 4, false}}, compiled);
      }).code == ErrorCode::ParameterMismatch);
  CHECK(error_of([&] {
          check_parameters("k", std::vector<KernelParameter>{{0, 8, true}}, compiled);
        }).code == ErrorCode::ParameterMismatch);
  CHECK(error_of([&] { check_parameters("k", compiled, std::vector<KernelParameter>{}); }, &text)
            .code == ErrorCode::ParameterMismatch);
  CHECK(text.find("2 parameters and the compiled kernel has 0") != std::string::npos);

  // A kernel instance has one structure of all parameters.
  const std::vector<KernelParameter> instance = {{0, 16, false}};
  CHECK_NOTHROW(check_parameters("k", compiled, instance));
  CHECK(error_of([&] {
          check_parameters("k", compiled, std::vector<KernelParameter>{{0, 8, false}});
        }).code == ErrorCode::ParameterMismatch);
  CHECK(error_of([&] {
          check_parameters("k", compiled, std::vector<KernelParameter>{{0, 32, false}});
        }).code == ErrorCode::ParameterMismatch);
}

TEST_CASE(
    "host callbacks: an exception belongs to its replay, and the lowest command's is reported") {
  HostCallbacks calls;
  int runs = 0;
  const std::function<void()> late = [&] {
    if (runs == 2) throw std::runtime_error("command 7");
  };
  const std::function<void()> early = [&] {
    if (++runs == 2) throw std::runtime_error("command 3");
  };
  HostCallbacks::Call* const first = calls.add(late, 7);
  HostCallbacks::Call* const second = calls.add(early, 3);
  for (int replay = 1; replay <= 3; ++replay) {
    HostCallbacks::run(second);
    HostCallbacks::run(first);
  }
  CHECK(calls.errors().of(1) == nullptr);
  CHECK(calls.errors().of(3) == nullptr);
  REQUIRE(calls.errors().of(2) != nullptr);
  CHECK_THROWS_WITH(std::rethrow_exception(calls.errors().of(2)), "command 3");
  // Reading the error does not consume it.
  CHECK_THROWS_WITH(std::rethrow_exception(calls.errors().of(2)), "command 3");
}

TEST_CASE("parts: a GPU takes the newest PTX that it can run") {
  const std::vector<KernelPtx> all = {{75, "a"}, {90, "c"}, {80, "b"}, {120, "d"}};
  CHECK(ptx_for(all, 70).text.empty());
  CHECK(ptx_for(all, 75).text == "a");
  CHECK(ptx_for(all, 89).text == "b");
  CHECK(ptx_for(all, 90).text == "c");
  CHECK(ptx_for(all, 121).text == "d");
  CHECK(ptx_for({}, 90).text.empty());
  // The GPU runs the code for 90a.
  for (const std::vector<KernelPtx>& special : {std::vector<KernelPtx>{{80, "b"}, {90, ""}},
                                                {{90, "c"}, {80, "b"}, {90, ""}},
                                                {{80, "b"}, {90, ""}, {90, "c"}}}) {
    CHECK(ptx_for(special, 89).text == "b");
    CHECK(ptx_for(special, 90).text.empty());
  }
}

}  // namespace reprise::test
