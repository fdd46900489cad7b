/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of secrets in a command line, and words that only look like secrets. */
#include "trainprof/base/secret.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <string.h>

static const char *const secret_names[] = {
	"--password",    "DB_PASSWORD",   "password1",     "--api-key",
	"API_KEY",       "WANDB_API_KEY", "apiKey",        "--hf-token",
	"HF_TOKEN",      "authToken",     "client_secret", "--secret",
	"db.password",   "--key",         "SSH_KEY",       "AWS_SECRET_ACCESS_KEY",
	"--pass",        "passphrase",    "credentials",   "--auth",
	"Authorization", "--openai-key",  "--pwd",         "Pwd",
	"sig",
};

static const char *const plain_names[] = {
	"",          "--epochs",    "tokenizer",       "--max-tokens", "--num_tokens",
	"pad_token", "--eos-token", "--sort-key",      "key_dim",      "--passes",
	"PWD",       "OLDPWD",      "--password-file", "token_length", "--author",
	"keyboard",  "primary_key", "--bypass-checks",
};

START_TEST(names_of_secrets_are_known)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(secret_names); i++)
		ck_assert_msg(tp_secret_is_name(secret_names[i], strlen(secret_names[i])), "%s",
			      secret_names[i]);
	for (size_t i = 0; i < TP_ARRAY_LEN(plain_names); i++)
		ck_assert_msg(!tp_secret_is_name(plain_names[i], strlen(plain_names[i])), "%s",
			      plain_names[i]);
}
END_TEST

static const struct {
	const char *arguments[5];
	const char *written; /* joined by single blanks, each in brackets */
} lines[] = {
	{{"x", "--password=SECRET 1"}, "[x] [--password=***]"},
	{{"x", "--password", "SECRET 1", "y"}, "[x] [--password] [***] [y]"},
	{{"--api-key", "SECRET", "--lr", "3"}, "[--api-key] [***] [--lr] [3]"},
	{{"--use-auth-token", "--lr", "3"}, "[--use-auth-token] [--lr] [3]"},
	{{"env", "DB_PASSWORD=SECRET", "python3"}, "[env] [DB_PASSWORD=***] [python3]"},
	{{"https://u:SECRET@host/path"}, "[https://u:***@host/path]"},
	{{"--db=postgres://u:SEC/RET@host:5432/db"}, "[--db=postgres://u:***@host:5432/db]"},
	{{"http://host:8080/path@v2"}, "[http://host:8080/path@v2]"},
	{{"ssh://git@host/x"}, "[ssh://git@host/x]"},
	{{"https://SECRETSECRETSECRET@host/x"}, "[https://***@host/x]"},
	{{"https://h/x?token=SECRET&n=3"}, "[https://h/x?token=***&n=3]"},
	{{"https://h/x?X-Amz-Signature=SECRET"}, "[https://h/x?X-Amz-Signature=***]"},
	{{"sh", "-c", "./x --password SECRET --lr 3"}, "[sh] [-c] [./x --password *** --lr 3]"},
	{{"sh", "-c", "TOKEN=SECRET ./x; y"}, "[sh] [-c] [TOKEN=*** ./x; y]"},
	{{"-c", "login(password='SECRET', n=1)"}, "[-c] [login(password='***', n=1)]"},
	{{"{\"api_key\": \"SECRET\", \"n\": 1}"}, "[{\"api_key\": \"***\", \"n\": 1}]"},
	{{"-H", "Authorization: Bearer SECRET"}, "[-H] [Authorization: Bearer ***]"},
	{{"db.password=SECRET", "db.name=x"}, "[db.password=***] [db.name=x]"},
	{{"hf_abcdefghijklmnopqrst"}, "[***]"},
	{{"--model=hf_small"}, "[--model=hf_small]"},
	{{"--pwd", "SECRET", "PWD=/x"}, "[--pwd] [***] [PWD=/x]"},
	{{"Server=h;Uid=u;Pwd=SECRET;"}, "[Server=h;Uid=u;Pwd=***;]"},
	{{"https://h/c?sv=2&sig=SECRET"}, "[https://h/c?sv=2&sig=***]"},
	{{"-----BEGIN RSA PRIVATE KEY-----\nSECRET"}, "[***]"},
	{{"sk-learn"}, "[sk-learn]"},
	{{"--eos-token=</s>", "--tokenizer=x", "--max-tokens", "9"},
	 "[--eos-token=</s>] [--tokenizer=x] [--max-tokens] [9]"},
	{{"--password="}, "[--password=]"},
	{{"--password", ""}, "[--password] []"},
	{{"--lr=0.1", "data:/x", "a=b=c", "-"}, "[--lr=0.1] [data:/x] [a=b=c] [-]"},
};

START_TEST(secrets_in_arguments_are_masked_and_all_else_is_kept)
{
	struct tp_buf out = {0};
	struct tp_secret_scan scan = {0};
	for (size_t i = 0; i < 5 && lines[_i].arguments[i]; i++) {
		tp_buf_puts(&out, i ? " [" : "[");
		tp_secret_add_argument(&out, &scan, lines[_i].arguments[i]);
		tp_buf_putc(&out, ']');
	}
	ck_assert_str_eq(tp_buf_text(&out), lines[_i].written);
	tp_buf_release(&out);
}
END_TEST

START_TEST(variables_are_masked_by_their_name_or_by_what_is_in_them)
{
	static const char *const rows[][3] = {
		{"WANDB_API_KEY", "abc", "***"},
		{"WANDB_API_KEY", "", ""},
		{"HTTP_PROXY", "http://u:p@proxy:3128", "http://u:***@proxy:3128"},
		{"OMP_NUM_THREADS", "4", "4"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++) {
		struct tp_buf out = {0};
		tp_secret_add_variable(&out, rows[i][0], rows[i][1]);
		ck_assert_str_eq(tp_buf_text(&out), rows[i][2]);
		tp_buf_release(&out);
	}
}
END_TEST

Suite *suite_base_secret(void);
Suite *suite_base_secret(void)
{
	Suite *suite = suite_create("base/secret");
	TCase *tc = tcase_create("secret");
	tcase_add_test(tc, names_of_secrets_are_known);
	tcase_add_loop_test(tc, secrets_in_arguments_are_masked_and_all_else_is_kept, 0,
			    (int)TP_ARRAY_LEN(lines));
	tcase_add_test(tc, variables_are_masked_by_their_name_or_by_what_is_in_them);
	suite_add_tcase(suite, tc);
	return suite;
}
