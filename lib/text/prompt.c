/* SPDX-License-Identifier: MIT */
/*
 * prompt.c - compares prompt and words as a reader sees them.
 *
 * Both are brought to NFKC with their case folded (Unicode, 3.13). Invisible characters and marks
 * on letters are removed, lookalike letters and digits replaced, and words separated by one blank.
 * Long words are also found with nothing between their letters, all words also with a blank between
 * any two.
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
#include "text/quotation.h"
#include "text/sanitize.h"

/* A word of so many letters is not by chance the end of one and the beginning of another. */
enum { LONG_WORD = 8 };

/* clang-format off */

/* Found anywhere, also within a longer word. */
static const char *const anywhere[] = {
	/* English, and what programs everywhere use */
	"password", "passwd", "passphrase", "pass phrase", "pass code", "passcode",
	"credential", "secret", "api key", "apikey", "access key", "access token",
	"private key", "encryption key", "license key", "security key", "recovery key",
	"recovery phrase", "seed phrase", "secret phrase", "unlock phrase", "word phrase",
	"recovery word", "seed word", "passkey", "connection string", "authorization header",
	"mnemonic", "security code", "verification code", "confirmation code",
	"authentication code", "authenticator", "auth code", "access code", "unlock code",
	"recovery code", "backup code", "activation code", "login code", "log in code",
	"sign in code", "sms code", "digit code", "code sent", "factor code", "two factor",
	"two step", "one time", "card number", "credit card", "debit card", "social security",
	"maiden name", "security question", "security answer",
	/* Western and northern Europe */
	"passwort", "kennwort", "geheim", "zugangscode", "zugangsdaten", "sicherheitscode",
	"bestätigungscode", "freischaltcode", "prüfnummer", "schlüssel", "schluessel",
	"mädchenname", "sicherheitsfrage", "nom de jeune fille", "apellido de soltera",
	"kreditkarte", "kartennummer", "sozialversicherungsnummer", "mot de passe",
	"code secret", "code de vérification", "code de confirmation", "code d'accès",
	"code de sécurité", "numéro de carte", "carte bancaire", "carte de crédit",
	"identifiants", "contraseña", "secreto", "código de verificación", "código de acceso",
	"código de seguridad", "número de tarjeta", "tarjeta de crédito", "palavra-passe",
	"segredo", "código de verificação", "código de acesso", "código de segurança",
	"número do cartão", "cartão de crédito", "segreto", "codice di verifica",
	"codice di accesso", "codice di sicurezza", "numero di carta", "numero della carta",
	"carta di credito", "wachtwoord", "toegangscode", "toegangssleutel", "pincode",
	"verificatiecode", "creditcard", "lösenord", "engångskod", "verifieringskod",
	"adgangskode", "kodeord", "engangskode", "passord", "kortnummer", "kreditkort",
	"salasana", "tunnusluku", "vahvistuskoodi", "lykilorð", "contrasenya", "pasahitza",
	/* Eastern and southern Europe */
	"hasło", "hasła", "hasłem", "kod weryfikacyjny", "numer karty", "heslo", "hesla",
	"heslem", "ověřovací kód", "číslo karty", "jelszó", "jelszav", "parola", "parolă",
	"lozinka", "lozinku", "geslo", "slaptažodis", "parool", "fjalëkalim", "парол",
	"лозинка", "секрет", "токен", "пинкод", "код подтверждения", "код доступа",
	"код из смс", "код безопасности", "номер карты", "кредитная карта", "кодовое слово",
	"ключевая фраза", "код підтвердження", "номер картки", "κωδικός", "κωδικό",
	"συνθηματικό", "λέξη κλειδί", "şifre", "doğrulama kodu", "kart numarası",
	/* Asia and Africa */
	"סיסמה", "סיסמא", "קוד גישה", "גישה קוד", "קוד אימות", "كلمة المرور", "كلمة السر",
	"رمز المرور", "رمز الدخول", "رمز التحقق", "رمز عبور", "گذرواژه", "پاس ورڈ", "पासवर्ड",
	"पासकोड", "कूटशब्द", "পাসওয়ার্ড", "கடவுச்சொல்", "รหัสผ่าน", "mật khẩu", "mã xác", "kata sandi",
	"kata laluan", "kode verifikasi", "nenosiri", "密码", "密碼", "口令", "密钥", "密鑰", "金鑰", "私钥",
	"令牌", "权杖", "權杖", "验证码", "驗證碼", "校验码", "动态码", "激活码", "助记词", "助記詞", "卡号", "卡號",
	"信用卡", "パスワード", "パスコード", "暗証番号", "秘密", "合言葉", "認証コード", "確認コード",
	"セキュリティコード", "ワンタイム", "シークレット", "トークン", "apiキー", "アクセスキー", "ライセンスキー",
	"カード番号", "クレジットカード", "비밀번호", "비밀 번호", "비밀키", "비밀 키", "암호", "인증번호", "인증 번호",
	"인증 코드", "보안 코드", "토큰", "api 키", "액세스 키", "라이선스 키", "카드번호", "카드 번호", "핀번호",
	"핀 번호",
};

