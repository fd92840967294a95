# reprise_add_shaders(<target> <a.cu>... [OPTIONS <options of nvcc>...])
#
# Compiles each shader file for every device, into <target>, which links reprise::engine:
#   - the C++ compiler builds the kernels of the host device;
#   - nvcc, if the engine has the CUDA device, builds a fatbin for REPRISE_CUDA_ARCHITECTURES
#     (compute capabilities; the last one also as PTX), which is embedded in the target, as is the
#     PTX of each as text.
# Generates <a.shaders.hpp> on the include path of the target and of targets that link it:
# `shaders::NAME`, a const reprise::KernelDesc, for each REPRISE_KERNEL(NAME, ...) that one of the
# two compilers sees in a.cu, and a const reprise::ConstantDesc for each REPRISE_CONSTANT(NAME, ...).
# The host device refuses what only nvcc sees.
#
# With REPRISE_CHECKED_KERNELS=ON, in a debug build with GCC, the host device checks the accesses of
# the kernels.
#
# Call it in the folder that created the target. Both compilers use the target's include folders and
# definitions. OPTIONS replace nvcc's defaults (-std=c++20, -O3, -lineinfo, -fmad=false) or add to
# them: -maxrregcount=32, -G for debugging, -fmad=true for contraction. The host device never
# contracts, so results of the two devices differ with -fmad=true, and segments leave out kernels
# that nvcc could contract.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# Sets `result` to the options of nvcc: `given`, and the defaults that it does not replace.
function(reprise_shader_options result given)
  set(options "")
  foreach(default "-std=c++20" "-O3" "-lineinfo" "-fmad=false")
    string(REGEX MATCH "^-[a-z]+" name "${default}")
    set(replaced "^-?${name}")
    if(default STREQUAL "-O3")
      set(replaced "^-O|^-G$|^--device-debug$")
    elseif(default STREQUAL "-lineinfo")
      set(replaced "^-lineinfo$|^--generate-line-info$|^-G$|^--device-debug$")
    endif()
    set(others "${given}")
    list(FILTER others INCLUDE REGEX "${replaced}")
    if(NOT others)
      list(APPEND options "${default}")
    endif()
  endforeach()
  set(${result} ${options} ${given} PARENT_SCOPE)
endfunction()

# Sets `result` to whether nvcc may contract with these options, as in reprise::KernelPtx.
function(reprise_may_contract result options)
  set(${result} false PARENT_SCOPE)
  if("${options}" MATCHES "-fmad[=;]true")
    set(${result} true PARENT_SCOPE)
  endif()
endfunction()

# Sets `result` to the include folders and definitions of the target, for both compilers.
function(reprise_preprocessor_options result target)
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(includes $<REMOVE_DUPLICATES:$<FILTER:${includes},EXCLUDE,^/usr/include/?$>>)
  set(definitions $<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>>)
  set(${result} "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>"
    "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>" PARENT_SCOPE)
endfunction()

# Lets the commands that make the files ARGN run before the libraries that the target links are
# built. By itself, CMake lets them wait, since a shader file could include a generated header of a
# library; a command that belongs to two targets waits only for what both depend on.
function(reprise_run_early target name)
  if(REPRISE_SHADERS_NEED_NO_GENERATED_HEADERS)
    add_custom_target(${name} DEPENDS ${ARGN})
    add_dependencies(${target} ${name})
  endif()
endfunction()

