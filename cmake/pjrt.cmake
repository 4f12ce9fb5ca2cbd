# What src/target needs of its plugins at build time.
#
# The table of plugins and the script that fetches them are carried in the binary.
block()
  set(sources ${CMAKE_SOURCE_DIR}/src/target)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources}/plugins.txt ${sources}/fetch_plugin.sh)
  file(READ ${sources}/plugins.txt SAPPER_PLUGINS_TXT)
  file(READ ${sources}/fetch_plugin.sh SAPPER_FETCH_PLUGIN_SH)
  configure_file(${sources}/plugin_files.h.in ${CMAKE_BINARY_DIR}/generated/target/plugin_files.h @ONLY)
endblock()

# The PJRT C API header, pjrt_c_api.h: it comes with the cpu@0.81 plugin's wheel (src/target/plugins.txt) and is never committed.
# PJRT_INCLUDE_DIR: its folder; found in sapper's cache, which the setup script fills.
block()
  if(DEFINED ENV{SAPPER_CACHE})
    set(cache $ENV{SAPPER_CACHE})
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(cache $ENV{XDG_CACHE_HOME}/sapper)
  else()
    set(cache $ENV{HOME}/.cache/sapper)
  endif()
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/target/plugins.txt line REGEX "^cpu@0.81 ")
  string(REGEX REPLACE " +" ";" line "${line}")
  list(GET line 1 wheel)
  list(GET line 2 version)
  find_path(PJRT_INCLUDE_DIR pjrt_c_api.h
    HINTS ${cache}/plugins/${wheel}-${version}/xla_plugins/xla_cpu_pjrt/include NO_DEFAULT_PATH)
  if(NOT PJRT_INCLUDE_DIR)
    message(FATAL_ERROR
      "pjrt_c_api.h is not in ${cache}/plugins. Fetch it (network needed):\n"
      "  ${CMAKE_SOURCE_DIR}/src/target/fetch_plugin.sh ${cache} ${wheel} ${version}\n"
      "or say where it is: -DPJRT_INCLUDE_DIR=FOLDER.")
  endif()
endblock()
# Its PJRT_Api names members after their own types, which g++ takes for an error (clang does not); in a system header
# -fpermissive turns that into silence. Our own code stays strict: warnings are errors.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/target/pjrt.cc ${CMAKE_SOURCE_DIR}/src/target/execute.cc
  PROPERTIES COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-fpermissive>)