/* Short words, and parts of harmless words: only as words of their own. */
static const char *const whole[] = {
	"pass", "pwd", "psw", "pw", "pin", "pins", "puk", "tan", "otp", "totp", "2fa", "mfa",
	"cvv", "cvv2", "cvc", "cvc2", "ssn", "iban", "pat", "jwt", "psk", "token",
	"tokens", "bearer", "mdp", "nip", "clé", "jeton", "clave", "senha", "chave", "chiave", "parole",
	"sleutel", "klucz", "klíč", "anahtar", "пин", "ключ", "ключа", "κλειδί", "رمز",
};

/* Words before "key" that make it no secret. */
static const char *const plain_keys[] = {
	"a", "an", "and", "another", "any", "arrow", "column", "composite", "dict",
	"dictionary", "each", "enter", "escape", "every", "first", "foreign", "group", "hot",
	"index", "join", "json", "last", "lookup", "low", "major", "map", "minor", "music",
	"musical", "new", "next", "no", "of", "on", "or", "other", "partition", "press",
	"primary", "public", "return", "s", "same", "search", "shift", "sort", "space", "tab",
	"that", "the", "this", "unique", "what", "which",
};

/* Each row: a letter, and folded letters, digits and signs that look like it. */
static const char *const lookalikes[] = {
	"aаαɑᴀᥲ@4", "bвʙ", "cсᴄ", "dԁᴅძđ", "eеεᴇ3", "fꜰ", "gɡɢ", "hһʜ", "iіιıɪ1", "jјᴊ", "kкκᴋ",
	"lӏłʟ", "mмᴍ", "nոɴ", "oоοօᴏ૦ø0", "pрρҏᴘ", "qԛ", "rʀᴦ", "sѕꜱ𐑈5$", "tтτᴛ7", "uυսᴜ",
	"vνᴠ", "wԝωᴡ", "xхχ", "yуʏ", "zᴢ", "هة", "يىی", "كک",
};

/* clang-format on */

/* ---- as a reader sees it ---- */

/*
 * Returns the length of the mark with which sanitizing replaces an invisible character, 0 for none.
 */
static size_t mark_length(const char *at)
{
	size_t digits;

	if (strncmp(at, "<U+", 3) != 0)
		return 0;
	digits = strspn(at + 3, "0123456789ABCDEF");
	return digits >= 4 && digits <= 6 && at[3 + digits] == '>' ? digits + 4 : 0;
}

/* Removes the marks of sanitized characters. The caller frees the result. */
static char *without_marks(const char *text)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (*text != '\0') {
		size_t len = mark_length(text);

		if (len == 0)
			buf_put(&out, text, ++len);
		text += len;
	}
	return buf_steal(&out);
}

/* Maps white letters on black, and those of flags: each is a row from a to z. */
static ucs4_t letter_of_row(ucs4_t c)
{
	static const ucs4_t rows[] = { 0x1f150, 0x1f170, 0x1f1e6 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (c >= rows[i] && c - rows[i] < 26)
			return 'a' + c - rows[i];
	return c;
}

static ucs4_t looks_like(ucs4_t c)
{
	ucs4_t first;

	for (size_t i = 0; i < ARRAY_SIZE(lookalikes); i++) {
		if (u8_strchr((const uint8_t *)lookalikes[i], c) == NULL)
			continue;
		(void)u8_strmbtouc(&first, (const uint8_t *)lookalikes[i]);
		return first;
	}
	return letter_of_row(c);
}

static bool is_letter(ucs4_t c)
{
	return uc_is_property_alphabetic(c) || uc_is_general_category(c, UC_NUMBER);
}

static void put_seen(struct buf *out, ucs4_t c)
{
	uint8_t utf8[6];

	c = looks_like(c);
	if (uc_is_general_category(c, UC_MARK) || uc_is_property_default_ignorable_code_point(c))
		return;
	if (is_letter(c))
		buf_put(out, (const char *)utf8, (size_t)u8_uctomb(utf8, c, sizeof(utf8)));
	else if (out->len > 0 && out->data[out->len - 1] != ' ')
		buf_puts(out, " ");
}

/* Returns `text` in the form that is compared; NULL if it is not UTF-8. The caller frees it. */
static char *normalise(const char *text)
{
	cleanup_free char *bare = without_marks(text);
	size_t len = strlen(bare);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	uint8_t *folded = NULL;
	uint8_t *apart = NULL;
	ucs4_t c;
	int size;

	if (u8_check((const uint8_t *)bare, len) == NULL)
		folded = u8_casefold((const uint8_t *)bare, len, NULL, UNINORM_NFKC, NULL, &len);
	if (folded != NULL)
		apart = u8_normalize(UNINORM_NFD, folded, len, NULL, &len);
	free(folded);
	if (apart == NULL)
		return NULL;
	for (size_t at = 0; at < len; at += (size_t)size) {
		size = u8_mbtouc(&c, apart + at, len - at);
		put_seen(&out, c);
	}
	free(apart);
	return buf_steal(&out);
}

/* ---- words ---- */

static char *without_blanks(const char *text)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (; *text != '\0'; text++)
		if (*text != ' ')
			buf_put_char(&out, *text);
	return buf_steal(&out);
}

