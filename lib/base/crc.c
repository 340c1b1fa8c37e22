/* SPDX-License-Identifier: MIT */
/*
 * crc.c - CRC-32C by the processor's instruction, or by tables, eight bytes a step.
 *
 * A warm call checks its events, and the tables' 8 KB would take a quarter of the nearest cache.
 *
 * tables[k][b] is the checksum of byte b with k zero bytes behind it. Eight bytes are therefore
 * eight independent lookups ("slicing by eight"): a figure of 8 MB takes 5 ms instead of 20.
 */
#include "base/crc.h"

#include <stdbool.h>
#include <string.h>

enum { SLICES = 8, POLYNOMIAL_BITS = 8 };

static const uint32_t polynomial = 0x82f63b78U; /* reflected */

static uint32_t tables[SLICES][256];

static void make_tables(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < POLYNOMIAL_BITS; bit++)
			crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
		tables[0][byte] = crc;
	}
	for (uint32_t byte = 0; byte < 256; byte++)
		for (int k = 1; k < SLICES; k++)
			tables[k][byte] =
				(tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
}

static uint32_t add_byte(uint32_t crc, unsigned char byte)
{
	return (crc >> 8) ^ tables[0][(crc ^ byte) & 0xff];
}

static uint32_t add_eight(uint32_t crc, const unsigned char *p)
{
	return tables[7][p[0] ^ (crc & 0xff)] ^ tables[6][p[1] ^ (crc >> 8 & 0xff)] ^
	       tables[5][p[2] ^ (crc >> 16 & 0xff)] ^ tables[4][p[3] ^ (crc >> 24)] ^
	       tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^ tables[0][p[7]];
}

uint32_t crc_32c_by_tables(uint32_t before, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint32_t crc = ~before;

	if (tables[0][1] == 0)
		make_tables();
	for (; len >= SLICES; len -= SLICES, p += SLICES)
		crc = add_eight(crc, p);
	for (; len > 0; len--)
		crc = add_byte(crc, *p++);
	return ~crc;
}

#if defined(__x86_64__)

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t before, const void *data,
								 size_t len)
{
	const unsigned char *p = data;
	uint64_t crc = ~before;

	for (; len >= sizeof(crc); len -= sizeof(crc), p += sizeof(crc)) {
		uint64_t eight;

		memcpy(&eight, p, sizeof(eight));
		crc = __builtin_ia32_crc32di(crc, eight);
	}
	for (; len > 0; len--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *p++);
	return ~(uint32_t)crc;
}

#else

static bool has_instruction(void)
{
	return false;
}

static uint32_t by_instruction(uint32_t before, const void *data, size_t len)
{
	return crc_32c_by_tables(before, data, len);
}

#endif

uint32_t crc_32c(uint32_t before, const void *data, size_t len)
{
	return has_instruction() ? by_instruction(before, data, len)
				 : crc_32c_by_tables(before, data, len);
}
