"""The shape of the house: who may import whom, what the core must not know, how long a file may be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ripple"

# From the ground up: a room may use those below it, and itself where it is one whole.
ROOMS = [
    {"errors"},
    {"types"},
    {"config"},
    {"_columns"},
    {"_engine_options", "_row_ids"},
    {"_engine"},
    {"language", "models", "_arguments", "_progress"},
    {"prompts"},
    {"_record"},
    {"store"},
    {"write", "read"},
    {"_embedding", "_window_queue"},
    {"_extractor"},
    {"_namespace"},
    {"_asking"},
    {"_opened"},
    {"memory"},
    {"async_memory"},
    {""},  # ripple/__init__.py
    {"evaluation"},
    {"_cli_output", "_cli_model", "_cli_store"},
    {"_cli_answers"},
    {"_cli_eval", "_cli_import", "_cli_windows", "demo"},
    {"cli"},
]
LEVELS = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
LINES_OF_PYTHON, LINES_OF_CPP, LINES_OF_FUNCTION = 500, 400, 60


def sources(top: Path, *suffixes: str) -> list[Path]:
    return sorted(path for path in top.rglob("*") if path.suffix in suffixes)


MODULES = sources(PACKAGE, ".py")


def room_of(module: str) -> str:
    """Return the room of a dotted module: "ripple.write.ingest" stands in "write"."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    """Return the dotted names that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            if base == "ripple":  # "from ripple import errors" means a module, "import Memory" the package
                known = {a.name: f"ripple.{a.name}" for a in node.names if a.name in LEVELS or a.name == "_core"}
                names |= {known.get(alias.name, base) for alias in node.names}
            else:
                names.add(base)
    return names


def test_rooms_are_all_known() -> None:
    assert {room_of(module_of(path)) for path in MODULES} <= set(LEVELS)


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(module_of(path))
    for name in imported(path):
        if name.split(".")[0] != "ripple" or name.startswith("ripple._core"):
            continue
        other = room_of(name)
        assert LEVELS[other] < LEVELS[room] or other == room, f"{module_of(path)} imports {name}"


def test_only_the_engine_imports_the_core() -> None:
    importers = {module_of(path) for path in MODULES if any(n.startswith("ripple._core") for n in imported(path))}
    assert importers == {"ripple._engine", "ripple._engine_options"}


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    heavy = {"openai", "onnxruntime", "tokenizers", "rich", "typer", "pyroaring", "scipy", "networkx"}
    top = {
        (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    allowed = {"typer", "rich"} if room_of(module_of(path)).startswith(("cli", "_cli_", "demo")) else set()
    assert top & heavy <= allowed


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_stored_text_is_never_run(path: Path) -> None:
    names = imported(path)
    assert not {name.split(".")[0] for name in names} & {"pickle", "marshal", "shelve", "dill"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec", "compile"), f"line {node.lineno}"


@pytest.mark.parametrize("path", [*MODULES, *sources(ROOT / "tests", ".py")], ids=module_of)
def test_python_file_is_not_too_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(PACKAGE):
        assert len(text.splitlines()) <= LINES_OF_PYTHON
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            first = body[0].lineno if body else node.lineno
            assert (node.end_lineno or 0) - first < LINES_OF_FUNCTION, f"{node.name} at line {node.lineno}"


@pytest.mark.parametrize("path", sources(ROOT / "cpp", ".hpp", ".cpp"), ids=lambda path: path.name)
def test_cpp_file_is_not_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_OF_CPP


@pytest.mark.parametrize(
    "path",
    [path for folder in ("include", "src", "tests") for path in sources(ROOT / "cpp" / folder, ".hpp", ".cpp", ".inc")],
    ids=lambda path: path.name,
)
def test_core_knows_no_python(path: Path) -> None:
    included = re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert not [name for name in included if re.search(r"python|pybind|numpy|bindings", name, re.IGNORECASE)]
