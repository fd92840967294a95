# The dependencies of Reprise. All of them come from the distribution's packages
# (third_party/setup installs them); the build vendors and downloads nothing.
#
#   package           version   licence               used by       why
#   CUDA toolkit      >= 12.8   NVIDIA EULA           cuda device   graphs, driver entry points, nvcc for kernels; CUPTI's headers (its library is
#                                                                   opened at run time, if a profile needs it); optional
#   oneTBB            >= 2021.8 Apache-2.0            host device   runs the nodes of a graph on CPU threads
#   Boost.Context     >= 1.74   BSL-1.0               host device   fibers: the threads of a block that call __syncthreads
#   Boost.Asio, .Beast >= 1.74  BSL-1.0               viewer        HTTP and WebSockets of the viewer in browsers; headers only
#   FlatBuffers       >= 2.0   Apache-2.0            trace         schema, verified reading
#   zstd              >= 1.5   BSD-3-Clause          trace         compresses chunks
#   Asio              >= 1.18  BSL-1.0               trace         sockets of the live stream; headers only
#   cuBLAS, cuFFT, CUB  of the toolkit  NVIDIA EULA, Apache-2.0 (CUB)  ops  products, transforms, reductions, scans and sorts on GPUs
#   OpenBLAS          >= 0.3.20 BSD-3-Clause          ops           products on the host device; the serial build, because the device has its own threads
#   kissfft           >= 131    BSD-3-Clause          ops           transforms on the host device (FFTW is GPL,
#                                                                   and users link reprise::ops)
#   NCCL              >= 2.19   BSD-3-Clause          collectives   between GPUs; opened at run time, not needed to build
#   Open MPI          >= 4.1    BSD-3-Clause          collectives   between ranks on the host device, in a module opened at run time; starts ranks
#   OpenSSL           >= 3.0    Apache-2.0            collectives   libcrypto: the ranks of a job prove that they know its secret
#   libsndfile        >= 1.0.28 LGPL-2.1 or later     samples       reads and writes sound
#   libjpeg-turbo     any       IJG, BSD-3-Clause     samples       reads photographs
#   libpng            >= 1.6    libpng-2.0            samples       reads and writes images
#   CLI11             >= 2.1    BSD-3-Clause          viewer, samples, tests command lines
#   nlohmann-json     >= 3.11   MIT                   run, viewer   tuning files, results as JSON; headers only
#   SQLite            >= 3.34   public domain         viewer        exports traces as a database
#   Protocol Buffers  >= 3.12   BSD-3-Clause          viewer        exports traces for Perfetto
#   Dear ImGui        >= 1.86   MIT                   viewer        draws the panels
#   GLFW              >= 3.3    Zlib                  viewer        the window, its keys and its mouse
#   Mesa (GL, EGL)    any       MIT                   viewer        OpenGL 3; EGL for screenshots without a display
#   Roboto            any       Apache-2.0            viewer        the proportional typeface, located when the viewer starts
#   JetBrains Mono    any       OFL-1.1               viewer        the monospaced typeface, located when the viewer starts
#   doctest           >= 2.4.9  MIT                   tests         unit and conformance tests
#   Graphviz (dot)    any       EPL-1.0               tests         proves that exported DOT text is well-formed
#   Xvfb, libXtst     any       MIT                   tests         a display for the window, and input events for it
#   libXrandr         any       MIT                   tests         required by GLFW's header for X11
#   clang             16        Apache-2.0 with LLVM exception  tests  libFuzzer, if installed
#   Python            >= 3.9    PSF-2.0               trace         derives the records from their schema; tests
#
# Sets REPRISE_WITH_CUDA: whether the CUDA device is built.

# reprise_require(<package> APT <debian package> [find_package arguments...])
macro(reprise_require package apt debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "Reprise needs ${package} (${ARGN}), which was not found. Install it with\n"
      "    apt-get install ${debian_package}\n"
      "or run third_party/setup, which installs all missing packages.")
  endif()
endmacro()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
reprise_require(TBB APT libtbb-dev 2021.8)
reprise_require(Boost APT libboost-context-dev 1.74 COMPONENTS context)

find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD IMPORTED_TARGET libzstd>=1.5)
find_program(REPRISE_FLATC_PROGRAM flatc)
reprise_require(Python3 APT python3 3.9 COMPONENTS Interpreter)
find_path(REPRISE_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
find_path(REPRISE_ASIO_INCLUDE asio/io_context.hpp)
mark_as_advanced(REPRISE_FLATC_PROGRAM REPRISE_FLATBUFFERS_INCLUDE REPRISE_ASIO_INCLUDE)
if(NOT ZSTD_FOUND OR NOT REPRISE_FLATC_PROGRAM OR NOT REPRISE_FLATBUFFERS_INCLUDE OR NOT REPRISE_ASIO_INCLUDE)
  message(FATAL_ERROR "The trace needs zstd, FlatBuffers and Asio. Install them with\n    apt-get install libzstd-dev flatbuffers-compiler libflatbuffers-dev libasio-dev\nor run third_party/setup.")
endif()

if(REPRISE_OPS)
  pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas>=0.3.20)
  pkg_check_modules(KISSFFT IMPORTED_TARGET kissfft-float>=131)
  if(NOT OPENBLAS_FOUND OR NOT KISSFFT_FOUND)
    message(FATAL_ERROR "The ops need OpenBLAS and kissfft. Install them with\n"
      "    apt-get install libopenblas-serial-dev libkissfft-dev\n"
      "or run third_party/setup, or omit the ops with -DREPRISE_OPS=OFF.")
  endif()
