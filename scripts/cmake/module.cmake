# SPDX-License-Identifier: MIT
# add_module(NAME DEPENDS layer... ROOMS folder... LIBS target...): the static library of one
# layer, lib/NAME/*.c (subfolders included), with the edges scripts/check-layers knows. ROOMS
# orders its subfolders for that check.
function(add_module name)
    cmake_parse_arguments(M "" "" "DEPENDS;ROOMS;LIBS" ${ARGN})
    set_property(GLOBAL APPEND PROPERTY PTYCELL_LAYERS lib_${name})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lib/${name}/*.c)
    list(TRANSFORM M_DEPENDS PREPEND lib_)
    if(NOT sources)
        add_library(lib_${name} INTERFACE)
        target_include_directories(lib_${name} INTERFACE ${CMAKE_SOURCE_DIR}/lib)
        target_link_libraries(lib_${name} INTERFACE ${M_LIBS} ${M_DEPENDS})
        return()
    endif()
    add_library(lib_${name} STATIC ${sources})
    target_compile_definitions(lib_${name} PRIVATE _GNU_SOURCE)
    target_include_directories(lib_${name} PUBLIC ${CMAKE_SOURCE_DIR}/lib)
    target_link_libraries(lib_${name} PUBLIC ${M_LIBS} ${M_DEPENDS})
endfunction()

# add_program(TARGET FOLDER LAYERS layer... LIBS target... SOURCES file...): cmd/FOLDER/*.c and
# cmd/FILE, which several share.
# ptycell is installed in bin, every other program is its helper in libexec/ptycell.
function(add_program target folder)
    cmake_parse_arguments(P "" "" "LAYERS;LIBS;SOURCES" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmd/${folder}/*.c)
    list(TRANSFORM P_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/cmd/)
    if(NOT ${CMAKE_SOURCE_DIR}/cmd/${folder}/main.c IN_LIST sources)
        return()
    endif()
    list(TRANSFORM P_LAYERS PREPEND lib_)
    add_executable(${target} ${sources} ${P_SOURCES})
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE PTYCELL_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${target} PRIVATE ${P_LAYERS} ${P_LIBS})
    if(target STREQUAL "ptycell")
        install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    else()
        install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ptycell)
    endif()
endfunction()
