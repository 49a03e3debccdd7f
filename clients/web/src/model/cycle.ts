/* The layout of a causality cycle's drawing: threads side by side, events downwards in observed order. */
import type { Cause } from '../api/types';

export interface CycleNode {
  key: number;
  x: number;
  y: number;
  width: number;
  text: string;
  where: string;
}

export interface CycleEdge {
  path: string;
  label: string;
  labelX: number;
  labelY: number;
  /** The edge goes against the observed order, and so closes the cycle. */
  closing: boolean;
}

export interface CycleDrawing {
  width: number;
  height: number;
  lanes: { name: string; x: number }[];
  nodes: CycleNode[];
  edges: CycleEdge[];
}

const LANE_WIDTH = 300;
const ROW_HEIGHT = 64;
const TOP = 52;
const TEXT_MOST = 26;
const CHAR = 7.3;
const HALF = 15;
const PORT = 7;

function shorten(text: string): string {
  return text.length > TEXT_MOST ? `${text.slice(0, TEXT_MOST - 1)}…` : text;
}

function widthOf(text: string, where: string): number {
  return Math.max(text.length * CHAR, where.length * CHAR * 0.9, 60) + 16;
}

function pathBetween(from: CycleNode, to: CycleNode): CycleEdge {
  const down = to.y > from.y;
  const label = { label: '', closing: !down };
  if (from.x === to.x && down) {
    const path = `M${from.x} ${from.y + HALF} L${to.x} ${to.y - HALF - 2}`;
    return { ...label, path, labelX: from.x + 52, labelY: (from.y + to.y) / 2 + 4 };
  }
  if (from.x === to.x) {
    const side = from.x + from.width / 2 + 34;
    const start = `${from.x + from.width / 2} ${from.y}`;
    const path = `M${start} C${side} ${from.y} ${side} ${to.y} ${to.x + to.width / 2 + 2} ${to.y}`;
    return { ...label, path, labelX: side, labelY: (from.y + to.y) / 2 + 4 };
  }
  const right = to.x > from.x ? 1 : -1;
  const x1 = from.x + (right * from.width) / 2;
  const x2 = to.x - right * (to.width / 2 + 3);
  // Edges leave below the middle and arrive above it, labels are near the start: none hides another.
  const y1 = from.y + PORT;
  const y2 = to.y - PORT;
  const bend = (x2 - x1) / 2;
  const path = `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  return { ...label, path, labelX: x1 + bend * 0.62, labelY: y1 + (y2 - y1) * 0.16 - 5 };
}

/** An event that has two causes is drawn once. */
export function layCycle(causes: Cause[]): CycleDrawing {
  const ordered = [...causes].sort((a, b) => a.event - b.event);
  const names = [...new Set(ordered.map((cause) => cause.thread))];
  const events = [...new Set(ordered.map((cause) => cause.event))];
  const lanes = names.map((name, i) => ({ name, x: LANE_WIDTH * (i + 0.5) }));
  const nodes = new Map<number, CycleNode>();
  for (const cause of causes) {
    const text = shorten(cause.display ?? cause.text);
    const where = cause.location ?? `event ${cause.event}`;
    nodes.set(cause.event, {
      key: cause.event,
      x: lanes[names.indexOf(cause.thread)]!.x,
      y: TOP + events.indexOf(cause.event) * ROW_HEIGHT,
      width: widthOf(text, where),
      text,
      where,
    });
  }
  const edges = causes.flatMap((cause, i): CycleEdge[] => {
    const from = nodes.get(cause.event)!;
    const to = nodes.get(causes[(i + 1) % causes.length]!.event)!;
    if (from === to) return [];
    const label = cause.object ? `${cause.why} ${cause.object}` : cause.why;
    return [{ ...pathBetween(from, to), label }];
  });
  return {
    width: LANE_WIDTH * names.length + 40,
    height: TOP + (events.length - 1) * ROW_HEIGHT + 40,
    lanes,
    nodes: [...nodes.values()],
    edges,
  };
}
