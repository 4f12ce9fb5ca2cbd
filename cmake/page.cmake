# sapper_page(ROOM FOLDER): one self-contained HTML page out of src/ROOM/FOLDER: page.html with style.css and the scripts in the place of its
# marks, as ROOM::page() in "ROOM/FOLDER/page.h". What is left for the program to fill in is /*DATA*/.
function(sapper_page room folder)
  set(source ${CMAKE_SOURCE_DIR}/src/${room}/${folder})
  file(READ ${source}/page.html page)
  file(READ ${source}/style.css style)
  set(script "")
  foreach(name ${ARGN})
    file(READ ${source}/${name}.js part)
    string(APPEND script "${part}\n")
  endforeach()
  string(REPLACE "/*STYLE*/" "${style}" page "${page}")
  string(REPLACE "/*SCRIPT*/" "${script}" page "${page}")
  set(names page.html style.css ${ARGN})
  list(TRANSFORM names APPEND .js REGEX "^[a-z_]+$")
  list(TRANSFORM names PREPEND ${source}/)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${names})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${room}/page.cc @ONLY CONTENT
"#include \"${room}/${folder}/page.h\"
namespace sapper::${room} {
std::string_view page() { return R\"sapper_page(@page@)sapper_page\"; }
}
")
  target_sources(sapper_${room} PRIVATE ${CMAKE_BINARY_DIR}/generated/${room}/page.cc)
endfunction()
