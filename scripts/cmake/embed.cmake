# SPDX-License-Identifier: MIT
# embed_file(TARGET FILE SYMBOL [PREFIX]): compiles PREFIX and FILE's bytes into TARGET as
#   const unsigned char SYMBOL[]; const size_t SYMBOL_len;
function(embed_file target file symbol)
    set(out ${CMAKE_BINARY_DIR}/embed/${symbol}.c)
    add_custom_command(OUTPUT ${out}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/embed ${file} ${symbol} ${out}
            ${ARGN}
        DEPENDS ${file} ${CMAKE_SOURCE_DIR}/scripts/embed VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()

# embed_catalog(TARGET FILE): compiles the texts of the tools into TARGET (tools/catalog_texts.h).
function(embed_catalog target file)
    set(out ${CMAKE_BINARY_DIR}/embed/catalog_texts.c)
    add_custom_command(OUTPUT ${out}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/embed-catalog ${file} ${out}
        DEPENDS ${file} ${CMAKE_SOURCE_DIR}/scripts/embed-catalog VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()

# pack_python(FOLDER PACKED): makes one program of FOLDER/main.py and its modules, as PACKED.py and, compiled,
# as PACKED.marshal and PACKED.text.
function(pack_python folder packed)
    file(GLOB modules CONFIGURE_DEPENDS ${folder}/*.py)
    add_custom_command(OUTPUT ${packed}.py ${packed}.marshal ${packed}.text
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/pack-driver ${packed}.py ${packed}.marshal
            ${folder}/main.py
        DEPENDS ${modules} ${CMAKE_SOURCE_DIR}/scripts/pack-driver VERBATIM)
endfunction()
