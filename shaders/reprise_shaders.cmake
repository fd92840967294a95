# reprise_add_shaders(<target> <a.cu>...)
#
# Compiles each shader file for every device, into <target>, which links reprise::engine:
#   - the C++ compiler builds the kernels of the host device;
#   - nvcc, if the engine has the CUDA device, builds a fatbin for REPRISE_CUDA_ARCHITECTURES
#     (compute capabilities; the last one also as PTX), which is embedded in the target.
# Generates <a.shaders.hpp> on the include path of the target and of targets that link it:
# `shaders::NAME`, a const reprise::KernelDesc, for each REPRISE_KERNEL(NAME, ...) of a.cu.
#
# Call it in the folder that created the target. Both compilers use the target's include folders and
# definitions.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# Writes `content` to `path` unless the file already contains it.
function(reprise_write_shader_file path content)
  if(EXISTS ${path})
    file(READ ${path} old)
    if(old STREQUAL content)
      return()
    endif()
  endif()
  file(WRITE ${path} "${content}")
endfunction()

# Sets `result` to the names of the kernels in `file`.
function(reprise_find_kernels result file)
  file(READ ${file} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX MATCHALL "REPRISE_KERNEL[ \t\r\n]*\\([ \t\r\n]*[A-Za-z_][A-Za-z0-9_]*" matches "${text}")
  list(TRANSFORM matches REPLACE "^REPRISE_KERNEL[ \t\r\n]*\\([ \t\r\n]*" "")
  if(NOT matches)
    message(FATAL_ERROR "${file} contains no kernel: reprise_add_shaders expects REPRISE_KERNEL(name, (parameters))")
  endif()
  set(${result} ${matches} PARENT_SCOPE)
endfunction()

# Builds ${folder}/${stem}.fatbin from `file`, and a source of the target that embeds it as the
# function `image`.
function(reprise_add_shader_image target file folder stem image)
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "reprise_add_shaders needs nvcc, because the engine was built with the CUDA device, and "
      "the CUDA toolkit in '${CUDAToolkit_LIBRARY_ROOT}' has none")
  endif()
  set(architectures "")
  foreach(capability IN LISTS REPRISE_CUDA_ARCHITECTURES)
    list(APPEND architectures -gencode arch=compute_${capability},code=sm_${capability})
  endforeach()
  list(GET REPRISE_CUDA_ARCHITECTURES -1 newest)
  list(APPEND architectures -gencode arch=compute_${newest},code=compute_${newest})

  set(fatbin ${folder}/${stem}.fatbin)
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(includes $<REMOVE_DUPLICATES:$<FILTER:${includes},EXCLUDE,^/usr/include/?$>>)
  set(definitions $<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>>)
  file(RELATIVE_PATH shown ${CMAKE_SOURCE_DIR} ${file})
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin -std=c++20 -O3 -fmad=false -lineinfo --threads 2
      -Wno-deprecated-gpu-targets -ccbin ${CMAKE_CXX_COMPILER} ${architectures}
      "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      -MD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin} ${file}
    DEPENDS ${file}
    DEPFILE ${fatbin}.d
    COMMENT "Compiling ${shown} for compute capabilities ${REPRISE_CUDA_ARCHITECTURES}"
    COMMAND_EXPAND_LISTS VERBATIM)
  # By itself, CMake lets the command wait until every library that the target links is built, since the file could include
  # a generated header of one. A command that belongs to two targets waits only for what both depend on: nothing.
  if(REPRISE_SHADERS_NEED_NO_GENERATED_HEADERS)
    add_custom_target(${image}_fatbin DEPENDS ${fatbin})
    add_dependencies(${target} ${image}_fatbin)
  endif()

  set(source ${folder}/${stem}.image.cpp)
  reprise_write_shader_file(${source} "// The fatbin of ${stem}.cu.
#include <cstddef>
#include <span>

asm(R\"(
  .pushsection .rodata
  .balign 64
  .globl ${image}_begin
  .hidden ${image}_begin
${image}_begin:
  .incbin \"${fatbin}\"
  .globl ${image}_end
  .hidden ${image}_end
${image}_end:
  .popsection
)\");
extern \"C\" __attribute__((visibility(\"hidden\"))) const std::byte ${image}_begin[], ${image}_end[];

namespace reprise_shader_images {
__attribute__((visibility(\"hidden\"))) std::span<const std::byte> ${image}() { return {${image}_begin, ${image}_end}; }
}  // namespace reprise_shader_images
")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${fatbin} SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${source} ${fatbin})
endfunction()

# Writes the header <stem>.shaders.hpp.
function(reprise_write_shader_header path file_name kernels)
  set(declarations "")
  foreach(kernel IN LISTS kernels)
    string(APPEND declarations "__attribute__((visibility(\"default\"))) extern const reprise::KernelDesc ${kernel};\n")
  endforeach()
  reprise_write_shader_file(${path} "// The kernels of ${file_name}.
#pragma once

#include <reprise/kernel.hpp>

namespace shaders {
${declarations}}  // namespace shaders
")
endfunction()

function(reprise_add_shaders target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "reprise_add_shaders: target '${target}' does not exist")
  endif()
  get_target_property(target_folder ${target} SOURCE_DIR)
  if(NOT target_folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "reprise_add_shaders(${target} ...) must be called in ${target_folder}, which created the target")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/reprise_shaders/${target})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  if(EXISTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include/reprise_kernel.hpp)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include)
  endif()

  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "reprise_add_shaders(${target} ...): file ${file} does not exist")
    endif()
    cmake_path(GET file STEM LAST_ONLY stem)
    cmake_path(GET file FILENAME file_name)
    get_target_property(stems ${target} REPRISE_SHADER_STEMS)
    if(stem IN_LIST stems)
      message(FATAL_ERROR "reprise_add_shaders(${target} ...): two shader files would both generate <${stem}.shaders.hpp>")
    endif()
    set_property(TARGET ${target} APPEND PROPERTY REPRISE_SHADER_STEMS ${stem})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})

    reprise_find_kernels(kernels ${file})
    reprise_write_shader_header(${folder}/${stem}.shaders.hpp ${file_name} "${kernels}")

    set(image_lines "")
    if(REPRISE_WITH_CUDA)
      string(MD5 hash "${target} ${file}")
      set(image reprise_shader_${hash})
      reprise_add_shader_image(${target} ${file} ${folder} ${stem} ${image})
      set(image_lines "
#include <cstddef>
#include <span>
namespace reprise_shader_images {
__attribute__((visibility(\"hidden\"))) std::span<const std::byte> ${image}();
}
#define REPRISE_SHADER_IMAGE &reprise_shader_images::${image}
")
    endif()
    set(source ${folder}/${stem}.shaders.cpp)
    reprise_write_shader_file(${source} "// ${file_name} for the host device.
#define REPRISE_SHADER_SOURCE \"${file}\"
${image_lines}
#include \"${file}\"
")
    # Without contraction, as nvcc. Kernels cannot read errno.
    set_source_files_properties(${source} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON
      COMPILE_OPTIONS "-ffp-contract=off;-fno-math-errno;-fno-trapping-math")
    target_sources(${target} PRIVATE ${source})
  endforeach()
endfunction()
