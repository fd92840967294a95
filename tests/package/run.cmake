# Installs Reprise into a folder of the build, then configures, builds and runs the project beside
# this file, as a user of the installed package does.
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
step(${CMAKE_COMMAND} --fresh -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix -DREPRISE_CUDA_ARCHITECTURES=75
  -DCMAKE_CXX_COMPILER=${COMPILER})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/planner_check)
foreach(device IN LISTS DEVICES)
  if(device MATCHES "^cuda" AND NOT EXISTS /dev/nvidiactl AND NOT EXISTS /dev/dxg)
    message(STATUS "${device}: skipped, this machine has no GPU")
    continue()
  endif()
  step(${work}/build/package_check ${device})
endforeach()
