/* SPDX-License-Identifier: MIT */
/*
 * prompt.c - words are compared in NFKC with their case folded (Unicode, 3.13), so that full-width
 * and capital letters are the same. Invisible characters between letters are left out. Then once
 * more as a reader sees it: letters that look like Latin ones are these, what is between words is
 * one blank; and long words without anything between their letters.
 */
#include "text/prompt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "text/clean.h"

/* Of so many letters a word is not by chance the end of one and the beginning of another. */
enum { LONG_WORD = 8 };

/* clang-format off */

/* Found anywhere, also within a longer word. */
static const char *const anywhere[] = {
	/* English, and what programs everywhere use */
	"password", "passwd", "passphrase", "pass phrase", "pass code", "passcode",
	"credential", "secret", "api key", "api-key", "apikey", "api_key", "access key",
	"access token", "private key", "encryption key", "license key", "security code",
	"security key", "verification code", "authentication code", "one-time",
	"one time code", "recovery phrase", "recovery key", "recovery code", "seed phrase",
	"card number", "credit card", "social security",
	/* Western and northern Europe */
	"passwort", "kennwort", "geheim", "zugangscode", "sicherheitscode",
	"privater schlüssel", "mot de passe", "code secret", "clé privée", "clé api",
	"contraseña", "contrasena", "secreto", "palavra-passe", "segredo", "segreto",
	"wachtwoord", "lösenord", "adgangskode", "kodeord", "passord", "salasana", "lykilorð",
	"contrasenya", "pasahitza",
	/* Eastern and southern Europe */
	"hasło", "heslo", "jelszó", "parola", "parolă", "lozinka", "geslo", "slaptažodis",
	"parool", "fjalëkalim", "пароль", "пароля", "парола", "лозинка", "секрет", "κωδικός",
	"κωδικό", "συνθηματικό", "şifre", "sifre",
	/* Asia and Africa */
	"סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "رمز عبور", "گذرواژه", "پاس ورڈ",
	"पासवर्ड", "পাসওয়ার্ড", "கடவுச்சொல்", "รหัสผ่าน", "mật khẩu", "kata sandi",
	"kata laluan", "nenosiri", "密码", "密碼", "口令", "密钥", "密鑰", "验证码", "驗證碼", "パスワード",
	"暗証番号", "秘密", "合言葉", "認証コード", "비밀번호", "암호", "인증번호",
};

/* Short ones, and parts of harmless words: only as words of their own. */
static const char *const whole[] = {
	"pass", "pwd", "psw", "pw", "pin", "puk", "tan", "otp", "totp", "2fa", "mfa", "cvv",
	"cvc", "ssn", "iban", "token", "tokens", "bearer", "mdp", "nip", "clave", "senha",
	"parole",
};

/* clang-format on */

/* `text` as it is compared; NULL when it is not UTF-8. The caller frees it. */
static char *fold(const char *text)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t len = strlen(text);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	uint8_t *folded = NULL;
	ucs4_t c;
	int size;

	if (u8_check(bytes, len) == NULL)
		folded = u8_casefold(bytes, len, NULL, UNINORM_NFKC, NULL, &len);
	if (folded == NULL)
		return NULL;
	for (size_t at = 0; at < len; at += (size_t)size) {
		size = u8_mbtouc(&c, folded + at, len - at);
		if (!uc_is_property_default_ignorable_code_point(c))
			buf_put(&out, (const char *)folded + at, (size_t)size);
	}
	free(folded);
	return buf_steal(&out);
}

static bool is_letter(ucs4_t c)
{
	return uc_is_property_alphabetic(c) || uc_is_general_category(c, UC_NUMBER);
}

/* Whether the `len` bytes at `at` have no letter or digit beside them. */
static bool stands_alone(const char *text, const char *at, size_t len)
{
	ucs4_t c = 0;
	const uint8_t *before = u8_prev(&c, (const uint8_t *)at, (const uint8_t *)text);

	if (before != NULL && is_letter(c))
		return false;
	return u8_next(&c, (const uint8_t *)at + len) == NULL || !is_letter(c);
}

static bool has_word(const char *text, const char *word, bool alone)
{
	cleanup_free char *folded = fold(word);
	size_t len = strlen(folded);

	for (const char *at = strstr(text, folded); at != NULL; at = strstr(at + len, folded))
		if (!alone || stands_alone(text, at, len))
			return true;
	return false;
}