endif()
if(REPRISE_COLLECTIVES)
  reprise_require(OpenSSL APT libssl-dev 3.0 COMPONENTS Crypto)
  enable_language(C)  # FindMPI looks for MPI's C library with it
  find_package(MPI QUIET COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(FATAL_ERROR "The collectives need Open MPI. Install it with\n    apt-get install libopenmpi-dev openmpi-bin\n"
      "or run third_party/setup, or omit the collectives with -DREPRISE_COLLECTIVES=OFF.")
  endif()
endif()
if(REPRISE_SAMPLES)
  reprise_require(JPEG APT libjpeg-dev)
  if(REPRISE_OPS)
    pkg_check_modules(SNDFILE IMPORTED_TARGET sndfile>=1.0.28)
    if(NOT SNDFILE_FOUND)
      message(FATAL_ERROR "The sample spectrogram needs libsndfile. Install it with\n    apt-get install libsndfile1-dev\nor run third_party/setup.")
    endif()
  endif()
endif()
if(REPRISE_SAMPLES OR REPRISE_VIEWER)
  reprise_require(PNG APT libpng-dev 1.6)
endif()
if(REPRISE_SAMPLES OR REPRISE_BENCHES OR REPRISE_VIEWER)
  reprise_require(CLI11 APT libcli11-dev 2.1)
endif()
reprise_require(nlohmann_json APT nlohmann-json3-dev 3.11)
if(REPRISE_VIEWER)
  find_path(REPRISE_BEAST_INCLUDE boost/beast/websocket.hpp HINTS ${Boost_INCLUDE_DIRS})
  mark_as_advanced(REPRISE_BEAST_INCLUDE)
  if(NOT REPRISE_BEAST_INCLUDE)
    message(FATAL_ERROR "The viewer needs Boost.Beast. Install it with\n    apt-get install libboost-dev\nor run third_party/setup.")
  endif()
  reprise_require(SQLite3 APT libsqlite3-dev 3.34)
  reprise_require(Protobuf APT "libprotobuf-dev protobuf-compiler" 3.12)
  pkg_check_modules(IMGUI IMPORTED_TARGET imgui>=1.86)
  reprise_require(glfw3 APT libglfw3-dev 3.3)
  reprise_require(OpenGL APT "libgl-dev libopengl-dev libegl-dev" COMPONENTS OpenGL EGL)
  if(NOT IMGUI_FOUND)
    message(FATAL_ERROR "The viewer needs Dear ImGui >= 1.86. Install it with\n    apt-get install libimgui-dev\nor run third_party/setup.")
  endif()
endif()
if(REPRISE_TESTS)
  reprise_require(doctest APT doctest-dev 2.4.9)
  find_program(REPRISE_DOT_PROGRAM dot)
  mark_as_advanced(REPRISE_DOT_PROGRAM)
  if(NOT REPRISE_DOT_PROGRAM)
    message(FATAL_ERROR "The tests need Graphviz. Install it with\n    apt-get install graphviz\nor run third_party/setup.")
  endif()
endif()

if(NOT REPRISE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "REPRISE_CUDA is '${REPRISE_CUDA}'; it must be AUTO, ON or OFF")
endif()
set(REPRISE_WITH_CUDA OFF)
if(NOT REPRISE_CUDA STREQUAL "OFF")
  # FindCUDAToolkit of CMake 3.25 fails in a project that requires at least that version: it uses
  # the library nvToolsExt, which CUDA 13 lacks.
  set(minimum_version ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit 12.8 QUIET)
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${minimum_version})
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    set(REPRISE_WITH_CUDA ON)
    find_path(REPRISE_CUPTI_INCLUDE cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include NO_CACHE)
    if(NOT REPRISE_CUPTI_INCLUDE)
      message(FATAL_ERROR
        "The CUDA toolkit in ${CUDAToolkit_BIN_DIR} lacks cupti.h. Install its CUPTI part (Debian: cuda-cupti-dev-${CUDAToolkit_VERSION_MAJOR}-"
        "${CUDAToolkit_VERSION_MINOR}), or build only the host device with -DREPRISE_CUDA=OFF.")
    endif()
    message(STATUS "Reprise: host and CUDA devices, with the CUDA toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_BIN_DIR}")
  elseif(REPRISE_CUDA STREQUAL "ON")
    message(FATAL_ERROR
      "REPRISE_CUDA is ON, but no CUDA toolkit >= 12.8 with nvcc was found. Set one with -DCUDAToolkit_ROOT=/path, "
      "or leave REPRISE_CUDA at AUTO to build only the host device.")
  else()
    message(STATUS "Reprise: no CUDA toolkit >= 12.8 was found: building only the host device")
  endif()
else()
  message(STATUS "Reprise: REPRISE_CUDA is OFF: building only the host device")
endif()
