# embed_files(OUTPUT F HEADER H NAMESPACE N TYPE T FUNCTION F FOLDER D): a source that defines std::span<const T> N::F(), which
# the header declares: for every file below the folder, of whatever bytes, a T of its path from there and its content.
# A new, changed or removed file makes the source anew at the next build.
function(embed_files)
  cmake_parse_arguments(embed "" "OUTPUT;HEADER;TYPE;FUNCTION;NAMESPACE;FOLDER" "" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${embed_FOLDER}/*)
  list(SORT files)
  set(rows "")
  foreach(file ${files})
    file(RELATIVE_PATH name ${embed_FOLDER} ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    file(SIZE ${file} size)
    string(APPEND rows "    {\"${name}\", {\"${bytes}\", ${size}}},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${embed_OUTPUT} @ONLY CONTENT [[
#include "@embed_HEADER@"

namespace @embed_NAMESPACE@ {
namespace {

constexpr @embed_TYPE@ kFilesOf_@embed_FUNCTION@[] = {
@rows@};

}  // namespace

std::span<const @embed_TYPE@> @embed_FUNCTION@() {
  return kFilesOf_@embed_FUNCTION@;
}

}  // namespace @embed_NAMESPACE@
]])
endfunction()
