#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training loops of many shapes, each with a known number of steps.

loops.py SHAPE STEPS MILLISECONDS runs one and prints "steps N"; loops.py --list names all.
"""
import itertools
import sys
import time

SHAPES = {}
N = 0
LENGTH = 0.0
# In a list, because trainprof would find a variable and count that.
done = [0]


def shape(function):
    SHAPES[function.__name__] = function
    return function


def busy(seconds):
    end = time.perf_counter() + seconds
    x = 0
    while time.perf_counter() < end:
        x += 1
    return x


def forward(x):
    return busy(LENGTH * 0.4)


def backward(x):
    return busy(LENGTH * 0.4)


def update(x):
    return busy(LENGTH * 0.2)


def step(x):
    forward(x)
    backward(x)
    update(x)
    done[0] += 1


class LoaderIterator:
    """As PyTorch's."""

    def __init__(self, loader):
        self._loader = loader
        self._num_workers = 0
        self._prefetch_factor = None
        self._pin_memory = False
        self._persistent_workers = False
        self._index_sampler = loader
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self._num_yielded == self._loader.n:
            raise StopIteration
        self._num_yielded += 1
        return self._num_yielded, 0


class Loader:
    def __init__(self, n):
        self.n = n
        self.batch_size = 8

    def __iter__(self):
        return LoaderIterator(self)

    def __len__(self):
        return self.n


@shape
def for_range():
    for i in range(N):
        step(i)


@shape
def for_range_unused():
    for _ in range(N):
        step(0)


@shape
def for_range_from_by():
    for i in range(10, 10 + 3 * N, 3):
        step(i)


@shape
def for_range_down():
    for i in range(N, 0, -1):
        step(i)


@shape
def for_list():
    for x in [object()] * N:
        step(x)


@shape
def for_tuple():
    for x in (None,) * N:
        step(x)


@shape
def for_dict_items():
    for k, v in {i: i for i in range(N)}.items():
        step(v)


@shape
def for_set():
    for k in set(range(N)):
        step(k)


@shape
def for_reversed():
    for x in reversed([None] * N):
        step(x)


@shape
def for_enumerate():
    for i, x in enumerate([None] * N):
        step(x)


@shape
def for_zip():
    for x, y in zip([None] * N, [None] * N):
        step(x)


@shape
def for_map():
    for x in map(str, range(N)):
        step(x)


@shape
def for_filter():
    for x in filter(None, [1] * N):
        step(x)


@shape
def for_islice():
    for x in itertools.islice(itertools.cycle([1, 2, 3]), N):
        step(x)


@shape
def for_count():
    for i in itertools.count():
        if i == N:
            break
        step(i)


@shape
def for_repeat():
    for x in itertools.repeat(None, N):
        step(x)


@shape
def for_chain():
    for x in itertools.chain([None] * N, []):
        step(x)


@shape
def for_bytes():
    for x in b"a" * N:
        step(x)


@shape
def for_str():
    for x in "a" * N:
        step(x)


@shape
def for_loader():
    for x, y in Loader(N):
        step(x)


@shape
def for_enumerate_loader():
    for i, (x, y) in enumerate(Loader(N)):
        step(x)


def generate(n):
    for i in range(n):
        yield i


@shape
def for_generator():
    for x in generate(N):
        step(x)


def progress(iterable):
    n = 0
    for obj in iterable:
        yield obj
        n += 1


@shape
def for_progress_of_loader():
    for x, y in progress(Loader(N)):
        step(x)


@shape
def for_generator_expression():
    for x in (i * i for i in range(N)):
        step(x)


def sequence():
    class Sequence:
        def __getitem__(self, i):
            if i >= N:
                raise IndexError
            return i

    return Sequence()


@shape
def for_getitem():
    for x in sequence():
        step(x)


@shape
def while_counter():
    i = 0
    while i < N:
        step(i)
        i += 1


@shape
def while_next():
    it = iter(Loader(N))
    while True:
        try:
            x, y = next(it)
        except StopIteration:
            break
        step(x)


class Trainer:
    def __init__(self):
        self.step = 0
        self.name = "trainer"

    def train_step(self):
        step(self.step)
        self.step += 1

    def fit(self):
        while self.step < N:
            self.train_step()

    def fit_loader(self):
        for x, y in Loader(N):
            self.train_step()


@shape
def trainer_attribute():
    Trainer().fit()


@shape
def trainer_loader():
    Trainer().fit_loader()


@shape
def many_locals():
    a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = a10 = a11 = a12 = a13 = a14 = a15 = a16 = ""
    b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = b9 = b10 = b11 = b12 = b13 = b14 = b15 = b16 = ""
    index = 0
    while index < N:
        step(index)
        index += 1


def train_one_epoch(n):
    for i, (x, y) in enumerate(Loader(n)):
        step(x)


