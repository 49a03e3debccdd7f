/* Draws the visible part of a schedule; the cost depends on the visible rows only. */
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
  /** Spans in the visible rows. */
  spans: Span[];
  /** Bars side by side that the schedule's locks need in a lane. */
  lockBars: number;
}

const BAR = 3;
const LOCK_GAP = 5;
const MOST_LOCKS = 3;
/** Rows lower than this are drawn as blocks only. */
const RUNS_LEAST = 2;
const FONT_SIZE = 12;
/** The least share of their width to which characters are condensed before a text is cut. */
const TEXT_CONDENSED = 0.82;

const yOf = (brush: Brush, row: number): number => row * brush.view.rowHeight - brush.view.top;
const xOf = (brush: Brush, lane: number): number =>
  brush.scene.lanes.edges[lane]! - brush.view.left;

function textLeft(brush: Brush, lane: number): number {
  return xOf(brush, lane) + 11 + brush.lockBars * LOCK_GAP;
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

/** A bar along each run of a thread, a line at each context switch. */
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

function paintSpans(brush: Brush): void {
  if (brush.view.rowHeight < 4) return;
  for (const span of brush.spans) paintSpan(brush, span);
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return chars > 1 ? `${text.slice(0, chars - 1)}…` : '';
}

/** The step's number in the schedule; in the observed run, the event's position in the trace. */
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

/** The content of the lanes, clipped so that it scrolls sideways beneath the numbers. */
function paintInLanes(brush: Brush, from: number, to: number): void {
  const { context, scene, extent } = brush;
  const left = scene.lanes.edges[0]!;
  context.save();
  context.beginPath();
  context.rect(left, 0, extent.paneWidth - left, extent.paneHeight);
  context.clip();
  paintLanes(brush);
  paintRuns(brush, from, to);
  paintSpans(brush);
  paintArrows(brush, from, to);
  paintTexts(brush, from, to);
  context.restore();
}

/** The end of the room for a row's text: the lanes to its right are free, but for locks held there. */
function textRight(brush: Brush, i: number): number {
  const { lane } = brush.scene.schedule.rows[i]!;
  const held = brush.spans.filter((span) => span.lane > lane && span.from <= i && i <= span.to);
  const bars = held.map((span) => xOf(brush, span.lane) + 4);
  const whole = Math.max(brush.extent.paneWidth, xOf(brush, lane + 1));
  return Math.min(whole, ...bars) - 2;
}

/** The width of a character: condensed as far as the whole text needs and TEXT_CONDENSED allows. */
function charWidthFor(brush: Brush, { text, value }: RowText, room: number): number {
  const needed = room / (text.length + (value ? value.length + 1 : 0));
  const { charWidth } = brush;
  return needed < charWidth && needed >= charWidth * TEXT_CONDENSED ? needed : charWidth;
}

function paintText(brush: Brush, i: number): void {
  const { context, scene, view, palette } = brush;
  const row = scene.schedule.rows[i]!;
  if (scene.closed.has(row.lane)) return;
  const y = yOf(brush, i) + view.rowHeight / 2;
  const x = textLeft(brush, row.lane);
  const room = textRight(brush, i) - x;
  const whole = rowText(row, scene.observed);
  const width = charWidthFor(brush, whole, room);
  const [text, value] = share(whole, Math.floor(room / width + 0.01));
  const fill = (part: string, left: number): void =>
    width < brush.charWidth
      ? context.fillText(part, left, y, part.length * width)
      : context.fillText(part, left, y);
  context.fillStyle = row.step ? palette.text : palette.muted;
  if (row.claimed) context.fillStyle = palette.danger;
  fill(text, x);
  context.fillStyle = row.step?.departs ? palette.warn : palette.muted;
  if (value) fill(value, x + (text.length + 1) * width);
}

/** Cuts text and value to `chars` characters together; the text first, the value from its "=" last. */
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

/** Rows that are too low for text: a block in the lane. */
function paintBlocks(brush: Brush, from: number, to: number): void {
  const { context, scene, view, palette } = brush;
  if (view.rowHeight >= TEXT_LEAST) return;
  const height = Math.max(view.rowHeight - 1, 1);
  // Of several rows on one pixel, one per lane is painted.
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

/** The marks that are visible at any height: the violation, differences, the selected row. */
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
  const [from, to] = visibleRows(view, extent);
  const all = scene.schedule.spans;
  const spans = all.filter((span) => span.to >= from && span.from < to);
  const depth = all.reduce((most, span) => Math.max(most, span.depth + 1), 0);
  const lockBars = Math.min(depth, MOST_LOCKS);
  const brush = { context, scene, view, extent, palette, charWidth, spans, lockBars };
  paintBands(brush, from, to);
  paintBlocks(brush, from, to);
  paintInLanes(brush, from, to);
  paintNumbers(brush, from, to);
}

/** The whole schedule in a narrow strip: running threads, the violation, differences. */
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
