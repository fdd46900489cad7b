# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The last line of doctor is the remedy in this environment: how to start, or the command that
# grants the permission.
. "$CASES/run.inc"
without_perf true || exit 77
line() {
	"$@" >text
	status=$?
	tail -1 text
	said $status
}
if trainprof doctor --json | grep -q '"start": ".*\(sysctl\|cap-add\)'; then
	echo "sources of stacks are refused here" >&2
	exit 77
fi
line env SLURM_JOB_ID=1 trainprof doctor
line env KUBERNETES_SERVICE_HOST=10.0.0.1 trainprof doctor
line env JPY_SESSION_NAME=a.ipynb trainprof doctor
line env KUBERNETES_SERVICE_HOST=10.0.0.1 AZUREML_RUN_ID=a trainprof doctor
line env KUBERNETES_SERVICE_HOST=10.0.0.1 SLURM_JOB_ID=1 without_perf trainprof doctor
line env SM_TRAINING_ENV='{}' without_perf trainprof doctor
line env CLOUD_ML_JOB_ID=1 without_perf trainprof doctor
line env APPTAINER_CONTAINER=a.sif without_perf trainprof doctor
KUBERNETES_SERVICE_HOST=10.0.0.1 without_perf trainprof doctor --json | grep '"start"'
