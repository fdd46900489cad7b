"""What trainprof and torch.profiler cost real training: GPT-2 small and a ResNet, step by step beside
the same without them (V2)."""
from gpu_phase import (Line, Program, SMALL, measured, take_turns, tell_costs, torch_missing, training_command)

MODELS = {
    "gpt": ["--batch", "1", "--side", "32", "--layers", "1"] if SMALL else ["--batch", "8", "--side", "1024"],
    "resnet": ["--batch", "2", "--side", "32"] if SMALL else ["--batch", "64", "--side", "224"],
}
ROUNDS = 2 if SMALL else 14
STEPS = 1 if SMALL else 10
MOST_PERCENT = 1


def try_model(line, model):
    command = training_command(model, "--turns", *MODELS[model])
    programs = {"plain": Program(command)}
    for name, options in (("without_gpu_trace", []), ("windows", ["--gpu-trace=windows"]),
                          ("continuous", ["--gpu-trace=continuous"])):
        programs[name] = Program(measured(f"{model}-{name}", options, command))
    took = take_turns(programs, ROUNDS, lambda program: program.ask(f"steps {STEPS}")["s"])
    for program in programs.values():
        program.end()
    line.figure(f"step_s.{model}", sum(took["plain"]) / len(took["plain"]) / STEPS, "s")
    tell_costs(line, took, "plain", f"steps_slower.{model}")
    judge(line, model)


def judge(line, model):
    found = next(row for row in line.told["figures"] if row["name"] == f"steps_slower.{model}.windows")
    line.claim(f"{model}: windows cost at most {MOST_PERCENT} %, the whole interval",
               found["high"] <= MOST_PERCENT if not SMALL else None,
               f"{found['value']:.2f} %, {found['low']:.2f} to {found['high']:.2f}")


def main():
    line = Line()
    missing = torch_missing()
    if missing:
        line.skip(missing)
    for model in MODELS:
        try_model(line, model)
        line.tell()


main()
