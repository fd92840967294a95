# Which options nvcc gets from reprise_add_shaders(... OPTIONS ...).
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../shaders/reprise_shaders.cmake)

function(check given expected)
  reprise_shader_options(options "${given}")
  if(NOT options STREQUAL expected)
    message(SEND_ERROR "OPTIONS ${given}: nvcc gets ${options} instead of ${expected}")
  endif()
endfunction()

check("" "-std=c++20;-O3;-lineinfo;-fmad=false")
check("-maxrregcount=32" "-std=c++20;-O3;-lineinfo;-fmad=false;-maxrregcount=32")
check("--fmad=true;-O1" "-std=c++20;-lineinfo;--fmad=true;-O1")
check("-G" "-std=c++20;-fmad=false;-G")
check("--std=c++17;--generate-line-info" "-O3;-fmad=false;--std=c++17;--generate-line-info")
