"""Graphs of nodes and edges, in the format of Cytoscape, as pictures."""

import html
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

MARGIN = 40
RADIUS = 18

_LINE = 'stroke="currentColor" stroke-opacity="0.6" fill="none" marker-end="url(#tip)"'
_CIRCLE = f'r="{RADIUS}" fill="#8ab4f8" fill-opacity="0.5" stroke="#4a76b8"'
_TEXT = 'font-family="sans-serif" font-size="13" text-anchor="middle" fill="currentColor"'


def svg_of(spec: Mapping[str, Any]) -> str:
    """Draw a graph: nodes where it says they are, or else in layers, or on a circle."""
    nodes = [node.get("data", {}) for node in spec.get("nodes", ())]
    edges = [edge.get("data", {}) for edge in spec.get("edges", ())]
    names = [str(node.get("id", index)) for index, node in enumerate(nodes)]
    width, height = int(spec.get("width", 500)), int(spec.get("height", 200))
    places = _fitted(_places(spec, names, edges), width, height)
    drawn = [_edge(edge, places) for edge in edges]
    for name, node in zip(names, nodes, strict=True):
        x, y = places[name]
        label = html.escape(str(node.get("label", name)))
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {_CIRCLE}/>')
        drawn.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" {_TEXT}>{label}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}">{_ARROW}{"".join(drawn)}</svg>'
    )


_ARROW = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="currentColor"/></marker></defs>'
)


def _places(
    spec: Mapping[str, Any], names: list[str], edges: list[Any]
) -> dict[str, tuple[float, float]]:
    positions = [node.get("position") for node in spec.get("nodes", ())]
    if positions and all(positions):
        return {
            name: (float(place["x"]), float(place["y"]))
            for name, place in zip(names, positions, strict=True)
        }
    layout = (spec.get("layout") or {}).get("name", "")
    if layout in ("breadthfirst", "dagre", "preset", "grid"):
        return _layers(names, edges)
    turn = 2 * math.pi / max(len(names), 1)
    return {name: (math.sin(i * turn), -math.cos(i * turn)) for i, name in enumerate(names)}


def _layers(names: list[str], edges: list[Any]) -> dict[str, tuple[float, float]]:
    """Each node a layer below the highest node that leads to it."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for edge in edges:
            source, target = str(edge.get("source")), str(edge.get("target"))
            if source in depth and target in depth and depth[target] <= depth[source] < len(names):
                depth[target] = depth[source] + 1
    layers: dict[int, list[str]] = defaultdict(list)
    for name in names:
        layers[min(depth[name], len(names))].append(name)
    return {
        name: (index - (len(layer) - 1) / 2, float(level))
        for level, layer in layers.items()
        for index, name in enumerate(layer)
    }


def _fitted(
    places: dict[str, tuple[float, float]], width: int, height: int
) -> dict[str, tuple[float, float]]:
    """Stretch places to the size of the picture."""

    def stretch(values: list[float], size: int) -> list[float]:
        low, high = min(values), max(values)
        if low == high:
            return [size / 2] * len(values)
        return [MARGIN + (value - low) / (high - low) * (size - 2 * MARGIN) for value in values]

    if not places:
        return {}
    across = stretch([x for x, _ in places.values()], width)
    down = stretch([y for _, y in places.values()], height)
    return dict(zip(places, zip(across, down, strict=True), strict=True))


def _edge(edge: Mapping[str, Any], places: dict[str, tuple[float, float]]) -> str:
    source, target = str(edge.get("source")), str(edge.get("target"))
    if source not in places or target not in places:
        return ""
    (x1, y1), (x2, y2) = places[source], places[target]
    label = html.escape(str(edge.get("label", "")))
    if source == target:
        path = f"M{x1 - 8:.1f} {y1 - 16:.1f} C{x1 - 30:.1f} {y1 - 50:.1f} {x1 + 30:.1f} "
        path += f"{y1 - 50:.1f} {x1 + 8:.1f} {y1 - 16:.1f}"
        drawn = f'<path d="{path}" {_LINE}/>'
        return drawn + (
            f'<text x="{x1:.1f}" y="{y1 - 44:.1f}" {_TEXT}>{label}</text>' if label else ""
        )
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = (x2 - x1) / length * RADIUS, (y2 - y1) / length * RADIUS
    ends = f'x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}"'
    middle = f'x="{(x1 + x2) / 2:.1f}" y="{(y1 + y2) / 2 - 4:.1f}"'
    return f"<line {ends} {_LINE}/>" + (f"<text {middle} {_TEXT}>{label}</text>" if label else "")