/* ---- as a reader sees it ---- */

/* A Latin letter, and folded letters of other scripts, digits and signs that look like it. */
static const char *const lookalikes[] = { "aаαɑ@", "bв",  "cс",  "dԁ",   "eеε3", "gɡ",   "iіιı",
					  "jј",    "kкκ", "mм",  "oоο0", "pрρ",  "sѕ5$", "tтτ",
					  "uυ",    "vν",  "wԝω", "xхχ",  "yу" };

static ucs4_t latin_of(ucs4_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(lookalikes); i++)
		if (u8_strchr((const uint8_t *)lookalikes[i], c) != NULL)
			return (ucs4_t)lookalikes[i][0];
	return c;
}

/* Folded text, with one blank between its words and no marks on letters. The caller frees it. */
static char *seen(const char *folded)
{
	size_t len = 0;
	uint8_t *plain =
		u8_normalize(UNINORM_NFD, (const uint8_t *)folded, strlen(folded), NULL, &len);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	uint8_t utf8[6];
	ucs4_t c;
	int size;

	for (size_t at = 0; plain != NULL && at < len; at += (size_t)size) {
		size = u8_mbtouc(&c, plain + at, len - at);
		c = latin_of(c);
		if (uc_is_general_category(c, UC_MARK))
			continue;
		if (is_letter(c))
			buf_put(&out, (const char *)utf8, (size_t)u8_uctomb(utf8, c, sizeof(utf8)));
		else if (out.len > 0 && out.data[out.len - 1] != ' ')
			buf_puts(&out, " ");
	}
	free(plain);
	return buf_steal(&out);
}

static char *without_blanks(const char *text)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (; *text != '\0'; text++)
		if (*text != ' ')
			buf_put_char(&out, *text);
	return buf_steal(&out);
}

static bool is_ascii(const char *text)
{
	while (*text > 0)
		text++;
	return *text == '\0';
}

/* Latin words only: others are compared as they are written. */
static bool is_seen(const char *prompt, const char *letters, const char *word)
{
	cleanup_free char *plain = is_ascii(word) ? seen(word) : NULL;
	cleanup_free char *joined = plain != NULL ? without_blanks(plain) : NULL;

	return plain != NULL && (strstr(prompt, plain) != NULL ||
				 (strlen(joined) >= LONG_WORD && strstr(letters, joined) != NULL));
}

static bool any_is_seen(const char *folded)
{
	cleanup_free char *prompt = seen(folded);
	cleanup_free char *letters = prompt != NULL ? without_blanks(prompt) : NULL;

	for (size_t i = 0; letters != NULL && i < ARRAY_SIZE(anywhere); i++)
		if (is_seen(prompt, letters, anywhere[i]))
			return true;
	return false;
}

bool prompt_asks_for_secret(const char *prompt)
{
	cleanup_free char *text = fold(prompt);
	bool found = false;

	if (text == NULL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(anywhere) && !found; i++)
		found = has_word(text, anywhere[i], false);
	for (size_t i = 0; i < ARRAY_SIZE(whole) && !found; i++)
		found = has_word(text, whole[i], true);
	return found || any_is_seen(text);
}

/* Marks of other kinds that look like quotation marks. */
static bool looks_like_quote(ucs4_t c)
{
	static const ucs4_t others[] = { 0x2b9,  0x2ba,  0x2bb,  0x2bc,  0x2bd,  0x2c8,  0x2ca,
					 0x2cb,  0x2dd,  0x2ee,  0x2f6,  0x5f3,  0x5f4,  0x1cd3,
					 0x2032, 0x2033, 0x2034, 0x2035, 0x2036, 0x2037, 0x2057,
					 0x275b, 0x275c, 0x275d, 0x275e, 0x2760, 0x3003, 0xa78c,
					 '`',    0xb4,   0xa8 };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (c == others[i])
			return true;
	return uc_is_property_quotation_mark(c);
}

char *prompt_quote(const char *prompt)
{
	cleanup_free char *clean = clean_quote(prompt);
	size_t len = strlen(clean);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	ucs4_t c;
	int size;

	for (size_t at = 0; at < len; at += (size_t)size) {
		size = u8_mbtouc(&c, (const uint8_t *)clean + at, len - at);
		if (looks_like_quote(c))
			buf_puts(&out, "'");
		else
			buf_put(&out, clean + at, (size_t)size);
	}
	return buf_steal(&out);
}
