/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about names in mangled symbols, most of them made by g++ 12. */
#include "trainprof/base/cxx_name.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *symbol;
	const char *plain; /* NULL: not understood */
} names[] = {
	{"_ZN10DataLoader4nextEv", "DataLoader::next"},
	{"_Z5trainR10DataLoaderR3Net", "train"},
	{"_Z3fitI10DataLoaderEfR7NetworkRT_i.isra.0", "fit"},
	{"_ZNK7Network8get_lossERK5Batch", "Network::get_loss"},
	{"_ZN7TrainerI10DataLoaderE3runEv", "Trainer::run"},
	{"_ZN12_GLOBAL__N_15shortEi", "_GLOBAL__N_1::short"},
	{"_ZL4prodPfS_S_.constprop.0", "prod"},
	{"_ZN6SourceclEv", "Source"},
	{"_ZN6LoaderC2Ei", "Loader"},
	{"_ZZN10Prefetcher5startEvENKUlvE_clEv", "Prefetcher::start"},
	{"_ZZ4mainENKUliE_clEi", "main"},
	{"_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_", "getline"},
	{"_ZNSt6vectorIhSaIhEE17_M_default_appendEm", "vector::_M_default_append"},
	{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm",
	 "__cxx11::basic_string::_M_append"},
	{"_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZN6SourceclEvEUlvE_EEEEE6_M_runEv",
	 "thread::_State_impl::_M_run"},
	{"_ZN5EigenI5ArrayIfLin1ELi1ELi0EEE4evalILi5EEEvv", "Eigen::eval"},
	/* literals of enumerations: there are E in their types' names */
	{"_ZN2ck11kernel_convINS_4GridILNS_4KindE1ELi8EEEEEvT_", "ck::kernel_conv"},
	{"_ZN2ck7wrappedILNS_4WrapINS_4GridILNS_4KindE1ELi4EEEE4ModeE1EEEvv", "ck::wrapped"},
	{"_ZN4Run2ILin3EE2goIL4ModE1EEEvv", "Run2::go"},
	{"_ZN3FooIXadL_Z3barvEE3runEv", "Foo"}, /* an E is missing: "run" is an argument */
	{"_ZN3BarI3FooIXadL_Z3bazvEEEE3runEv", "Bar::run"},
	{"_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE",
	 "core::ops::function::FnOnce::call_once::h0123456789abcdef"},
	{"_ZTV10DataLoader", NULL},
	{"_ZN10DataLoader", "DataLoader"},
	{"_ZN99DataLoader4nextEv", NULL},
	{"_ZN3netI", NULL},
	{"_ZN3netID", NULL},
	{"_ZN3FooIDtfp_EE3runEv", "Foo::run"},
	{"_Z", NULL},
	{"_ZN", NULL},
	{"next_batch", NULL},
	{"", NULL},
};

START_TEST(a_mangled_name_tells_whose_function_it_is)
{
	char plain[128] = "as it was";
	bool is_known = tp_cxx_name_demangle(plain, sizeof(plain), names[_i].symbol);
	ck_assert_str_eq(plain, names[_i].plain ? names[_i].plain : "as it was");
	ck_assert_int_eq(is_known, names[_i].plain != NULL);
}
END_TEST

/* Each shape alone would take the square of its length, or the stack. */
START_TEST(symbols_of_100_kb_end_soon)
{
	static const char *const shapes[] = {"T", "LN", "LNI", "L1", "I",  "S",
					     "E", "A",  "9",   "1a", "L_Z"};
	enum { SIZE = 100000 };
	char *symbol = malloc(SIZE + 1);
	char plain[16];
	ck_assert_ptr_nonnull(symbol);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t k = 0; k < SIZE; k++)
			symbol[k] = shapes[i][k % strlen(shapes[i])];
		memcpy(symbol, "_ZN1aI", 6);
		symbol[SIZE] = '\0';
		for (int round = 0; round < 20; round++)
			tp_cxx_name_demangle(plain, sizeof(plain), symbol);
	}
	free(symbol);
}
END_TEST

START_TEST(long_names_are_cut)
{
	char plain[8];
	ck_assert(tp_cxx_name_demangle(plain, sizeof(plain), "_ZN10DataLoader4nextEv"));
	ck_assert_str_eq(plain, "DataLoa");
}
END_TEST

/* Every beginning of every name is read without reading behind it (for the sanitizers). */
START_TEST(cut_symbols_are_no_danger)
{
	for (size_t length = 0; length < strlen(names[_i].symbol); length++) {
		char plain[16];
		char *cut = strndup(names[_i].symbol, length);
		(void)tp_cxx_name_demangle(plain, sizeof(plain), cut);
		free(cut);
	}
}
END_TEST

Suite *suite_base_cxx_name(void);
Suite *suite_base_cxx_name(void)
{
	Suite *suite = suite_create("base/cxxname");
	TCase *tc = tcase_create("names");
	int n = (int)(sizeof(names) / sizeof(names[0]));
	tcase_add_loop_test(tc, a_mangled_name_tells_whose_function_it_is, 0, n);
	tcase_add_test(tc, symbols_of_100_kb_end_soon);
	tcase_add_test(tc, long_names_are_cut);
	tcase_add_loop_test(tc, cut_symbols_are_no_danger, 0, n);
	suite_add_tcase(suite, tc);
	return suite;
}
