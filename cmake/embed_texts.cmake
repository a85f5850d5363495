# embed_texts(OUTPUT F HEADER H NAMESPACE N TYPE T FUNCTION F FILES ...): a source that defines std::span<const T> N::F(),
# which the header declares: for every file a T of its name without the ending, and its text.
function(embed_texts)
  cmake_parse_arguments(embed "" "OUTPUT;HEADER;TYPE;FUNCTION;NAMESPACE" "FILES" ${ARGN})
  set(rows "")
  foreach(file ${embed_FILES})
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
    # A changed or new file makes the source anew.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${embed_OUTPUT} @ONLY CONTENT [[
#include "@embed_HEADER@"

namespace @embed_NAMESPACE@ {
namespace {

constexpr @embed_TYPE@ kTextsOf_@embed_FUNCTION@[] = {
@rows@};

}  // namespace

std::span<const @embed_TYPE@> @embed_FUNCTION@() {
  return kTextsOf_@embed_FUNCTION@;
}

}  // namespace @embed_NAMESPACE@
]])
endfunction()
