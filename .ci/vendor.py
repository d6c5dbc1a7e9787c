"""Verify the third-party files of the viewer, or fetch them again.

python .ci/vendor.py            compare every file with the checksum in viewer/vendor/vendor.json
python .ci/vendor.py --update   fetch PACKAGES from npm, rewrite the files and vendor.json
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "viewer" / "vendor"
MANIFEST = VENDOR / "vendor.json"
KATEX_FONTS = "dist/fonts/*.woff2"

PACKAGES = {
    # folder: (npm package, version, {path in the package: path in the folder})
    "preact": (
        "preact",
        "11.2.0",
        {"dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "hooks.js", "LICENSE": "LICENSE"},
    ),
    "signals": (
        "@preact/signals",
        "2.11.4",
        {"dist/signals.mjs": "signals.js", "LICENSE": "LICENSE"},
    ),
    "signals-core": (
        "@preact/signals-core",
        "1.14.5",
        {"dist/signals-core.mjs": "signals-core.js", "LICENSE": "LICENSE"},
    ),
    "htm": ("htm", "3.1.1", {"dist/htm.mjs": "htm.js", "LICENSE": "LICENSE"}),
    "marked": ("marked", "18.2.1", {"lib/marked.esm.js": "marked.js", "LICENSE": "LICENSE"}),
    "dompurify": (
        "dompurify",
        "3.4.18",
        {
            "dist/purify.min.js": "purify.min.js",
            "LICENSE": "LICENSE",
            "LICENSE-MPL": "LICENSE-MPL",
        },
    ),
    "katex": (
        "katex",
        "0.19.1",
        {
            "dist/katex.min.js": "katex.min.js",
            "dist/katex.min.css": "katex.min.css",
            KATEX_FONTS: "fonts/",
            "LICENSE": "LICENSE",
        },
    ),
    "vega": ("vega", "6.4.0", {"build/vega.min.js": "vega.min.js", "LICENSE": "LICENSE"}),
    "vega-lite": (
        "vega-lite",
        "6.5.0",
        {"build/vega-lite.min.js": "vega-lite.min.js", "LICENSE": "LICENSE"},
    ),
    "vega-interpreter": (
        "vega-interpreter",
        "2.3.2",
        {"build/vega-interpreter.js": "vega-interpreter.js", "LICENSE": "LICENSE"},
    ),
}


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def problems() -> list[str]:
    """Return a sentence for each vendored file that is not what the manifest says."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    expected = {
        f"{folder}/{name}": digest
        for folder, package in manifest.items()
        for name, digest in package["files"].items()
    }
    present = {
        path.relative_to(VENDOR).as_posix(): path
        for path in sorted(VENDOR.rglob("*"))
        if path.is_file() and path != MANIFEST
    }
    found = [f"{name} is missing" for name in expected if name not in present]
    found += [f"{name} is not in vendor.json" for name in present if name not in expected]
    found += [
        f"{name} differs from its checksum"
        for name, path in present.items()
        if name in expected and checksum(path) != expected[name]
    ]
    return found


def fetch(package: str, version: str, folder: Path) -> Path:
    """Unpack one release from npm into a folder and return where its files lie."""
    specifier = f"{package}@{version}"
    command = ["npm", "pack", "--silent", specifier, "--pack-destination", str(folder)]
    archive = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]
    with tarfile.open(folder / archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "package"


def copy(source: Path, files: dict[str, str], target: Path) -> dict[str, str]:
    """Copy the named files of an unpacked release and return their checksums."""
    for pattern, name in files.items():
        found = sorted(source.glob(pattern))
        if not found:
            raise SystemExit(f"{pattern} is not in the package; mend PACKAGES in .ci/vendor.py")
        for path in found:
            destination = target / name / path.name if name.endswith("/") else target / name
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, destination)
    return {
        path.relative_to(target).as_posix(): checksum(path)
        for path in sorted(target.rglob("*"))
        if path.is_file()
    }


def update() -> None:
    """Fetch every package anew and rewrite the folder with its manifest."""
    shutil.rmtree(VENDOR, ignore_errors=True)
    manifest = {}
    for folder, (package, version, files) in PACKAGES.items():
        with tempfile.TemporaryDirectory() as temporary:
            source = fetch(package, version, Path(temporary))
            licence = json.loads((source / "package.json").read_text(encoding="utf-8"))["license"]
            digests = copy(source, files, VENDOR / folder)
        manifest[folder] = {
            "npm": package,
            "version": version,
            "licence": licence,
            "files": digests,
        }
    MANIFEST.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="fetch the packages from npm again")
    if parser.parse_args().update:
        update()
    found = problems()
    for problem in found:
        print(f"viewer/vendor/{problem}; run: python .ci/vendor.py --update", file=sys.stderr)
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
