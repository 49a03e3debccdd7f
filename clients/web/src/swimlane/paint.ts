/* Draws what is seen of a schedule: its cost is that of the visible rows, whatever their number. */
import type { Arrow, Row, RowText, Schedule, Span } from '../model/schedule';
import { rowText } from '../model/schedule';
import type { Palette } from './palette';
import { laneColour } from './palette';
import type { Extent, Lanes, View } from './view';
import { TEXT_LEAST, visibleRows } from './view';

export interface Scene {
  schedule: Schedule;
  observed: boolean;
  lanes: Lanes;
  closed: ReadonlySet<number>;
  selected: number;
  /** Draw every arrow, not only those of the selected row and of departing reads. */
  allArrows: boolean;
  finalLabel: string;
}

interface Brush {
  context: CanvasRenderingContext2D;
  scene: Scene;
  view: View;
  extent: Extent;
  palette: Palette;
  charWidth: number;
}

const BAR = 3;
const LOCK_GAP = 5;
const MOST_LOCKS = 3;
/** Below this height of a row its block says enough. */
const RUNS_LEAST = 2;
const FONT_SIZE = 12;

const yOf = (brush: Brush, row: number): number => row * brush.view.rowHeight - brush.view.top;
const xOf = (brush: Brush, lane: number): number =>
  brush.scene.lanes.edges[lane]! - brush.view.left;

function textLeft(brush: Brush, lane: number): number {
  return xOf(brush, lane) + 10 + MOST_LOCKS * LOCK_GAP;
}

function paintLanes(brush: Brush): void {
  const { context, scene, extent, palette } = brush;
  context.fillStyle = palette.line;
  for (let lane = 0; lane < scene.schedule.lanes.length; lane++)
    context.fillRect(Math.round(xOf(brush, lane)), 0, 1, extent.paneHeight);
}

/** Background of the claim's rows and of the selected one. */
function paintBands(brush: Brush, from: number, to: number): void {
  const { context, scene, view, extent, palette } = brush;
  if (view.rowHeight < RUNS_LEAST) return;
  for (let i = from; i < to; i++) {
    const row = scene.schedule.rows[i]!;
    if (!row.claimed && i !== scene.selected) continue;
    const height = Math.max(view.rowHeight, 2);
    context.fillStyle = i === scene.selected ? palette.select : palette['danger-bg'];
    context.fillRect(0, yOf(brush, i), extent.paneWidth, height);
    if (!row.claimed) continue;
    context.fillStyle = palette.danger;
    context.fillRect(0, yOf(brush, i), BAR, height);
  }
}

/** A bar while a thread runs, a line across where another one goes on. */
function paintRuns(brush: Brush, from: number, to: number): void {
  const { context, scene, palette } = brush;
  if (brush.view.rowHeight < RUNS_LEAST) return;
  const rows = scene.schedule.rows;
  for (let i = from; i < to;) {
    const lane = rows[i]!.lane;
    let end = i + 1;
    while (end < to && rows[end]!.lane === lane) end++;
    const y = yOf(brush, i);
    context.fillStyle = laneColour(palette, lane);
    context.fillRect(xOf(brush, lane) + 1, y + 1, BAR, yOf(brush, end) - y - 1);
    const before = rows[i - 1];
    if (before && before.lane !== lane) paintSwitch(brush, before.lane, lane, y);
    i = end;
  }
}

function paintSwitch(brush: Brush, fromLane: number, toLane: number, y: number): void {
  const { context, palette } = brush;
  if (brush.view.rowHeight < 6) return;
  const from = xOf(brush, fromLane) + 2;
  const to = xOf(brush, toLane) + 2;
  context.fillStyle = palette.muted;
  context.globalAlpha = 0.45;
  context.fillRect(Math.min(from, to), Math.round(y), Math.abs(to - from), 1);
  context.globalAlpha = 1;
}