@shape
def epochs_enumerate():
    for epoch in range(4):
        train_one_epoch(N // 4)


@shape
def epochs_nested():
    for epoch in range(4):
        for x, y in Loader(N // 4):
            step(x)


@shape
def epochs_short():
    for epoch in range(10):
        for i in range(N // 10):
            step(i)


@shape
def with_layers():
    for i in range(N):
        for layer in range(6):
            busy(LENGTH / 6)
        done[0] += 1


@shape
def train_and_validate():
    for epoch in range(4):
        for x, y in Loader(N // 4):
            step(x)
        for x, y in Loader(N // 20):
            forward(x)


@shape
def accumulate():
    for i in range(N):
        forward(i)
        backward(i)
        if (i + 1) % 4 == 0:
            update(i)
        done[0] += 1


@shape
def in_exec():
    exec("for i in range(N):\n    step(i)\n", globals())


@shape
def in_with():
    import contextlib

    with contextlib.suppress(ValueError):
        for i in range(N):
            with contextlib.suppress(ValueError):
                step(i)


@shape
def comprehension():
    [step(i) for i in range(N)]


@shape
def in_asyncio():
    import asyncio

    async def main():
        for i in range(N):
            step(i)
            await asyncio.sleep(0)

    asyncio.run(main())


@shape
def callbacks():
    def on_batch(x):
        step(x)

    def run(callback):
        for x in range(N):
            callback(x)

    run(on_batch)


class SlotTrainer:
    __slots__ = ("step", "name")

    def __init__(self):
        self.step = 0
        self.name = "trainer"

    def fit(self):
        while self.step < N:
            step(self.step)
            self.step += 1


@shape
def trainer_slots():
    SlotTrainer().fit()


class State:
    def __init__(self):
        self.global_step = 0


class StateTrainer:
    """As those of Hugging Face and of Lightning."""

    def __init__(self):
        self.state = State()

    def training_step(self, batch):
        step(batch)
        self.state.global_step += 1

    def train(self):
        for epoch in range(2):
            for i, batch in enumerate(Loader(N // 2)):
                self.training_step(batch)


@shape
def trainer_state():
    StateTrainer().train()


@shape
def while_true_break():
    i = 0
    while True:
        i += 1
        step(i)
        if i >= N:
            break


@shape
def epochs_left_early():
    for epoch in range(4):
        for i, x in enumerate(Loader(N)):
            if i == N // 4:
                break
            step(x)


@shape
def cells():
    """A notebook runs each cell with exec."""
    code = compile("for i in range(n):\n    step(i)\n", "<cell>", "exec")
    for n in (N // 2, N - N // 2):
        exec(code, {"step": step, "n": n})


@shape
def in_thread():
    """The main thread waits for the training thread."""
    import threading

    def train():
        for i in range(N):
            step(i)

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()


@shape
def numpy_like():
    """Indices of a permutation, as in a hand-written loop over batches."""
    order = list(range(0, 8 * N, 8))
    for start in order:
        step(start)


# ---- counters that mislead -----------------------------------------------------------------------


@shape
def counter_jumps():
    """The number of samples so far."""
    samples = 0
    while samples < 37 * N:
        step(samples)
        samples += 37


@shape
def counter_by_four():
    """The first sample of the next batch."""
    start = 0
    while start < 4 * N:
        step(start)
        start += 4


@shape
def counter_wraps():
    """A place in a ring of buffers."""
    slot = 0
    left = N
    while left:
        step(slot)
        slot = (slot + 1) % 7
        left -= 1


@shape
def counter_is_float():
    i = 0.0
    while i < N:
        step(i)
        i += 1


@shape
def counter_is_big():
    i = 1 << 70
    end = i + N
    while i < end:
        step(i)
        i += 1


@shape
def counter_of_epochs_goes_back():
    for epoch in range(5):
        i = 0
        while i < N // 5:
            step(i)
            i += 1


@shape
def loops_left_by_exceptions():
    def train(n):
        for i in range(10 * n):
            if i == n:
                raise StopIteration
            step(i)

    for epoch in range(5):
        try:
            train(N // 5)
        except StopIteration:
            pass


@shape
def loop_object_is_freed():
    """Each round takes its item from an iterator of its own."""
    for i in range(N):
        for x in iter([i]):
            step(x)


@shape
def dictionary_grows():
    """A trainer whose attributes are moved in memory again and again."""

    class Growing:
        pass

    self = Growing()
    self.step = 0
    while self.step < N:
        step(self.step)
        self.step += 1
        setattr(self, "loss_%d" % self.step, 0.0)


@shape
def counted_twice():
    """A variable is written twice in each round."""
    i = 0
    while i < N:
        i = i + 0
        step(i)
        i += 1


def main():
    global N, LENGTH
    if sys.argv[1] == "--list":
        print("\n".join(SHAPES))
        return
    N = int(sys.argv[2])
    LENGTH = float(sys.argv[3]) / 1000
    SHAPES[sys.argv[1]]()
    print("steps", done[0])


if __name__ == "__main__":
    main()
