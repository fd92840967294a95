# Installs Reprise into a folder of the build, then configures, builds and runs the project beside
# this file, as a user of the installed package does: with CMake, also where the libraries of reprise::ops
# are missing, and with pkg-config.
#
#   cmake -DBUILD=<Reprise's build folder> -DDEVICES=<devices> -DGENERATOR=<name> -DCOMPILER=<path> -P run.cmake
foreach(variable IN ITEMS BUILD DEVICES GENERATOR COMPILER)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "run.cmake needs -D${variable}")
  endif()
endforeach()

set(work ${BUILD}/package-check)
file(REMOVE_RECURSE ${work}/prefix)

function(step)
  list(JOIN ARGV " " line)
  message(STATUS "${line}")
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix --component reprise)
# Compute capability 7.5 with its PTX runs on any GPU and compiles quickly.
set(configure ${CMAKE_COMMAND} --fresh -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_CUDA_ARCHITECTURES=75-real
  -DCMAKE_CXX_COMPILER=${COMPILER})
find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
execute_process(COMMAND ${pkg_config} --variable=pcfiledir libzstd OUTPUT_VARIABLE zstd OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${zstd}/libzstd.pc DESTINATION ${work}/only-zstd)
set(without_ops ${CMAKE_COMMAND} -E env PKG_CONFIG_LIBDIR=${work}/only-zstd ${configure})
foreach(components IN ITEMS ops engine,tools)
  execute_process(COMMAND ${without_ops} -DCOMPONENTS=${components} RESULT_VARIABLE status ERROR_VARIABLE text OUTPUT_QUIET)
  if(status EQUAL 0 OR NOT text MATCHES "ops needs OpenBLAS|this package of Reprise has the components")
    message(FATAL_ERROR "find_package found ${components}, or gave no reason: ${text}")
  endif()
endforeach()
step(${without_ops})
step(${without_ops} -DCOMPONENTS=engine,planner)
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/planner_check)
file(GLOB collectives ${work}/prefix/*/cmake/reprise/reprise-collectives.cmake)
if(collectives)
  step(${without_ops} -DCOMPONENTS=planner,collectives)
  step(${CMAKE_COMMAND} --build ${work}/build)
  step(${work}/build/collectives_check)
endif()

file(WRITE ${work}/host.cpp "#include <reprise/reprise.hpp>
int main() { return reprise::Instance().open_device(reprise::DeviceSelector::named(\"host\")).info().name.empty(); }
")
file(GLOB_RECURSE description ${work}/prefix/*/reprise.pc)
cmake_path(GET description PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
execute_process(COMMAND ${pkg_config} --cflags --libs reprise OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
step(${COMPILER} -std=c++20 ${work}/host.cpp -o ${work}/host ${flags})
cmake_path(GET folder PARENT_PATH libraries)
step(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${work}/host)
# Memory that the library keeps until the end of the process is not a leak.
step(${COMPILER} -std=c++20 -fsanitize=address ${work}/host.cpp -o ${work}/host-asan ${flags})
step(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${work}/host-asan)

foreach(device IN LISTS DEVICES)
  if(device MATCHES "^cuda" AND NOT EXISTS /dev/nvidiactl AND NOT EXISTS /dev/dxg)
    message(STATUS "${device}: skipped, this machine has no GPU")
    continue()
  endif()
  step(${work}/build/package_check ${device})
endforeach()
