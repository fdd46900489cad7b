/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the shipped patterns: the classes of functions, files and programs by name. */
#include "analyze/classify/frame_class.h"

#include "analyze/patternfolder.h"
#include "analyze/shippedpatterns.h"

static const struct {
	const char *module;
	const char *symbol;
	enum tp_phase phase;
	unsigned leaf;
} frames[] = {
	{"/home/me/train", "next_batch", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	{"/home/me/train", "fetch_rows", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	{"/home/me/train", "readNextPicture", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	{"/home/me/train", "_ZN10DataLoader4nextEv", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	/* functions with a loader or batch as a parameter are not loaders */
	{"/home/me/train", "_Z3fitI10DataLoaderEfR7NetworkRT_i.isra.0", TP_PHASE_NONE,
	 TP_LEAF_NONE},
	{"/home/me/train", "_Z5trainR10DataLoaderR3Net", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "_ZNK7Network8get_lossERK5Batch", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "_ZN7Network7forwardERK5Batch", TP_PHASE_COMPUTE, TP_LEAF_NONE},
	{"/home/me/train", "_ZN7Trainer8log_stepEi", TP_PHASE_LOGGING, TP_LEAF_NONE},
	{"/home/me/train", "_ZN6Tensor5writeEf", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "_Znwm", TP_PHASE_NONE, TP_LEAF_ALLOC},
	/* printing and parsing by the libraries of C++, Fortran and Rust */
	{"/usr/lib/libstdc++.so.6", "_ZNSo9_M_insertIdEERSoT_", TP_PHASE_NONE, TP_LEAF_WRITE},
	{"/usr/lib/libstdc++.so.6", "_ZNSi10_M_extractIdEERSiRT_", TP_PHASE_NONE, TP_LEAF_DECODE},
	{"/usr/lib/libgfortran.so.5", "_gfortran_transfer_real_write", TP_PHASE_NONE,
	 TP_LEAF_WRITE},
	{"/usr/lib/libgfortran.so.5", "_gfortran_transfer_real", TP_PHASE_NONE, TP_LEAF_DECODE},
	{"/usr/lib/libgfortran.so.5", "", TP_PHASE_NONE, TP_LEAF_WRITE},
	{"/home/me/train", "__state_MOD_save_restart", TP_PHASE_CHECKPOINT, TP_LEAF_NONE},
	{"/home/me/train", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", TP_PHASE_NONE,
	 TP_LEAF_WRITE},
	/* the loop itself, with some of its rarer activities in its name */
	{"/home/me/train", "train_and_evaluate", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "_ZN7Trainer16trainAndValidateEi", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "train_with_checkpoints", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "load_data_and_train", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "evaluate_gradient", TP_PHASE_COMPUTE, TP_LEAF_NONE},
	{"/home/me/train", "evaluate_split_points", TP_PHASE_COMPUTE, TP_LEAF_NONE},
	{"/x/xgboost/lib/libxgboost.so", "xgboost::tree::HistEvaluator::EvaluateSplits",
	 TP_PHASE_COMPUTE, TP_LEAF_MATH},
	{"/home/me/train", "load_training_batch", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	/* rows are gathered from a look-up table, channels are shuffled by networks, and the loss
	 * of logistic regression is called log loss */
	{"/home/me/train", "gather_rows", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "get_row", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "pixel_shuffle", TP_PHASE_COMPUTE, TP_LEAF_NONE},
	{"/home/me/train", "log_loss", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "batchnorm_running_stats", TP_PHASE_NONE, TP_LEAF_MATH},
	{"/home/me/train", "gather_samples", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	/* sampling a picture from a generator is not loading a sample: a verb and a noun are two
	 * words */
	{"/home/me/train", "_ZN9Generator6sampleERK3Mat", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "sample_next_sample", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	{"/home/me/train", "parse_row", TP_PHASE_DATALOADER, TP_LEAF_NONE},
	/* "thread" does not contain the word "read", and spreading rows is not loading */
	{"/home/me/train", "thread_images", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "spread_rows", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "train_epoch", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "decoder_layer", TP_PHASE_NONE, TP_LEAF_NONE},
	{"/home/me/train", "network_forward", TP_PHASE_COMPUTE, TP_LEAF_NONE},
	{"/home/me/train", "all_reduce", TP_PHASE_COMMUNICATION, TP_LEAF_NONE},
	{"/home/me/train", "save_checkpoint", TP_PHASE_CHECKPOINT, TP_LEAF_NONE},
	{"/home/me/train", "log_step", TP_PHASE_LOGGING, TP_LEAF_NONE},
	{"/home/me/train", "update_metrics", TP_PHASE_HOST, TP_LEAF_NONE},
	{"/usr/lib/libopenblas.so.0", "", TP_PHASE_NONE, TP_LEAF_MATH},
	/* autograd evaluates functions; a profiler's record scope is no record of a dataset */
	{"/usr/lib/libtorch_cpu.so.1.13", "_ZN5torch8autograd6Engine17evaluate_functionERSt",
	 TP_PHASE_COMPUTE, TP_LEAF_MATH},
	{"/usr/lib/libtorch_cpu.so", "_ZN2at26getStepCallbacksUnlessEmptyENS_11RecordScopeE",
	 TP_PHASE_COMPUTE, TP_LEAF_MATH},
	{"/usr/lib/libtorch_cpu.so", "_ZN4c10d16ProcessGroupGloo9allreduceERSt6vector",
	 TP_PHASE_COMMUNICATION, TP_LEAF_MATH},
	/* JAX and TensorFlow: the same operations, but their libraries also compile, load and
	 * save */
	{"/venv/jaxlib/libjax_common.so", "_ZN3ynn10dot_loaderEv", TP_PHASE_COMPUTE, TP_LEAF_MATH},
	{"/venv/jaxlib/libjax_common.so", "_ZN4llvm15ScalarEvolution10createSCEVEv",
	 TP_PHASE_COMPILE, TP_LEAF_MATH},
	{"/venv/jaxlib/libjax_common.so", "_ZN3xla3cpu11CpuCompiler10RunBackendEv",
	 TP_PHASE_COMPILE, TP_LEAF_MATH},
	{"/venv/jaxlib/libjax_common.so", "_ZN3tsl12_GLOBAL__N_17PThread8ThreadFnEPv",
	 TP_PHASE_COMPUTE, TP_LEAF_CALLER},
	{"/venv/tensorflow/libtensorflow_framework.so.2",
	 "_ZN10tensorflow8grappler13MetaOptimizer13OptimizeGraphEv", TP_PHASE_COMPILE,
	 TP_LEAF_MATH},
	{"/venv/tensorflow/libtensorflow_cc.so.2",
	 "_ZN10tensorflow4data17IteratorGetNextOp9DoComputeEv", TP_PHASE_DATALOADER, TP_LEAF_MATH},
	{"/venv/tensorflow/libtensorflow_cc.so.2", "_ZN10tensorflow12BundleWriter3AddEv",
	 TP_PHASE_CHECKPOINT, TP_LEAF_MATH},
	/* MPI waits by polling; the C library moves its data */
	{"/usr/lib/libopen-pal.so.40.30.2", "opal_progress", TP_PHASE_COMMUNICATION, TP_LEAF_SPIN},
	{"/usr/lib/openmpi/mca_btl_vader.so", "", TP_PHASE_COMMUNICATION, TP_LEAF_SPIN},
	{"/usr/lib/libmpi.so.40", "PMPI_Allreduce", TP_PHASE_COMMUNICATION, TP_LEAF_NONE},
	{"/x/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so", "", TP_PHASE_COMMUNICATION, TP_LEAF_NONE},
	{"/home/me/train", "evaluate_model", TP_PHASE_EVALUATION, TP_LEAF_NONE},
	{"/usr/lib/libjpeg.so.62", "", TP_PHASE_DATALOADER, TP_LEAF_DECODE},
	{"/usr/lib/libz.so.1", "deflateEnd", TP_PHASE_CHECKPOINT, TP_LEAF_DECODE},
	{"/usr/lib/libz.so.1", "inflate", TP_PHASE_NONE, TP_LEAF_DECODE},
	{"/x/numpy/random/_generator.cpython-311.so", "random_normal", TP_PHASE_NONE, TP_LEAF_MATH},
	{"/usr/lib/libzstd.so.1", "ZSTD_decompressStream", TP_PHASE_NONE, TP_LEAF_DECODE},
	{"/usr/lib/libc.so.6", "__isoc99_sscanf", TP_PHASE_NONE, TP_LEAF_DECODE},
	{"/usr/lib/libstdc++.so.6",
	 "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_", TP_PHASE_NONE,
	 TP_LEAF_DECODE},
	{"/usr/lib/libc.so.6", "memcpy", TP_PHASE_NONE, TP_LEAF_COPY},
	{"/usr/lib/libc.so.6", "", TP_PHASE_NONE, TP_LEAF_CALLER},
	{"/usr/bin/python3.11", "", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{"[kernel]", "asm_exc_page_fault", TP_PHASE_NONE, TP_LEAF_FAULT},
	{"[kernel]", "asm_sysvec_apic_timer_interrupt", TP_PHASE_NONE, TP_LEAF_CALLER},
	{"[kernel]", "whatever", TP_PHASE_NONE, TP_LEAF_KERNEL},
};

START_TEST(names_mean_what_their_words_say)
{
	struct tp_frame_class class =
		tp_patterns_frame(patterns, frames[_i].module, frames[_i].symbol);
	ck_assert_msg(class.phase == frames[_i].phase, "%s: phase %d", frames[_i].symbol,
		      (int)class.phase);
	ck_assert_msg(class.leaf == frames[_i].leaf, "%s: leaf %u", frames[_i].symbol, class.leaf);
}
END_TEST

START_TEST(programs_threads_and_files_have_their_kinds)
{
	ck_assert(tp_patterns_is_launcher(patterns, "/usr/bin/torchrun"));
	ck_assert(!tp_patterns_is_launcher(patterns, "/home/me/train"));
	ck_assert(tp_patterns_is_interpreter(patterns, "/opt/conda/bin/python3.12"));
	ck_assert_int_eq(tp_patterns_thread(patterns, "pt_data_pin"), TP_THREAD_LOADER);
	ck_assert_int_eq(tp_patterns_thread(patterns, "train"), TP_THREAD_OTHER);
	ck_assert_int_eq(tp_patterns_file(patterns, "/x/model.ckpt"), TP_FILE_CHECKPOINT);
	ck_assert_int_eq(tp_patterns_file(patterns, "/x/run.log"), TP_FILE_LOG);
	ck_assert_int_eq(tp_patterns_file(patterns, "/x/0001.jpg"), TP_FILE_DATA);
	ck_assert_int_eq(tp_patterns_mark(patterns, "Forward"), TP_PHASE_COMPUTE);
	ck_assert_int_eq(tp_patterns_mark(patterns, "dataloader"), TP_PHASE_DATALOADER);
}
END_TEST

START_TEST(a_folder_without_patterns_is_refused)
{
	struct tp_patterns *none = NULL;
	struct tp_error err;
	ck_assert_int_eq(tp_patterns_load(&none, "/nonexistent", &err), TP_ABSENT);
	ck_assert_ptr_null(none);
}
END_TEST

START_TEST(rows_with_mistakes_are_refused)
{
	assert_refused("{\"symbl\": [\"x\"]}", ":2: unknown key 'symbl'; nearest: symbol");
	assert_refused("{\"symbol\": [\"x\"],\n\"phase\": \"logs\"}", ":3: unknown word 'logs'");
	assert_refused("{\"symbol\": [\"x\"],\n\"phase\": 1}", ":3: unknown word '(not a string)'");
	assert_refused("{\"symbol\": [\"x\"],\n\"leaf\": \"maths\"}",
		       ":3: unknown word 'maths'; nearest: math");
	assert_refused("{\"symbol\": \"x\"}", ":2: not a list: 'symbol'");
	assert_refused("{\"symbol\": [\n1]}", ":3: not a string in 'symbol'");
	assert_refused("{\"program\": [\"x\"], \"launcher\": \"yes\"}",
		       ":2: neither true nor false: 'launcher'");
	assert_refused("{\"verbs\": [\"get\"], \"phase\": \"dataloader\"}",
		       ":2: missing key 'nouns'");
	assert_refused("{\"nouns\": [\"batch\"], \"phase\": \"dataloader\"}",
		       ":2: missing key 'verbs'");
	assert_refused("[1]", ":2: not an object: 'patterns'");
}
END_TEST

Suite *suite_analyze_patterns(void);
Suite *suite_analyze_patterns(void)
{
	Suite *suite = suite_create("analyze/patterns");
	TCase *tc = tcase_create("patterns");
	tcase_add_checked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, names_mean_what_their_words_say, 0,
			    sizeof(frames) / sizeof(frames[0]));
	tcase_add_test(tc, programs_threads_and_files_have_their_kinds);
	tcase_add_test(tc, a_folder_without_patterns_is_refused);
	tcase_add_test(tc, rows_with_mistakes_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