# Builds ${folder}/${stem}.fatbin and its PTX from `file`, and a source of the target that embeds
# them. Sets `result` to the C++ lines that give kernels access to them. `options`: of nvcc.
function(reprise_add_shader_image result target file folder stem image options)
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

  reprise_may_contract(may_contract "${options}")
  set(fatbin ${folder}/${stem}.fatbin)
  set(kept ${folder}/${stem}.kept)
  set(ptx_files "")
  set(ptx_data "")
  set(ptx_declarations "")
  set(ptx_list "")
  foreach(capability IN LISTS REPRISE_CUDA_ARCHITECTURES)
    set(ptx ${folder}/${stem}.compute_${capability}.ptx)
    list(APPEND ptx_files ${ptx})
    set(symbol ${image}_ptx_${capability})
    string(APPEND ptx_data "  .globl ${symbol}
  .hidden ${symbol}
${symbol}:
  .incbin \"${ptx}\"
  .globl ${symbol}_end
  .hidden ${symbol}_end
${symbol}_end:
")
    string(APPEND ptx_declarations
      "extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[], ${symbol}_end[];\n")
    # GPUs prefer code for 90a and the like, which runs on that architecture alone. No text: its kernels are no parts of segments.
    string(REGEX MATCH "^[0-9]+" number "${capability}")
    if(number STREQUAL capability)
      string(APPEND ptx_list "{${capability}, {${symbol}, ${symbol}_end}, ${may_contract}}, ")
    else()
      string(APPEND ptx_list "{${number}, {}, ${may_contract}}, ")
    endif()
  endforeach()
  reprise_preprocessor_options(includes_and_definitions ${target})
  file(RELATIVE_PATH shown ${CMAKE_SOURCE_DIR} ${file})
  # The hash is for ccache, which sees what a file includes, but not what its assembly includes.
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/store_image.cmake)
  list(JOIN REPRISE_CUDA_ARCHITECTURES "," capabilities)
  add_custom_command(OUTPUT ${fatbin} ${fatbin}.hash.hpp ${ptx_files}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${kept}
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin ${options} --threads 2 --keep --keep-dir ${kept}
      -Wno-deprecated-gpu-targets -ccbin ${CMAKE_CXX_COMPILER} ${architectures}
      ${includes_and_definitions} -MD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin} ${file}
    COMMAND ${CMAKE_COMMAND} -DFATBIN=${fatbin} -DKEPT=${kept} -DCAPABILITIES=${capabilities} -P ${script}
    DEPENDS ${file} ${script}
    DEPFILE ${fatbin}.d
    COMMENT "Compiling ${shown} for compute capabilities ${REPRISE_CUDA_ARCHITECTURES}"
    COMMAND_EXPAND_LISTS VERBATIM)
  reprise_run_early(${target} ${image}_fatbin ${fatbin})

  set(source ${folder}/${stem}.image.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// The fatbin and the PTX of ${stem}.cu.
#include \"${fatbin}.hash.hpp\"

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
${ptx_data}  .popsection
)\");
")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${fatbin};${fatbin}.hash.hpp;${ptx_files}" SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${source} ${fatbin} ${ptx_files})
  set(${result} "#include <cstddef>
#include <span>

#include <reprise/kernel_desc.hpp>

extern \"C\" __attribute__((visibility(\"hidden\"))) const std::byte ${image}_begin[], ${image}_end[];
${ptx_declarations}static std::span<const std::byte> ${image}() { return {${image}_begin, ${image}_end}; }
static std::span<const reprise::KernelPtx> ${image}_ptx() {
  static const reprise::KernelPtx all[] = {${ptx_list}};
  return all;
}
#define REPRISE_SHADER_IMAGE &${image}
#define REPRISE_SHADER_PTX &${image}_ptx
" PARENT_SCOPE)
endfunction()

# Writes ${folder}/${stem}.shaders.hpp and ${stem}.host.inc in the build: what `file` declares
# is known once it is preprocessed. `name`: unique in the project. `options`: of nvcc.
function(reprise_list_shader_kernels target file folder stem name options)
  set(out ${folder}/${stem})
  reprise_preprocessor_options(includes_and_definitions ${target})
  set(host ${CMAKE_CXX_COMPILER} -x c++ -std=c++20 -E)
  set(gpu ${host} -D__CUDACC__ -MD -MF ${out}.gpu.d -MT x)
  if(REPRISE_WITH_CUDA)
    set(gpu ${CUDAToolkit_NVCC_EXECUTABLE} -E ${options} -ccbin ${CMAKE_CXX_COMPILER}
      -Xcompiler "-MD,-MF,${out}.gpu.d,-MT,x")
  endif()
  set(common -DREPRISE_LIST_KERNELS ${includes_and_definitions} ${file})
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/list_kernels.cmake)
  add_custom_command(OUTPUT ${out}.shaders.hpp ${out}.host.inc
    COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DOUT=${out} -DNVCC=${REPRISE_WITH_CUDA} -P ${script} --
      host ${host} -MD -MF ${out}.host.d -MT x -I${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include/reprise_host_kernel/cuda ${common}
      gpu ${gpu} ${common}
    DEPENDS ${file} ${script}
    DEPFILE ${out}.list.d
    COMMENT "Listing the kernels of ${stem}.cu"
    COMMAND_EXPAND_LISTS VERBATIM)
  reprise_run_early(${target} ${name}_list ${out}.shaders.hpp ${out}.host.inc)
  target_sources(${target} PRIVATE ${out}.shaders.hpp)
endfunction()

# Sets `result` to the options of the C++ compiler with which kernels report each access before they
# make it: those of -fsanitize=kernel-address, as calls. Vectors would be reported as one access.
# The target's property REPRISE_CHECKED_KERNELS requests them in any build; OFF: in none.
function(reprise_checked_kernel_options result target)
  set(${result} "" PARENT_SCOPE)
  get_target_property(is_checked ${target} REPRISE_CHECKED_KERNELS)
  if("${is_checked}" STREQUAL "OFF")
    return()
  endif()
  if(REPRISE_CHECKED_KERNELS AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    message(FATAL_ERROR "REPRISE_CHECKED_KERNELS is for debug builds: set CMAKE_BUILD_TYPE to Debug")
  elseif(NOT REPRISE_CHECKED_KERNELS AND NOT is_checked)
    return()
  elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "REPRISE_CHECKED_KERNELS needs GCC")
  endif()
  set(${result} -DREPRISE_CHECKED_KERNELS=1 -fsanitize=kernel-address --param=asan-instrumentation-with-call-threshold=0
    --param=asan-stack=0 --param=asan-globals=0 -fno-tree-vectorize -fno-tree-slp-vectorize -fno-store-merging PARENT_SCOPE)
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
  set(include ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include)
  target_include_directories(${target} PRIVATE ${include})

  cmake_parse_arguments(PARSE_ARGV 1 shaders "" "" "OPTIONS")
  reprise_shader_options(options "${shaders_OPTIONS}")
  reprise_checked_kernel_options(checked ${target})
  foreach(file IN LISTS shaders_UNPARSED_ARGUMENTS)
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
    string(MD5 hash "${target} ${file}")
    set(image reprise_shader_${hash})
    reprise_list_shader_kernels(${target} ${file} ${folder} ${stem} ${image} "${options}")

    set(image_lines "")
    if(REPRISE_WITH_CUDA)
      reprise_add_shader_image(image_lines ${target} ${file} ${folder} ${stem} ${image} "${options}")
    endif()
    set(source ${folder}/${stem}.shaders.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// ${file_name} for the host device.
#define REPRISE_SHADER_SOURCE \"${file}\"
${image_lines}
#include \"${file}\"
#include \"${folder}/${stem}.host.inc\"
")
    # Without contraction, as nvcc. Kernels cannot read errno. Headers with the names of CUDA's come first. The sanitizer's
    # test for null reads the flags of an addition to a thread-local address, which the linker turns into one without flags.
    set_source_files_properties(${source} PROPERTIES
      INCLUDE_DIRECTORIES ${include}/reprise_host_kernel/cuda
      SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON
      OBJECT_DEPENDS ${folder}/${stem}.host.inc
      COMPILE_OPTIONS "-ffp-contract=off;-fno-math-errno;-fno-trapping-math;-fno-sanitize=null;${checked}")
    target_sources(${target} PRIVATE ${source})
  endforeach()
endfunction()
