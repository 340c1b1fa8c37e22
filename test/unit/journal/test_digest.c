/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "journal/digest.h"

static void check(const char *text, size_t len, const char *wanted)
{
	char found[DIGEST_LEN + 1];

	digest_sha256(text, len, found);
	assert_string_equal(found, wanted);
}

/* FIPS 180-4's own, and ends on either side of a block's. */
static void digests_are_those_of_others(void **state)
{
	static const struct {
		size_t len;
		const char *wanted;
	} rows[] = {
		{ 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
		{ 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb" },
		{ 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c" },
		{ 200, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5" },
	};
	char bytes[200];

	(void)state;
	check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	memset(bytes, 'a', sizeof(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(bytes, rows[i].len, rows[i].wanted);
}

static void a_digest_of_pieces_is_that_of_the_whole(void **state)
{
	char bytes[300];
	char whole[DIGEST_LEN + 1];
	char pieces[DIGEST_LEN + 1];

	(void)state;
	memset(bytes, 'b', sizeof(bytes));
	digest_sha256(bytes, sizeof(bytes), whole);
	for (size_t step = 1; step < 140; step++) {
		struct digest digest;

		digest_init(&digest);
		for (size_t at = 0; at < sizeof(bytes); at += step)
			digest_add(&digest, bytes + at, size_min(step, sizeof(bytes) - at));
		digest_end(&digest, pieces);
		assert_string_equal(pieces, whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_others),
		cmocka_unit_test(a_digest_of_pieces_is_that_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
