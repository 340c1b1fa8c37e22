/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/prompt.h"

static void prompts_for_secrets_are_known(void **state)
{
	static const char *const prompts[] = {
		"Enter your GitHub password: ",
		"API key",
		"Your mother's maiden name?",
		"Security question: which was your first pet?",
		"Mädchenname der Mutter: ",
		"GitHub PAT: ",
		"JWT> ",
		"WiFi PSK:",
		"Seed words:",
		"Enter your passkey:",
		"Connection string: ",
		"api_key> ",
		"PIN: ",
		"Your pin?",
		"Recovery phrase (12 words): ",
		"One-time code from the app",
		"OTP> ",
		"2FA:",
		"(sudo) pwd:",
		"Kundenpasswort: ",
		"KENNWORT:",
		"Entrez votre mot de passe :",
		"Contraseña:",
		"Clave de acceso:",
		"Heslo: ",
		"Введите ПАРОЛЬ:",
		"Κωδικός: ",
		"ΚΩΔΙΚΌΣ: ",
		"Şifre:",
		"كلمة المرور:",
		"गुप्त पासवर्ड",
		"পাসওয়ার্ড:",
		"Mật khẩu:",
		"请输入密码:",
		"パスワードを入力",
		"비밀번호:",
		/* Wide letters, decomposed ones, invisible ones between. */
		"ＰＡＳＳＷＯＲＤ:",
		"Contrasen\u0303a:",
		"pass\xe2\x80\x8bword:",
		"p\u00ADin:",
		/* Other blanks and lines between. */
		"Paste private_key:",
		"API  key: ",
		"credit-card?",
		"P A S S W O R D:",
		"p.a.s.s.p.h.r.a.s.e",
		/* Letters that look like others. */
		"Enter your p\u0430ssw\u043erd: ",
		"\u03c1\u03b1ssword",
		"p\u0301assword",
		"Passw0rd:",
		"P@$$word:",
		"ᴘᴀꜱꜱᴡᴏʀᴅ:",
		"🅿🅰🆂🆂🆆🅾🆁🅳:",
		"ⓟⓐⓢⓢⓦⓞⓡⓓ:",
		"⒫⒜⒮⒮⒲⒪⒭⒟:",
		"\u048eassword:",
		"pαssωord:",
		/* Short words, too. */
		"pa55:",
		"ρаѕѕ:",
		"P.W.D:",
		"0TP",
		"p|assword",
		/* Invisible letters as cleaning writes them. */
		"p<U+200B>assword:",
		"P<U+200B>I<U+E0041>N:",
		"m<U+200B>ật khẩu:",
		/* Without marks, and other forms of a word. */
		"mat khau:",
		"haslo:",
		"hesla:",
		"jelszava:",
		"كلمه السر:",
		/* Keys, codes and cards. */
		"API-Schlüssel:",
		"Clé d'API :",
		"Chave da API:",
		"APIキー:",
		"API 키:",
		"ключ API:",
		"Токен доступа:",
		"トークン:",
		"토큰:",
		"令牌:",
		"PIN码:",
		"PINコード:",
		"Pincode:",
		"CVV2:",
		"two-factor code:",
		"6-digit code from your authenticator app:",
		"SMS code:",
		"Login code:",
		"auth code:",
		"Bestätigungscode:",
		"código de verificación:",
		"codice di verifica:",
		"code de vérification:",
		"код подтверждения:",
		"ПИН-код:",
		"mnemonic (12 words):",
		"SSH key:",
		"signing key:",
		"OPENAI_KEY=",
		"Kreditkarte:",
		"Kartennummer:",
		"numéro de carte:",
		"номер карты:",
		"银行卡号:",
		"Zugangsdaten:",
		"toegangscode:",
		"कूटशब्द:",
		"λέξη-κλειδί:",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(prompts); i++)
		if (!prompt_asks_for_secret(prompts[i]))
			fail_msg("not known: %s", prompts[i]);
}

static void other_prompts_are_not(void **state)
{
	static const char *const prompts[] = {
		"",
		"> ",
		"What is your name? ",
		"Guess a number between 1 and 10: ",
		"Press any key to continue",
		"Country code: ",
		"Spinning wheel or carpet? ",
		"Compass direction: ",
		"Desenhar um gato? ",
		"Tangent of: ",
		"Wie heißt du? ",
		"お名前は？",
		"Images location: ",
		"1050 or 2050? ",
		"Which words press on? ",
		"Press the Enter key",
		"Sort key: ",
		"Keyboard layout: ",
		"Monkey business? ",
		"Zip code: ",
		"Exit code? ",
		"<U+200B>> ",
		"Включить звук? ",
		"スキー場は？",
		"Room 1050, 7 seats: ",
		"Ihr Name, bitte: ",
		"Quel est votre nom ? ",
		"请输入姓名: ",
		"이름: ",
		"ما اسمك؟",
		"\xff password",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(prompts); i++)
		if (prompt_asks_for_secret(prompts[i]))
			fail_msg("taken for a secret: %s", prompts[i]);
}

static void a_quoted_prompt_has_no_quotation_mark(void **state)
{
	static const char *const marks[] = { "\"", "\xc2\xab", "\xc2\xbb", "“",        "”",  "„",
					     "‟",  "‹",        "›",        "\xca\xba", "″",  "「",
					     "」", "『",       "＂",       "〝",       "〞", "❝" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		cleanup_free char *prompt = xasprintf("a%s - b", marks[i]);
		cleanup_free char *quoted = prompt_quote(prompt);

		assert_string_equal(quoted, "a' - b");
	}
}

static void a_quoted_prompt_is_one_clean_line(void **state)
{
	cleanup_free char *quoted = prompt_quote("Name\n\x1b[31m(ü): ");

	(void)state;
	assert_string_equal(quoted, "Name (ü):");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prompts_for_secrets_are_known),
		cmocka_unit_test(other_prompts_are_not),
		cmocka_unit_test(a_quoted_prompt_has_no_quotation_mark),
		cmocka_unit_test(a_quoted_prompt_is_one_clean_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
