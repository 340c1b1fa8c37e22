# SPDX-License-Identifier: MIT
# libunistring ships no pkg-config file.
find_path(Unistring_INCLUDE_DIR unistr.h)
find_library(Unistring_LIBRARY unistring)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Unistring DEFAULT_MSG Unistring_LIBRARY Unistring_INCLUDE_DIR)
if(Unistring_FOUND AND NOT TARGET Unistring::Unistring)
    add_library(Unistring::Unistring UNKNOWN IMPORTED)
    set_target_properties(Unistring::Unistring PROPERTIES
        IMPORTED_LOCATION ${Unistring_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${Unistring_INCLUDE_DIR})
endif()
