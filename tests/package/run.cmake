# Makes Reprise's packages and unpacks the one for Debian into a folder of the build, then configures, builds and
# runs the project beside this file against it, as a user of the installed package does: with CMake, also where the
# libraries of reprise::ops are missing, and with pkg-config.
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

file(REMOVE_RECURSE ${work}/packages)
find_program(dpkg_deb NAMES dpkg-deb REQUIRED)
execute_process(COMMAND ${CMAKE_CPACK_COMMAND} --config ${BUILD}/CPackConfig.cmake -B ${work}/packages -G "DEB;TGZ"
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB packages ${work}/packages/*.deb ${work}/packages/*.tar.gz)
list(LENGTH packages count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "cpack made not one .deb and one .tar.gz, but: ${packages}")
endif()
file(GLOB package ${work}/packages/*.deb)
file(GLOB archive ${work}/packages/*.tar.gz)
step(${dpkg_deb} --extract ${package} ${work}/prefix)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar tzf ${archive} OUTPUT_VARIABLE archived COMMAND_ERROR_IS_FATAL ANY)
foreach(file IN ITEMS bin/reprise include/reprise/reprise.hpp libreprise_engine share/bash-completion/completions/reprise)
  file(GLOB unpacked ${work}/prefix/usr/${file}* ${work}/prefix/usr/*/${file}*)
  if(NOT unpacked OR NOT archived MATCHES "${file}")
    message(FATAL_ERROR "a package lacks ${file}")
  endif()
endforeach()
# The packages that the package needs, or variants of them such as libopenblas0-serial, are installed here.
execute_process(COMMAND ${dpkg_deb} --field ${package} Depends OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\\([^)]*\\)" "" needed "${needed}")
string(REGEX MATCHALL "[a-z][-+.a-z0-9]+" needed "${needed}")
foreach(name IN LISTS needed)
  execute_process(COMMAND dpkg-query --show ${name}* RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${package} needs ${name}, which is not installed here")
  endif()
endforeach()
file(WRITE ${work}/complete.bash "source ${work}/prefix/usr/share/bash-completion/completions/reprise
COMP_WORDS=(${work}/prefix/usr/bin/reprise sta) COMP_CWORD=1
_reprise
[ \"\${COMPREPLY[*]}\" = stats ] || { echo \"completed to: \${COMPREPLY[*]}\"; exit 1; }
COMP_WORDS=(${work}/prefix/usr/bin/reprise stats --js) COMP_CWORD=2
_reprise
[ \"\${COMPREPLY[*]}\" = --json ] || { echo \"completed to: \${COMPREPLY[*]}\"; exit 1; }
")
step(bash ${work}/complete.bash)
# Compute capability 7.5 with its PTX runs on any GPU and compiles quickly.
set(configure ${CMAKE_COMMAND} --fresh -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix/usr -DSAXPY=${CMAKE_CURRENT_LIST_DIR}/../../samples/saxpy -DCMAKE_CUDA_ARCHITECTURES=75-real
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
file(GLOB collectives ${work}/prefix/usr/*/cmake/reprise/reprise-collectives.cmake)
if(collectives)
  step(${without_ops} -DCOMPONENTS=planner,collectives)
  step(${CMAKE_COMMAND} --build ${work}/build)
  step(${work}/build/collectives_check)
endif()

file(WRITE ${work}/host.cpp "#include <reprise/reprise.hpp>
int main() { return reprise::Instance().open_device(reprise::DeviceSelector::named(\"host\")).info().name.empty(); }
")
file(GLOB_RECURSE description ${work}/prefix/usr/*/reprise.pc)
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
  step(${work}/build/app --device ${device})
endforeach()
