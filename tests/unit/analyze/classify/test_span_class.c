/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of classifying spans on threads by name. */
#include "analyze/classify/span_class.h"

#include "analyze/patternfolder.h"
#include "analyze/shippedpatterns.h"

static const struct {
	enum tp_span_kind kind;
	const char *name;
	enum tp_span_sense sense;
} spans[] = {
	/* steps, of profilers and of users; a number is required */
	{TP_SPAN_ANNOTATION, "ProfilerStep#1009", TP_SENSE_STEP},
	{TP_SPAN_OPERATOR, "ProfilerStep#5", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "Step #17", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "step 17", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "iteration 4", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "iteration4", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "iter_0004", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "train_step", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "[pl][profile]run_training_batch", TP_SENSE_STEP},
	{TP_SPAN_ANNOTATION, "PL run_training_batch", TP_SENSE_STEP},
	/* names that only look like steps */
	{TP_SPAN_ANNOTATION, "ProfilerStep", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "step", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "step1", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "step 3 of the solver", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "steps 1-4", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "train_step_forward", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "iterate", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "epoch 3", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "optimizer step 3", TP_SENSE_OPTIMIZER},
	{TP_SPAN_ANNOTATION, "eval step 3", TP_SENSE_EVALUATION},
	{TP_SPAN_ANNOTATION, "eval_step_3", TP_SENSE_EVALUATION},
	{TP_SPAN_ANNOTATION, "[pl][profile][Strategy]DDPStrategy.training_step", TP_SENSE_FORWARD},
	{TP_SPAN_ANNOTATION, "DeepSpeedEngine.step", TP_SENSE_OPTIMIZER},
	{TP_SPAN_PYTHON, "train.py(20): train_step", TP_SENSE_NONE},
	{TP_SPAN_CALL, "step 3", TP_SENSE_NONE},
	/* the loader */
	{TP_SPAN_OPERATOR, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	 TP_SENSE_DATALOADER},
	{TP_SPAN_ANNOTATION, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
	 TP_SENSE_DATALOADER},
	{TP_SPAN_ANNOTATION, "enumerate(DataPipe)#ShufflerIterDataPipe", TP_SENSE_DATALOADER},
	{TP_SPAN_PYTHON, "torch/utils/data/dataloader.py(521): __next__", TP_SENSE_DATALOADER},
	{TP_SPAN_PYTHON, "torch/utils/data/dataloader.py(344): __len__", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "dataloader", TP_SENSE_DATALOADER},
	{TP_SPAN_ANNOTATION, "data_loading", TP_SENSE_DATALOADER},
	{TP_SPAN_ANNOTATION, "fetch_batch", TP_SENSE_DATALOADER},
	{TP_SPAN_ANNOTATION, "data parallel", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "batch_norm", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "load weights", TP_SENSE_NONE},
	/* calls, with the versions of their entry points */
	{TP_SPAN_CALL, "cudaMalloc", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cudaMalloc_v3020", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cudaMallocFromPoolAsync_ptsz", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cudaFree", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cudaFreeHost", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cudaHostAlloc_v3020", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "hipMalloc", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "hipHostMalloc", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemAlloc_v2", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemCreate", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemMap", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemUnmap", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemSetAccess", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemAddressReserve", TP_SENSE_ALLOC},
	{TP_SPAN_CALL, "cuMemsetD32Async", TP_SENSE_COPY},
	{TP_SPAN_CALL, "cuMemcpyDtoHAsync_v2", TP_SENSE_COPY},
	{TP_SPAN_CALL, "cuMemGetInfo_v2", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cudaMemGetInfo", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cudaMemcpyAsync_v3020", TP_SENSE_COPY},
	{TP_SPAN_CALL, "cudaMemcpy", TP_SENSE_COPY},
	{TP_SPAN_CALL, "hipMemcpyWithStream", TP_SENSE_COPY},
	{TP_SPAN_CALL, "cudaDeviceSynchronize", TP_SENSE_SYNC},
	{TP_SPAN_CALL, "cudaStreamSynchronize_v3020", TP_SENSE_SYNC},
	{TP_SPAN_CALL, "hipStreamSynchronize", TP_SENSE_SYNC},
	{TP_SPAN_CALL, "cuCtxSynchronize", TP_SENSE_SYNC},
	{TP_SPAN_CALL, "cudaStreamWaitEvent", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cudaEventQuery", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cudaLaunchKernel", TP_SENSE_LAUNCH},
	{TP_SPAN_CALL, "cudaLaunchKernelExC_v11060", TP_SENSE_LAUNCH},
	{TP_SPAN_CALL, "cudaLaunchHostFunc", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cuLaunchKernel", TP_SENSE_LAUNCH},
	{TP_SPAN_CALL, "hipExtModuleLaunchKernel", TP_SENSE_LAUNCH},
	{TP_SPAN_CALL, "cudaGraphLaunch", TP_SENSE_LAUNCH},
	{TP_SPAN_CALL, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cuModuleGetLoadingMode", TP_SENSE_NONE},
	{TP_SPAN_CALL, "cuModuleLoadData", TP_SENSE_COMPILE},
	{TP_SPAN_OPERATOR, "cudaMalloc", TP_SENSE_NONE},
	/* operators that wait, also as the ranges of emit_nvtx */
	{TP_SPAN_OPERATOR, "aten::item", TP_SENSE_SYNC},
	{TP_SPAN_ANNOTATION, "aten::_local_scalar_dense, op_id = 317177", TP_SENSE_SYNC},
	{TP_SPAN_OPERATOR, "aten::itemsize", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "aten::to, op_id = 317177", TP_SENSE_NONE},
	/* libraries that move data, and those that delegate it */
	{TP_SPAN_ANNOTATION, "gloo:all_reduce", TP_SENSE_COMMUNICATION},
	{TP_SPAN_ANNOTATION, "mpi:all_gather", TP_SENSE_COMMUNICATION},
	{TP_SPAN_ANNOTATION, "nccl:all_reduce", TP_SENSE_COLLECTIVE},
	{TP_SPAN_OPERATOR, "c10d::allreduce_", TP_SENSE_COLLECTIVE},
	{TP_SPAN_OPERATOR, "record_param_comms", TP_SENSE_COLLECTIVE},
	{TP_SPAN_ANNOTATION, "ncclAllReduce", TP_SENSE_COLLECTIVE},
	/* saving is a checkpoint, recomputing is not */
	{TP_SPAN_ANNOTATION, "save_checkpoint", TP_SENSE_CHECKPOINT},
	{TP_SPAN_ANNOTATION, "checkpoint_save", TP_SENSE_CHECKPOINT},
	{TP_SPAN_PYTHON, "torch/serialization.py(629): save", TP_SENSE_CHECKPOINT},
	{TP_SPAN_OPERATOR, "CheckpointFunction", TP_SENSE_NONE},
	{TP_SPAN_OPERATOR, "CheckpointFunctionBackward", TP_SENSE_NONE},
	{TP_SPAN_PYTHON, "torch/utils/checkpoint.py(327): checkpoint", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "activation checkpoint save", TP_SENSE_NONE},
	/* compiling, and running compiled code */
	{TP_SPAN_ANNOTATION, "compile_inner (dynamo_timed)", TP_SENSE_COMPILE},
	{TP_SPAN_OPERATOR, "CompiledFunction", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "Torch-Compiled Region: 0/0", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "TorchDynamo Cache Lookup", TP_SENSE_NONE},
	/* other names */
	{TP_SPAN_ANNOTATION, "gc", TP_SENSE_GC},
	{TP_SPAN_ANNOTATION, "gcn_forward", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "logging", TP_SENSE_LOGGING},
	{TP_SPAN_OPERATOR, "aten::log", TP_SENSE_NONE},
	{TP_SPAN_OPERATOR, "aten::log_softmax", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "validation", TP_SENSE_EVALUATION},
	{TP_SPAN_ANNOTATION, "forward", TP_SENSE_FORWARD},
	{TP_SPAN_ANNOTATION, "DistributedDataParallel.forward", TP_SENSE_FORWARD},
	{TP_SPAN_OPERATOR, "aten::cudnn_convolution_backward", TP_SENSE_NONE},
	{TP_SPAN_OPERATOR, "autograd::engine::evaluate_function: MulBackward0", TP_SENSE_BACKWARD},
	{TP_SPAN_OPERATOR, "MulBackward0", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "Optimizer.step#SGD.step", TP_SENSE_OPTIMIZER},
	{TP_SPAN_ANNOTATION, "Optimizer.zero_grad#SGD.zero_grad", TP_SENSE_NONE},
	{TP_SPAN_OPERATOR, "aten::add", TP_SENSE_NONE},
	{TP_SPAN_OS_CALL, "ioctl", TP_SENSE_NONE},
	{TP_SPAN_ANNOTATION, "", TP_SENSE_NONE},
};

START_TEST(names_of_spans_have_their_sense)
{
	enum tp_span_sense sense = tp_span_sense_find(patterns, spans[_i].kind, spans[_i].name);
	ck_assert_msg(sense == spans[_i].sense, "%s: %s", spans[_i].name,
		      tp_span_sense_name(sense));
}
END_TEST

START_TEST(a_name_of_100_kb_has_no_sense)
{
	enum { SIZE = 100000 };
	char *name = malloc(SIZE + 1);
	ck_assert_ptr_nonnull(name);
	memset(name, '7', SIZE);
	name[SIZE] = '\0';
	for (unsigned kind = 0; kind < TP_N_SPAN_KINDS; kind++)
		ck_assert_int_eq(tp_span_sense_find(patterns, (enum tp_span_kind)kind, name),
				 TP_SENSE_NONE);
	for (size_t i = 0; i < SIZE; i += 2)
		name[i] = ' ';
	ck_assert_int_eq(tp_span_sense_find(patterns, TP_SPAN_CALL, name), TP_SENSE_NONE);
	free(name);
}
END_TEST

START_TEST(rows_of_spans_with_mistakes_are_refused)
{
	assert_refused("{\"span\": [\"x\"]}", ":2: a row of spans without 'sense'");
	assert_refused("{\"sense\": \"step\"}", ":2: a row of spans without 'span'");
	assert_refused("{\"span\": [\"x\"],\n\"sense\": \"stepp\"}",
		       ":3: unknown word 'stepp'; nearest: step");
	assert_refused("{\"span\": [\"x\"], \"sense\": \"step\", \"kinds\": []}",
		       ":2: unknown key 'kinds'; nearest: kind");
	assert_refused("{\"span\": [\"x\"], \"sense\": \"step\",\n\"kind\": [\"operators\"]}",
		       ":3: unknown word 'operators'; nearest: operator");
	assert_refused("{\"span\": [\"x\"], \"sense\": \"step\", \"kind\": \"call\"}",
		       ":2: not a list: 'kind'");
	assert_refused("{\"span\": \"x\", \"sense\": \"step\"}", ":2: not a list: 'span'");
	assert_refused("{\"span\": [1], \"sense\": \"step\"}", ":2: not a string in 'span'");
}
END_TEST

START_TEST(senses_have_names)
{
	ck_assert_str_eq(tp_span_sense_name(TP_SENSE_NONE), "none");
	ck_assert_str_eq(tp_span_sense_name(TP_SENSE_OPTIMIZER), "optimizer");
	ck_assert_str_eq(tp_span_sense_name(TP_N_SENSES), "none");
}
END_TEST

Suite *suite_analyze_span_class(void);
Suite *suite_analyze_span_class(void)
{
	Suite *suite = suite_create("analyze/spanclass");
	TCase *tc = tcase_create("spanclass");
	tcase_add_checked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, names_of_spans_have_their_sense, 0,
			    sizeof(spans) / sizeof(spans[0]));
	tcase_add_test(tc, a_name_of_100_kb_has_no_sense);
	tcase_add_test(tc, rows_of_spans_with_mistakes_are_refused);
	tcase_add_test(tc, senses_have_names);
	suite_add_tcase(suite, tc);
	return suite;
}