/* Puts a blank between any two letters. The caller frees the result. */
static char *spaced_letters(const char *word)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (; *word != '\0'; word++) {
		if (out.len > 0 && (*word & 0xc0) != 0x80)
			buf_puts(&out, " ");
		buf_put_char(&out, *word);
	}
	return buf_steal(&out);
}

/*
 * Returns whether the letters may belong to one word: letters of two scripts do not, even without a
 * blank between them.
 */
static bool belong_together(ucs4_t c, ucs4_t beside)
{
	return is_letter(beside) &&
	       (uc_is_general_category(beside, UC_NUMBER) || uc_is_general_category(c, UC_NUMBER) ||
		uc_script(c) == uc_script(beside));
}

/* Returns whether the `len` bytes at `at` have no letter or digit beside them. */
static bool stands_alone(const char *text, const char *at, size_t len)
{
	const uint8_t *start = (const uint8_t *)at;
	ucs4_t first = 0;
	ucs4_t last = 0;
	ucs4_t c = 0;

	(void)u8_strmbtouc(&first, start);
	(void)u8_prev(&last, start + len, start);
	if (u8_prev(&c, start, (const uint8_t *)text) != NULL && belong_together(first, c))
		return false;
	return u8_next(&c, start + len) == NULL || !belong_together(last, c);
}

static bool has_alone(const char *prompt, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(prompt, word); at != NULL; at = strstr(at + len, word))
		if (stands_alone(prompt, at, len))
			return true;
	return false;
}

/* `letters`: the prompt without blanks. */
static bool has_word(const char *prompt, const char *letters, const char *word, bool alone)
{
	cleanup_free char *plain = normalise(word);
	cleanup_free char *joined = without_blanks(plain);
	cleanup_free char *apart = spaced_letters(joined);

	if (alone ? has_alone(prompt, plain) : strstr(prompt, plain) != NULL)
		return true;
	if (u8_mbsnlen((const uint8_t *)joined, strlen(joined)) >= LONG_WORD && !alone &&
	    strstr(letters, joined) != NULL)
		return true;
	return has_alone(prompt, apart);
}

static bool is_plain_key(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain_keys); i++)
		if (strlen(plain_keys[i]) == len && strncmp(plain_keys[i], word, len) == 0)
			return true;
	return false;
}

/* Finds "OPENAI_KEY" and "your key", but not "any key". */
static bool has_key(const char *prompt)
{
	static const char key[] = " key";

	for (const char *at = strstr(prompt, key); at != NULL; at = strstr(at + 1, key)) {
		const char *word = at;

		while (word > prompt && word[-1] != ' ')
			word--;
		if (stands_alone(prompt, at + 1, strlen(key + 1)) &&
		    !is_plain_key(word, (size_t)(at - word)))
			return true;
	}
	return false;
}

bool prompt_asks_for_secret(const char *prompt)
{
	cleanup_free char *text = normalise(prompt);
	cleanup_free char *letters = text != NULL ? without_blanks(text) : NULL;
	bool found = text != NULL && has_key(text);

	for (size_t i = 0; text != NULL && i < ARRAY_SIZE(anywhere) && !found; i++)
		found = has_word(text, letters, anywhere[i], false);
	for (size_t i = 0; text != NULL && i < ARRAY_SIZE(whole) && !found; i++)
		found = has_word(text, letters, whole[i], true);
	return found;
}

char *prompt_quote(const char *prompt)
{
	cleanup_free char *clean = sanitize_quote(prompt);
	size_t len = strlen(clean);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	ucs4_t c;
	int size;

	for (size_t at = 0; at < len; at += (size_t)size) {
		size = u8_mbtouc(&c, (const uint8_t *)clean + at, len - at);
		if (quotation_is_mark(c))
			buf_puts(&out, "'");
		else
			buf_put(&out, clean + at, (size_t)size);
	}
	return buf_steal(&out);
}
