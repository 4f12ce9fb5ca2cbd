# The harness of emitted C++ tests (src/emit/harness) is carried in the binary.
block()
  set(sources ${CMAKE_SOURCE_DIR}/src/emit/harness)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources}/hlo_test.h ${sources}/CMakeLists.txt)
  file(READ ${sources}/hlo_test.h SAPPER_HLO_TEST_H)
  file(READ ${sources}/CMakeLists.txt SAPPER_HARNESS_CMAKE)
  configure_file(${CMAKE_SOURCE_DIR}/src/emit/harness_files.h.in ${CMAKE_BINARY_DIR}/generated/emit/harness_files.h @ONLY)
endblock()