function paintSpan(brush: Brush, span: Span): void {
  const { context, scene, palette, view } = brush;
  if (span.depth >= MOST_LOCKS || scene.closed.has(span.lane)) return;
  const x = xOf(brush, span.lane) + 8 + span.depth * LOCK_GAP;
  const top = yOf(brush, span.from) + view.rowHeight / 2;
  const bottom = yOf(brush, span.to) + view.rowHeight / 2;
  context.fillStyle = palette.accent;
  context.globalAlpha = span.shared ? 0.45 : 0.9;
  context.fillRect(x, top, BAR, Math.max(bottom - top, 1));
  context.fillRect(x - 1, top, BAR + 2, 1.5);
  context.fillRect(x - 1, bottom, BAR + 2, 1.5);
  context.globalAlpha = 1;
}

function paintSpans(brush: Brush, from: number, to: number): void {
  if (brush.view.rowHeight < 4) return;
  for (const span of brush.scene.schedule.spans)
    if (span.to >= from && span.from < to) paintSpan(brush, span);
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return chars > 1 ? `${text.slice(0, chars - 1)}…` : '';
}

/** Steps of the schedule are counted; of the observed run the event's place in the trace is told. */
function numberText(scene: Scene, row: Row): string {
  if (scene.observed) return String(row.event);
  return row.final ? scene.finalLabel.slice(0, 6) : String(row.number);
}

function paintNumbers(brush: Brush, from: number, to: number): void {
  const { context, scene, view, palette } = brush;
  if (view.rowHeight < TEXT_LEAST) return;
  context.font = `${FONT_SIZE}px ${palette.font}`;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillStyle = palette.muted;
  for (let i = from; i < to; i++) {
    const number = numberText(scene, scene.schedule.rows[i]!);
    context.fillText(number, scene.lanes.edges[0]! - 7, yOf(brush, i) + view.rowHeight / 2);
  }
  context.textAlign = 'left';
}

/** What is in the lanes; they are moved to the side under the numbers, which stay. */
function paintInLanes(brush: Brush, from: number, to: number): void {
  const { context, scene, extent } = brush;
  const left = scene.lanes.edges[0]!;
  context.save();
  context.beginPath();
  context.rect(left, 0, extent.paneWidth - left, extent.paneHeight);
  context.clip();
  paintLanes(brush);
  paintRuns(brush, from, to);
  paintSpans(brush, from, to);
  paintArrows(brush, from, to);
  paintTexts(brush, from, to);
  context.restore();
}

function paintText(brush: Brush, i: number): void {
  const { context, scene, view, palette, charWidth } = brush;
  const row = scene.schedule.rows[i]!;
  const y = yOf(brush, i) + view.rowHeight / 2;
  if (scene.closed.has(row.lane)) return;
  const x = textLeft(brush, row.lane);
  const chars = Math.floor((xOf(brush, row.lane + 1) - x - 4) / charWidth);
  const [text, value] = share(rowText(row, scene.observed), chars);
  context.fillStyle = row.step ? palette.text : palette.muted;
  if (row.claimed) context.fillStyle = palette.danger;
  context.fillText(text, x, y);
  context.fillStyle = row.step?.departs ? palette.warn : palette.muted;
  if (value) context.fillText(value, x + (text.length + 1) * charWidth, y);
}

/** Text and value side by side: the value counts more, at least what comes after its "=". */
function share({ text, value }: RowText, chars: number): [string, string] {
  if (!value || text.length + 1 + value.length <= chars) return [cut(text, chars), value];
  const brief = value.slice(value.lastIndexOf('=') < 0 ? 0 : value.lastIndexOf('='));
  const shown = cut(brief, Math.ceil(chars / 2));
  return [cut(text, chars - shown.length - 1), shown];
}

function paintTexts(brush: Brush, from: number, to: number): void {
  if (brush.view.rowHeight < TEXT_LEAST) return;
  brush.context.font = `${FONT_SIZE}px ${brush.palette.font}`;
  brush.context.textBaseline = 'middle';
  for (let i = from; i < to; i++) paintText(brush, i);
}

