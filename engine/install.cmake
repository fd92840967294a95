# `cmake --install` provides the libraries, the public headers and reprise_add_shaders to other
# projects. reprise::ops adds GEMM, FFT, random numbers, reductions, scans and sorts,
# reprise::collectives collectives; reprise::planner contains only plan_memory(). With
# BUILD_SHARED_LIBS, engine, ops and collectives are shared libraries.
#
#     find_package(reprise COMPONENTS engine)
#     target_link_libraries(app PRIVATE reprise::engine)
#     reprise_add_shaders(app kernels.cu)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)

set(package_components engine planner)
if(REPRISE_OPS)
  list(APPEND package_components ops)
endif()
if(REPRISE_COLLECTIVES)
  list(APPEND package_components collectives)
  install(TARGETS reprise_mpi COMPONENT reprise LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/reprise)
endif()
foreach(component IN LISTS package_components)
  install(TARGETS reprise_${component} EXPORT reprise_${component} COMPONENT reprise
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT reprise)
  install(EXPORT reprise_${component} FILE reprise-${component}.cmake NAMESPACE reprise:: DESTINATION ${package_directory}
    COMPONENT reprise)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT reprise
  FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/reprise-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/reprise-config.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/reprise-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_SOURCE_DIR}/third_party/architectures.cmake
  ${PROJECT_BINARY_DIR}/package/reprise-config.cmake
  ${PROJECT_BINARY_DIR}/package/reprise-config-version.cmake
  DESTINATION ${package_directory} COMPONENT reprise)

# For other build systems: pkg-config reprise is the engine.
set(package_definitions "")
set(package_cuda "")
if(REPRISE_WITH_CUDA)
  set(package_definitions " -DREPRISE_HAS_CUDA=1")
  set(package_cuda " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl")
endif()
set(package_dependencies "-ltbb -lboost_context -lzstd${package_cuda} -lstdc++ -pthread")
get_target_property(package_type reprise_engine TYPE)
if(package_type STREQUAL "SHARED_LIBRARY")
  set(package_libraries "Libs: -L\${libdir} -lreprise_engine")
else()
  set(package_libraries "Libs: -L\${libdir} -lreprise_engine ${package_dependencies}")
endif()
file(RELATIVE_PATH package_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" package_prefix "${package_prefix}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/reprise.pc.in ${PROJECT_BINARY_DIR}/package/reprise.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/reprise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT reprise)

# cpack -G "DEB;TGZ" makes one package of all that.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_NAME reprise)
  set(CPACK_PACKAGE_CONTACT "the authors of Reprise <reprise@localhost>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_COMPONENTS_ALL reprise)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # What programs that link the libraries need; reprise-config.cmake says which component needs which.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libtbb-dev, libboost-context-dev, libzstd-dev, pkg-config")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas-serial-dev, libkissfft-dev, libssl-dev")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, bash-completion")
  include(CPack)
endif()
