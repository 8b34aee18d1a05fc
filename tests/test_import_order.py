"""The order of the rooms (ARCHITECTURE.md): nothing later is imported by anything earlier."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "dragoman"
LEVELS = [
    {"errors"},
    {"machine"},
    {"settings"},
    {"native", "text", "corpora"},
    {"content"},
    {"model", "decoding", "data"},
    {"bundle", "alignment", "memories"},
    {"runtime"},
    {"translator", "doctor"},
    {"inspection", "evaluation", "documents"},
    {"training", "exchange", "bulk"},
    {"experiments", "server", "imports"},
    {"__init__", "__main__", "cli", "demo"},
]
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
PROGRAM = len(LEVELS) - 1


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imports(module: str) -> set[str]:
    """Modules of the package that `module` imports, wherever in its text."""
    path, found = MODULES[module], set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = ["dragoman", *path.relative_to(SOURCE).parent.parts]
            prefix = package[: len(package) + 1 - node.level] if node.level else []
            origin = ".".join([*prefix, *([node.module] if node.module else [])])
            submodules = {f"{origin}.{alias.name}" for alias in node.names}
            found |= {name if name.removeprefix("dragoman.") in MODULES else origin for name in submodules}
    ours = {name for name in found if name.split(".")[0] == "dragoman"}
    return {name.removeprefix("dragoman.") if name != "dragoman" else "__init__" for name in ours}


def may_import(room: str, other: str) -> bool:
    if room == other or LEVEL[other] < LEVEL[room]:
        return True
    # The errors are everybody's; command line, demo and public names are one program.
    return other == "errors" or LEVEL[room] == LEVEL[other] == PROGRAM


def test_every_room_has_a_level() -> None:
    rooms = {name.split(".")[0] for name in MODULES}
    assert rooms <= LEVEL.keys(), "give these rooms a level here and in ARCHITECTURE.md"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_lower_levels(module: str) -> None:
    room = module.split(".")[0]
    assert not [name for name in imports(module) if not may_import(room, name.split(".")[0])]


def test_no_import_cycle() -> None:
    TopologicalSorter({module: imports(module) - {module} for module in MODULES}).prepare()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_explains_itself_and_unpickles_nothing(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the first line says what the module owns"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            assert not names & {"pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
        elif isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in {"torch.load", "torch.save"}
        elif isinstance(node, ast.keyword):
            assert node.arg != "allow_pickle"


@pytest.mark.parametrize(
    "program",
    [
        "import dragoman",
        "import sys; sys.argv = ['dragoman', '--help']; from dragoman.cli import main; main()",
        "import dragoman; dragoman.Translator",
    ],
)
def test_torch_is_not_imported_before_it_is_needed(program: str) -> None:
    check = f"import sys\ntry: exec({program!r})\nfinally: assert 'torch' not in sys.modules, 'torch was imported'"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_waits_for_no_library_but_the_one_of_the_commands() -> None:
    """Commands import the rest when they run; pydantic alone takes as long as all of --help."""
    program = "import sys; sys.argv = ['dragoman', '--help']; from dragoman.cli import main; main()"
    late = {"torch", "numpy", "pydantic", "rich", "yaml", "sentencepiece", "sacrebleu"}
    check = f"import sys\ntry: exec({program!r})\nfinally: assert not {late!r} & sys.modules.keys()"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
