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
