/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/mime.h"

static void extensions_tell_the_type(void **state)
{
	static const struct {
		const char *name;
		const char *type;
	} rows[] = {
		{ "plot.png", "image/png" },
		{ "PLOT.PNG", "image/png" },
		{ "a.b/c.tar.gz", "application/gzip" },
		{ "x.7z", "application/x-7z-compressed" },
		{ "x.zst", "application/zstd" },
		{ "x.ipynb", "application/x-ipynb+json" },
		{ "x.R", "text/x-r" },
		{ "Makefile", "application/octet-stream" },
		{ ".bashrc", "application/octet-stream" },
		{ ".png", "application/octet-stream" },
		{ "dir.png/file", "application/octet-stream" },
		{ "ends.", "application/octet-stream" },
		{ "a.unknown", "application/octet-stream" },
		{ "", "application/octet-stream" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(mime_of_name(rows[i].name), rows[i].type);
}

static void the_extension_has_its_dot(void **state)
{
	(void)state;
	assert_string_equal(mime_extension("a/b.c/d.tar.GZ"), ".GZ");
	assert_string_equal(mime_extension(".bashrc"), "");
	assert_string_equal(mime_extension(".a.txt"), ".txt");
	assert_string_equal(mime_extension("a."), "");
	assert_string_equal(mime_extension("plain"), "");
}

static void text_types_are_known(void **state)
{
	(void)state;
	assert_true(mime_is_text("text/csv"));
	assert_true(mime_is_text("application/json"));
	assert_true(mime_is_text("image/svg+xml"));
	assert_false(mime_is_text("image/png"));
	assert_false(mime_is_text("application/octet-stream"));
}

static const unsigned char png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,   0, 0,
				     13,   'I', 'H', 'D', 'R',  0,    0,    2,    128, 0, 0,
				     1,    224, 8,   6,   0,    0,    0,    1,    2,   3, 4 };
/* APP0, a fill byte, DHT (which is no frame), then SOF2 with 300 x 200. */
static const unsigned char jpeg[] = { 0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc4, 0,
				      3,    7,    0xff, 0xc2, 0, 8, 8, 0, 200,  1,    44,   3 };

static void images_tell_their_size(void **state)
{
	const char *mime;
	uint32_t width;
	uint32_t height;

	(void)state;
	assert_true(mime_image(png, sizeof(png), &mime, &width, &height));
	assert_string_equal(mime, "image/png");
	assert_int_equal(width, 640);
	assert_int_equal(height, 480);
	assert_true(mime_image(jpeg, sizeof(jpeg), &mime, &width, &height));
	assert_string_equal(mime, "image/jpeg");
	assert_int_equal(width, 300);
	assert_int_equal(height, 200);
}

static void a_header_cut_anywhere_is_no_image(void **state)
{
	const char *mime;
	uint32_t width;
	uint32_t height;

	(void)state;
	for (size_t len = 0; len < sizeof(png); len++)
		assert_false(mime_image(png, len, &mime, &width, &height));
	for (size_t len = 0; len < sizeof(jpeg); len++)
		assert_false(mime_image(jpeg, len, &mime, &width, &height));
}

static void false_headers_are_no_images(void **state)
{
	static const struct {
		const char *name;
		unsigned char bytes[16];
	} rows[] = {
		{ "zero height", { 0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 0, 1, 1, 1, 1, 1, 1, 1 } },
		{ "scan first", { 0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xc0, 0, 8, 8, 0, 1, 0, 1 } },
		{ "short segment", { 0xff, 0xd8, 0xff, 0xe0, 0, 1, 0xff, 0xc0, 0, 8, 8, 0, 1, 0 } },
		{ "short frame", { 0xff, 0xd8, 0xff, 0xc0, 0, 7, 8, 0, 1, 0, 1, 1, 1, 1, 1, 1 } },
		{ "gif", { 'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 } },
	};
	const char *mime;
	uint32_t width;
	uint32_t height;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].name);
		assert_false(
			mime_image(rows[i].bytes, sizeof(rows[i].bytes), &mime, &width, &height));
	}
}

static void sounds_are_known_by_their_first_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *mime;
	} rows[] = {
		{ "RIFF\0\0\0\0WAVEfmt ", 16, "audio/wav" },
		{ "RIFF\0\0\0\0WEBPVP8 ", 16, NULL },
		{ "RIFF\0\0\0\0WAV", 11, NULL },
		{ "ID3\4", 4, "audio/mpeg" },
		{ "\xff\xfb\x90", 3, "audio/mpeg" },
		{ "\xff\xd8\xff", 3, NULL },
		{ "OggS\0", 5, "audio/ogg" },
		{ "fLaC\0", 5, "audio/flac" },
		{ "fLaC", 4, NULL },
		{ "", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *mime = mime_sound(rows[i].bytes, rows[i].len);

		if (rows[i].mime == NULL)
			assert_null(mime);
		else
			assert_string_equal(mime, rows[i].mime);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extensions_tell_the_type),
		cmocka_unit_test(the_extension_has_its_dot),
		cmocka_unit_test(text_types_are_known),
		cmocka_unit_test(images_tell_their_size),
		cmocka_unit_test(a_header_cut_anywhere_is_no_image),
		cmocka_unit_test(false_headers_are_no_images),
		cmocka_unit_test(sounds_are_known_by_their_first_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
