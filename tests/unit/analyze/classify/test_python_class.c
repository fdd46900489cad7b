/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of classifying Python functions by file and name, with the shipped patterns. */
#include "analyze/classify/python_class.h"

#include "analyze/patternfolder.h"
#include "analyze/shippedpatterns.h"

#include "trainprof/base/memory.h"

#define DEBIAN "/usr/lib/python3/dist-packages/"
#define STDLIB "/usr/lib/python3.11/"
#define VENV   "/home/me/v/lib/python3.9/site-packages/"

static const struct {
	const char *path;
	const char *symbol;
	enum tp_phase phase;
	unsigned leaf;
} functions[] = {
	{DEBIAN "torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__",
	 TP_PHASE_DATALOADER, TP_LEAF_INTERPRETER},
	/* before 3.11 there is only the plain name */
	{DEBIAN "torch/utils/data/dataloader.py", "__next__", TP_PHASE_DATALOADER,
	 TP_LEAF_INTERPRETER},
	{VENV "torch/utils/data/_utils/collate.py", "default_collate", TP_PHASE_DATALOADER,
	 TP_LEAF_INTERPRETER},
	{DEBIAN "torch/nn/modules/module.py", "Module._call_impl", TP_PHASE_COMPUTE,
	 TP_LEAF_INTERPRETER},
	{DEBIAN "torch/nn/modules/module.py", "_call_impl", TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{DEBIAN "torch/_tensor.py", "Tensor.backward", TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{DEBIAN "torch/optim/adam.py", "Adam.step", TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	/* recomputing activations is not a checkpoint of the run */
	{DEBIAN "torch/utils/checkpoint.py", "checkpoint", TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{"/home/me/model.py", "Block._gradient_checkpointing_func", TP_PHASE_COMPUTE,
	 TP_LEAF_INTERPRETER},
	{DEBIAN "torch/serialization.py", "save", TP_PHASE_CHECKPOINT, TP_LEAF_INTERPRETER},
	{DEBIAN "torch/serialization.py", "load", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{DEBIAN "torch/distributed/distributed_c10d.py", "all_reduce", TP_PHASE_COMMUNICATION,
	 TP_LEAF_INTERPRETER},
	{DEBIAN "torch/distributed/elastic/agent/server/api.py", "SimpleElasticAgent._invoke_run",
	 TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	/* a wrapped forward pass is still the forward pass */
	{DEBIAN "torch/nn/parallel/distributed.py", "DistributedDataParallel.forward",
	 TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{STDLIB "logging/__init__.py", "Logger.info", TP_PHASE_LOGGING, TP_LEAF_INTERPRETER},
	{DEBIAN "tqdm/std.py", "tqdm.refresh", TP_PHASE_LOGGING, TP_LEAF_INTERPRETER},
	/* its time belongs to the iterator that the bar wraps */
	{DEBIAN "tqdm/std.py", "tqdm.__iter__", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{VENV "torch/_dynamo/convert_frame.py", "ConvertFrame.__call__", TP_PHASE_COMPILE,
	 TP_LEAF_INTERPRETER},
	/* runs compiled code */
	{VENV "torch/_dynamo/eval_frame.py", "_TorchDynamoContext.__call__.<locals>._fn",
	 TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{"<frozen importlib._bootstrap>", "_find_and_load", TP_PHASE_IMPORT, TP_LEAF_INTERPRETER},
	/* transfer of objects, whatever they contain */
	{STDLIB "multiprocessing/connection.py", "Connection._recv", TP_PHASE_NONE, TP_LEAF_PICKLE},
	{STDLIB "queue.py", "Queue.get", TP_PHASE_NONE, TP_LEAF_PICKLE},
	/* names in libraries follow their own domain */
	{STDLIB "random.py", "Random.sample", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{DEBIAN "numpy/core/fromnumeric.py", "load_data", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	/* names in trainers are meaningful: evaluation and checkpoints have no files of their own
	 * there */
	{VENV "transformers/trainer.py", "Trainer.evaluate", TP_PHASE_EVALUATION,
	 TP_LEAF_INTERPRETER},
	{VENV "transformers/trainer.py", "Trainer._save_checkpoint", TP_PHASE_CHECKPOINT,
	 TP_LEAF_INTERPRETER},
	/* the user's own code */
	{"train.py", "get_batch", TP_PHASE_DATALOADER, TP_LEAF_INTERPRETER},
	{"train.py", "Pictures.load_image", TP_PHASE_DATALOADER, TP_LEAF_INTERPRETER},
	{"train.py", "PictureDataset.__getitem__", TP_PHASE_DATALOADER, TP_LEAF_INTERPRETER},
	{"train.py", "evaluate", TP_PHASE_EVALUATION, TP_LEAF_INTERPRETER},
	{"train.py", "main", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{"train.py", "<module>", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{"train.py", "Net.forward", TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{"train.py", "train_and_evaluate", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{"train.py", "load_data_and_train", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	/* C functions of these names would read and multiply; here only inner frames do */
	{"train.py", "read", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
	{"train.py", "matmul", TP_PHASE_COMPUTE, TP_LEAF_INTERPRETER},
	{"", "", TP_PHASE_NONE, TP_LEAF_INTERPRETER},
};

START_TEST(files_and_names_say_the_phase)
{
	struct tp_frame_class class =
		tp_python_class_find(patterns, functions[_i].path, functions[_i].symbol);
	ck_assert_msg(class.phase == functions[_i].phase, "%s %s: %s", functions[_i].path,
		      functions[_i].symbol, tp_phase_name(class.phase));
	ck_assert_msg(class.leaf == functions[_i].leaf, "%s: leaf %u", functions[_i].symbol,
		      class.leaf);
}
END_TEST

START_TEST(workers_begin_at_their_main_loop)
{
	struct tp_frame_class worker =
		tp_python_class_find(patterns, VENV "torch/utils/data/_utils/worker.py",
				     "_worker_loop");
	ck_assert(worker.is_entry && worker.is_loader_root && !worker.is_helper_root);
	struct tp_frame_class any =
		tp_python_class_find(patterns, STDLIB "multiprocessing/process.py",
				     "BaseProcess._bootstrap");
	ck_assert(any.is_entry && !any.is_loader_root);
	struct tp_frame_class feeder =
		tp_python_class_find(patterns, STDLIB "multiprocessing/queues.py", "_feed");
	ck_assert(!feeder.is_entry && !feeder.is_loader_root && feeder.is_helper_root);
	struct tp_frame_class taker =
		tp_python_class_find(patterns, STDLIB "multiprocessing/pool.py",
				     "Pool._handle_results");
	ck_assert(!taker.is_entry && !taker.is_loader_root && taker.is_helper_root);
	struct tp_frame_class worker_of_pool =
		tp_python_class_find(patterns, STDLIB "multiprocessing/pool.py", "worker");
	ck_assert(!worker_of_pool.is_helper_root);
}
END_TEST

START_TEST(the_users_code_is_distinguished_from_libraries)
{
	static const char *const own[] = {"train.py", "/home/me/lib/train.py", "<stdin>",
					  "<string>", "/tmp/ipykernel_1/2.py"};
	static const char *const foreign[] = {DEBIAN "torch/_tensor.py", VENV "mine/train.py",
					      STDLIB "queue.py", "<frozen runpy>"};
	for (size_t i = 0; i < TP_ARRAY_LEN(own); i++)
		ck_assert_msg(!tp_python_class_find(patterns, own[i], "f").is_library, "%s",
			      own[i]);
	for (size_t i = 0; i < TP_ARRAY_LEN(foreign); i++)
		ck_assert_msg(tp_python_class_find(patterns, foreign[i], "f").is_library, "%s",
			      foreign[i]);
}
END_TEST

START_TEST(a_users_row_in_front_has_the_say)
{
	struct tp_patterns *own;
	struct tp_error err;
	ck_assert_int_eq(load_rows(&own,
				   "{\"source\": [\"*/mine/feed.py\"], \"phase\": \"dataloader\", "
				   "\"examples\": [\"/x/mine/feed.py:pull\"]},\n"
				   "{\"symbol\": [\"*pull*\"], \"phase\": \"host\"}",
				   &err),
			 TP_OK);
	ck_assert_int_eq(tp_python_class_find(own, "/x/mine/feed.py", "pull").phase,
			 TP_PHASE_DATALOADER);
	ck_assert_int_eq(tp_python_class_find(own, "/x/mine/step.py", "pull").phase, TP_PHASE_HOST);
	ck_assert_int_eq(tp_patterns_check(own, &err), TP_OK);
	tp_patterns_free(own);
}
END_TEST

START_TEST(rows_that_make_no_sense_are_refused)
{
	assert_refused("{\"source\": \"x.py\", \"phase\": \"none\"}", ":2: not a list: 'source'");
	assert_refused("{\"source\": [\"x.py\"], \"phase\": \"dataloading\"}",
		       ":2: unknown word 'dataloading'; nearest: dataloader");
	assert_refused("{\"source\": [\"x.py\"], \"entry\": 1}",
		       ":2: neither true nor false: 'entry'");
	assert_refused("{\"source\": [\"x.py\"], \"module\": [\"y\"]}", ":2: unknown key 'module'");
}
END_TEST

START_TEST(names_of_any_length_are_read)
{
	static char path[5000];
	static char symbol[5000];
	memset(path, 'p', sizeof(path) - 1);
	memset(symbol, 's', sizeof(symbol) - 1);
	ck_assert_int_eq(tp_python_class_find(patterns, path, symbol).phase, TP_PHASE_NONE);
	ck_assert_int_eq(tp_python_class_find(patterns, "\xff\xfe", ".").phase, TP_PHASE_NONE);
}
END_TEST

Suite *suite_analyze_python_class(void);
Suite *suite_analyze_python_class(void)
{
	Suite *suite = suite_create("analyze/pythonclass");
	TCase *tc = tcase_create("pythonclass");
	tcase_add_checked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, files_and_names_say_the_phase, 0, TP_ARRAY_LEN(functions));
	tcase_add_test(tc, workers_begin_at_their_main_loop);
	tcase_add_test(tc, the_users_code_is_distinguished_from_libraries);
	tcase_add_test(tc, a_users_row_in_front_has_the_say);
	tcase_add_test(tc, rows_that_make_no_sense_are_refused);
	tcase_add_test(tc, names_of_any_length_are_read);
	suite_add_tcase(suite, tc);
	return suite;
}
