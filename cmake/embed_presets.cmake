# embed_presets(OUTPUT FILE...): a source that defines sluice::presets() from JSON files.
function(embed_presets output)
  set(rows "")
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"json(${text})json\"},\n")
    # A changed or new file makes the source anew.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "sluice/model/presets.h"

namespace sluice {
namespace {

constexpr Preset kPresets[] = {
@rows@};

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

}  // namespace sluice
]])
endfunction()
