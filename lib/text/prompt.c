/* SPDX-License-Identifier: MIT */
/*
 * prompt.c - words are compared in NFKC with their case folded (Unicode, 3.13), so that full-width
 * and capital letters are the same. Invisible characters between letters are left out.
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
	return found;
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
