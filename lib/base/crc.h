/* SPDX-License-Identifier: MIT */
/* crc.h - the checksum CRC-32C (Castagnoli), as in RFC 3720, section B.4. */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of `len` bytes that follow bytes with the checksum `before` (0: none). */
uint32_t crc_32c(uint32_t before, const void *data, size_t len);
/* Computes crc_32c without the instruction that some processors have for it. */
uint32_t crc_32c_by_tables(uint32_t before, const void *data, size_t len);

#endif
