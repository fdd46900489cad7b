# SPDX-License-Identifier: Apache-2.0
"""Changes settings of PyTorch's DataLoader at construction, as ``TRAINPROF_LOADER`` says.

``num_workers=2,persistent_workers=1`` sets these arguments of every DataLoader that the program
makes. What was changed, and what was not and why, goes into the file ``TRAINPROF_LOADER_LOG``, one
line each: "changed" or "kept", the place in the program and the text, with tabs in between.
"""

import functools
import importlib.abc
import importlib.util
import inspect
import os
import sys

_TARGET = "torch.utils.data.dataloader"
_SWITCHES = ("persistent_workers", "pin_memory")
_NUMBERS = ("num_workers", "prefetch_factor")
_OF_WORKERS = ("persistent_workers", "prefetch_factor")


def parse(text):
    """Return the settings of TRAINPROF_LOADER; ValueError if there is another one."""
    settings = {}
    for item in text.split(","):
        name, _, value = item.strip().partition("=")
        if name not in _SWITCHES + _NUMBERS:
            raise ValueError("no setting of a loader: " + item)
        settings[name] = bool(int(value)) if name in _SWITCHES else int(value)
    return settings


def hindrance(settings, arguments, iterable):
    """Return why the settings would change what is trained, or None.

    Each worker yields all samples of an iterable dataset, unless the dataset divides them. One that
    was never given two workers may not.
    """
    before = arguments.get("num_workers") or 0
    after = settings.get("num_workers", before)
    if before < 2 <= after and isinstance(arguments.get("dataset"), iterable):
        return "each worker would yield all samples of an iterable dataset"
    return None


def change(settings, arguments, defaults):
    """Change the arguments, and return "name=before->after" of each that differs."""
    workers = settings.get("num_workers", arguments.get("num_workers") or 0)
    said = []
    for name, value in settings.items():
        if name in _OF_WORKERS and not workers:
            continue  # PyTorch refuses them without workers
        before = arguments.get(name, defaults.get(name))
        if before != value:
            arguments[name] = value
            said.append("{}={}->{}".format(name, before, value))
    if "num_workers" in settings and not workers:
        for name in _OF_WORKERS:
            arguments.pop(name, None)
    return said


def unchanged(settings, arguments):
    """Return why no argument was changed."""
    if not arguments.get("num_workers") and not set(_OF_WORKERS).isdisjoint(settings):
        return "a loader without workers cannot have these settings"
    return "it has these settings already"


def _place():
    """Return "FILE:LINE" of the innermost caller that is no library, else of any outside torch."""
    torch = os.path.join(os.path.dirname(sys.modules["torch"].__file__), "")
    frame = sys._getframe(1)
    outside = None
    while frame is not None:
        path = frame.f_code.co_filename
        if path != __file__ and not path.startswith(torch):
            place = "{}:{}".format(path, frame.f_lineno)
            outside = outside or place
            if not {"site-packages", "dist-packages"}.intersection(path.split(os.sep)):
                return place
        frame = frame.f_back
    return outside or "?"


def _note(kind, text):
    path = os.environ.get("TRAINPROF_LOADER_LOG")
    if not path:
        return
    try:
        with open(path, "a") as log:
            log.write("{}\t{}\t{}\n".format(kind, _place(), text))
    except OSError:
        pass  # a full disk must not end the program; without the line nothing counts as tried


def wrap(module, settings):
    """Let the constructor of DataLoader use the settings; subclasses that call it are included."""
    construct = module.DataLoader.__init__
    iterable = getattr(module, "IterableDataset", ())
    signature = inspect.signature(construct)
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}

    @functools.wraps(construct)
    def __init__(self, *args, **kwargs):
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:
            return construct(self, *args, **kwargs)  # PyTorch says what is wrong
        arguments = bound.arguments
        reason = hindrance(settings, arguments, iterable)
        if reason:
            _note("kept", reason)
        else:
            said = change(settings, arguments, defaults)
            _note("changed" if said else "kept", " ".join(said) or unchanged(settings, arguments))
        return construct(*bound.args, **bound.kwargs)

    module.DataLoader.__init__ = __init__


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps the class as soon as the program has imported it; PyTorch is not imported for it."""

    def __init__(self, settings):
        self.settings = settings
        self.is_busy = False

    def find_spec(self, name, path=None, target=None):
        if name != _TARGET or self.is_busy:
            return None
        self.is_busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_busy = False
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                wrap(module, self.settings)
            except Exception as error:  # a PyTorch that is built differently: it stays as it is
                print("trainprof: loader settings: {!r}".format(error), file=sys.stderr)

        spec.loader.exec_module = exec_module
        return spec


def install():
    """Arrange for the settings in the environment, if there are any."""
    text = os.environ.get("TRAINPROF_LOADER")
    if text:
        sys.meta_path.insert(0, _Finder(parse(text)))
