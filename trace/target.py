"""From the argument of the command line to the module that is run."""

import ast
import os
import re
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from .errors import UsageError

NAMES = ("trace", "lecture_trace")
"""What this package is called: in the repository, and installed."""
PACKAGE = Path(__file__).resolve().parent
IS_INSTALLED = (PACKAGE / "viewer").is_dir()
VIEWER = (PACKAGE if IS_INSTALLED else PACKAGE.parent) / "viewer"
"""Installed, the viewer lies in the package; in the repository, beside it."""

_STANDARD_LIBRARY = Path(os.__file__).resolve().parent
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class Target:
    """A lecture."""

    module: str
    """Its full module name."""
    root: Path
    """The folder that has to be on `sys.path` to import it."""
    folder: Path
    """The folder whose files are traced."""


def lectures_of(argument: str) -> list[str]:
    """Return the lectures that an argument names: of a folder all files in it that have a `main()`.

    Files whose names begin with `_`, and tests, are none. Raises UsageError where there is none.
    """
    folder = Path(argument)
    is_package = argument.isidentifier() and (folder / "__init__.py").exists()
    if argument.endswith(".py") or not folder.is_dir() or is_package:
        return [argument]
    if _has_main(folder / "main.py") and (folder / "__init__.py").exists():
        return [str(folder / "main.py")]
    found = [str(file) for file in sorted(folder.glob("[!_]*.py")) if _is_lecture(file)]
    if not found:
        raise UsageError(f"{folder} is a folder without lectures: no file in it has a main().")
    return found


def _is_lecture(file: Path) -> bool:
    is_test = file.name == "conftest.py" or file.name.startswith("test_")
    return not is_test and file.name.isprintable() and _has_main(file)


def _has_main(file: Path) -> bool:
    """Tell whether a file defines or imports `main`. What is no Python may be meant to."""
    try:
        tree = ast.parse(file.read_bytes())
    except OSError:
        return False
    except (SyntaxError, ValueError):  # said when it is run
        return True
    return any("main" in _names_defined_by(node) for node in tree.body)


def _names_defined_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    return []


def find_target(argument: str) -> Target:
    """Find a lecture by module name or by path of a `.py` file. Raises UsageError."""
    is_name = all(part.isidentifier() for part in argument.split("."))
    is_path = argument.endswith(".py") or "/" in argument or "\\" in argument
    if is_path or (Path(argument).is_dir() and not is_name):
        target = _from_path(Path(argument))
    else:
        target = _from_name(argument)
    _refuse_other_torch(target.root)
    return target


def _from_path(path: Path) -> Target:
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give the file in it that has a main().")
    if not path.is_file():
        raise UsageError(f"there is no file {path}: give a lecture's path or module name.")
    _require_name(path)
    file = path.resolve()
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    parts = file.relative_to(root).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    _refuse_taken_name(module.partition(".")[0], root, path)
    return Target(module, root, _package_folder(module, root))


def file_of(target: Target) -> Path:
    """Return the source file of a lecture."""
    place = target.root.joinpath(*target.module.split("."))
    package = place / "__init__.py"
    return package if package.is_file() else place.with_name(f"{place.name}.py")


def is_own(file: Path, folder: Path) -> bool:
    """Tell whether a file is a lecture's own: it lies in or below its folder, and not in a virtual
    environment there."""
    if folder not in file.parents or _STANDARD_LIBRARY in file.parents:
        return False
    return not _INSTALLED.intersection(file.relative_to(folder).parts)


def require_importable(path: Path) -> None:
    """Raise UsageError unless a file of this name can be a lecture by itself."""
    _require_name(path)
    if not path.stem.isidentifier():
        raise UsageError(
            f"{path} cannot be imported by others: name the file like a Python identifier, such "
            "as views.py."
        )
    if _is_taken(path.stem):
        raise UsageError(_taken(path))


def _require_name(path: Path) -> None:
    """Python imports by any name without a dot, though no program can spell 01_intro."""
    if not str(path).isprintable():  # undecodable bytes: Python was told to do without UTF-8
        raise UsageError(f"{path} is no name in this locale: set PYTHONUTF8=1.")
    if path.suffix != ".py" or not re.fullmatch(r"[\w-]+", path.stem):
        raise UsageError(
            f"{path} cannot be imported: name the file like a Python identifier, such as views.py."
        )


def _from_name(name: str) -> Target:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{name} is not a module name: write it as lecture.main.")
    if _is_taken(name.partition(".")[0]):
        raise UsageError(f"{name} belongs to Python or to the tracer: give a lecture's name.")
    file = _file_of(name)
    if file is None:
        raise UsageError(
            f"there is no module {name} in {_shown(Path.cwd())}: give its name as Python imports "
            "it from here, or the path of its file."
        )
    if file.suffix != ".py":
        raise UsageError(f"{name} is not written in Python: it cannot be traced.")
    root = file.parents[name.count(".") + (file.name == "__init__.py")]
    return Target(name, root, _package_folder(name, root))


def _file_of(name: str) -> Path | None:
    """Find the file of a module; nothing is imported for that, not even its package."""
    package, *parts = name.split(".")
    spec = PathFinder.find_spec(package, [str(Path.cwd()), *sys.path])
    if spec is None:
        return None
    if not parts:
        return Path(spec.origin).resolve() if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        place = Path(folder, *parts)
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if file.is_file():
                return file.resolve()
    return None


def _package_folder(module: str, root: Path) -> Path:
    """Return the folder of the top-level package, or `root` for a single file."""
    package = root / module.partition(".")[0]
    return package if package.is_dir() else root


def _is_taken(name: str) -> bool:
    return name in sys.stdlib_module_names or name in (*NAMES, str(__package__))


def _refuse_taken_name(name: str, root: Path, path: Path) -> None:
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if _is_taken(name) or (loaded and root not in Path(loaded).resolve().parents):
        raise UsageError(_taken(path))


def _refuse_other_torch(root: Path) -> None:
    """Raise UsageError where `import torch` would find a file of the author's."""
    if (root / "torch.py").is_file():
        raise UsageError(f"{_shown(root)} has a torch.py, which hides PyTorch: rename that file.")


def _taken(path: Path) -> str:
    return f"{path} has the name of a module Python already uses: rename the file."


def _shown(folder: Path) -> str:
    return f"the folder {folder.name}" if folder.name else "this folder"
