# reprise_precompile(<target>): in a unity build, <target> shares one precompiled header with the others. It only saves time:
# files include what they use, and the other presets compile without it. The target's code is position-independent.
function(reprise_precompile target)
  if(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM reprise_precompiled)
    # GCC 12 forgets that code of the precompiled header is the standard library's, and warns of impossible sizes in it.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-array-bounds>)
  endif()
endfunction()

if(CMAKE_UNITY_BUILD)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp CONTENT "// The precompiled header.\n")
  add_library(reprise_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
  set_target_properties(reprise_precompiled PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(reprise_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/engine/include)
  target_link_libraries(reprise_precompiled PRIVATE reprise_flags Threads::Threads)
  target_precompile_headers(reprise_precompiled PRIVATE
    <algorithm> <array> <atomic> <chrono> <condition_variable> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex>
    <optional> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
    <reprise/reprise.hpp>)
endif()

# reprise_layer(NAME <layer> [SOURCES <files...>] [DEPENDS <layers...>] [LINK <libraries...>])
#
# One layer of the engine: an object library reprise_<layer>, whose objects go into the one library reprise_engine.
# SOURCES defaults to every .cpp file of the folder. DEPENDS names the layers whose headers this one may include; LINK names libraries from outside.
function(reprise_layer)
  cmake_parse_arguments(PARSE_ARGV 0 layer "" "NAME" "SOURCES;DEPENDS;LINK")
  if(NOT layer_SOURCES)
    file(GLOB layer_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  if(layer_UNPARSED_ARGUMENTS OR NOT layer_NAME OR NOT layer_SOURCES)
    message(FATAL_ERROR "reprise_layer needs NAME and source files; unknown: '${layer_UNPARSED_ARGUMENTS}'")
  endif()
  set(target reprise_${layer_NAME})
  add_library(${target} OBJECT ${layer_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/engine ${PROJECT_SOURCE_DIR}/engine/include)
  target_link_libraries(${target} PRIVATE reprise_flags PUBLIC Threads::Threads ${layer_LINK})
  if(REPRISE_WITH_CUDA)
    target_compile_definitions(${target} PUBLIC REPRISE_HAS_CUDA=1)
  endif()
  foreach(dependency IN LISTS layer_DEPENDS)
    # Only usage requirements: the objects of every layer are linked once, by reprise_engine.
    target_link_libraries(${target} PUBLIC reprise_${dependency})
  endforeach()
  reprise_precompile(${target})
  set_property(GLOBAL APPEND PROPERTY REPRISE_LAYERS ${target})
  set_property(GLOBAL APPEND PROPERTY REPRISE_LAYER_LIBRARIES ${layer_LINK})
endfunction()