/** Where rows are too low for text: a block in the lane. */
function paintBlocks(brush: Brush, from: number, to: number): void {
  const { context, scene, view, palette } = brush;
  if (view.rowHeight >= TEXT_LEAST) return;
  const height = Math.max(view.rowHeight - 1, 1);
  // Of many rows on one pixel one is painted for each lane.
  const painted = scene.schedule.lanes.map(() => -1);
  context.globalAlpha = 0.5;
  for (let i = from; i < to; i++) {
    const lane = scene.schedule.rows[i]!.lane;
    const y = Math.floor(yOf(brush, i));
    if (painted[lane] === y) continue;
    painted[lane] = y;
    context.fillStyle = laneColour(palette, lane);
    const x = xOf(brush, lane) + 6;
    context.fillRect(x, y, Math.max(xOf(brush, lane + 1) - x - 6, 6), height);
  }
  context.globalAlpha = 1;
  for (let i = from; i < to; i++) paintMark(brush, i);
}

/** What stands out at any height: the violation, differences, the selected row. */
function paintMark(brush: Brush, i: number): void {
  const { context, scene, view, extent, palette } = brush;
  const row = scene.schedule.rows[i]!;
  const selected = i === scene.selected;
  if (!selected && !row.claimed && !row.step?.departs) return;
  context.fillStyle = selected ? palette.accent : row.claimed ? palette.danger : palette.warn;
  context.fillRect(0, yOf(brush, i), selected ? extent.paneWidth : 8, Math.max(view.rowHeight, 2));
}

function paintArrow(brush: Brush, arrow: Arrow, strong: boolean): void {
  const { context, scene, view, palette } = brush;
  const rows = scene.schedule.rows;
  const fromLane = rows[arrow.from]!.lane;
  const toLane = rows[arrow.to]!.lane;
  const half = view.rowHeight / 2;
  const x1 = textLeft(brush, fromLane) - 4;
  const x2 = textLeft(brush, toLane) - 4;
  const y1 = yOf(brush, arrow.from) + half;
  const y2 = yOf(brush, arrow.to) + half;
  const bend = fromLane === toLane ? -14 : 0;
  context.strokeStyle = context.fillStyle = arrow.departs ? palette.warn : palette.accent;
  context.globalAlpha = strong ? 1 : 0.35;
  context.lineWidth = strong ? 1.75 : 1;
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1 + (y2 - y1) * 0.5, x2 + bend - 26, y2, x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2 + 1, y2);
  context.lineTo(x2 - 5, y2 - 3.5);
  context.lineTo(x2 - 5, y2 + 3.5);
  context.fill();
  context.globalAlpha = 1;
}

function paintArrows(brush: Brush, from: number, to: number): void {
  const { scene, view } = brush;
  if (view.rowHeight < 6) return;
  for (const arrow of scene.schedule.arrows) {
    const strong = arrow.from === scene.selected || arrow.to === scene.selected;
    const seen = (row: number): boolean => row >= from && row < to;
    if (!seen(arrow.from) && !seen(arrow.to)) continue;
    if (strong || arrow.departs || scene.allArrows)
      paintArrow(brush, arrow, strong || arrow.departs);
  }
}

export function paint(
  context: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  extent: Extent,
  palette: Palette,
): void {
  context.fillStyle = palette.bg;
  context.fillRect(0, 0, extent.paneWidth, extent.paneHeight);
  context.font = `${FONT_SIZE}px ${palette.font}`;
  const charWidth = context.measureText('0').width;
  const brush = { context, scene, view, extent, palette, charWidth };
  const [from, to] = visibleRows(view, extent);
  paintBands(brush, from, to);
  paintBlocks(brush, from, to);
  paintInLanes(brush, from, to);
  paintNumbers(brush, from, to);
}

/** The whole schedule in a narrow strip: who runs when, where the violation and differences are. */
export function paintMap(
  context: CanvasRenderingContext2D,
  schedule: Schedule,
  width: number,
  height: number,
  palette: Palette,
): void {
  const rows = schedule.rows;
  const lane = width / schedule.lanes.length;
  const step = height / Math.max(rows.length, 1);
  context.clearRect(0, 0, width, height);
  context.globalAlpha = 0.7;
  rows.forEach((row, i) => {
    context.fillStyle = laneColour(palette, row.lane);
    context.fillRect(row.lane * lane, i * step, lane, Math.max(step, 1));
  });
  context.globalAlpha = 1;
  rows.forEach((row, i) => {
    if (!row.claimed && !row.step?.departs) return;
    context.fillStyle = row.claimed ? palette.danger : palette.warn;
    context.fillRect(0, i * step, width, Math.max(step, 2));
  });
}
