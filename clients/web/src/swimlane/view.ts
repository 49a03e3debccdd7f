/* The visible part of a schedule: arithmetic of scrolling and zooming. */

export interface View {
  /** Pixels above the visible part. */
  top: number;
  /** Pixels to the left of the visible part. */
  left: number;
  rowHeight: number;
}

export const ROW_HEIGHT = 24;
const ROW_MOST = 48;
/** Rows lower than this have no text. */
export const TEXT_LEAST = 13;

export interface Extent {
  rows: number;
  width: number;
  paneWidth: number;
  paneHeight: number;
}

/** The smallest height of a row: that at which all rows fit. */
function leastHeight(extent: Extent): number {
  return Math.min(ROW_HEIGHT, extent.paneHeight / Math.max(extent.rows, 1));
}

function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), Math.max(least, most));
}

export function clampView(view: View, extent: Extent): View {
  const rowHeight = between(leastHeight(extent), view.rowHeight, ROW_MOST);
  return {
    rowHeight,
    top: between(0, view.top, extent.rows * rowHeight - extent.paneHeight),
    left: between(0, view.left, extent.width - extent.paneWidth),
  };
}

/** Zooms around the point `y` pixels below the pane's top, which keeps its place. */
export function zoomAt(view: View, extent: Extent, factor: number, y: number): View {
  const rowHeight = between(leastHeight(extent), view.rowHeight * factor, ROW_MOST);
  const row = (view.top + y) / view.rowHeight;
  return clampView({ ...view, rowHeight, top: row * rowHeight - y }, extent);
}

/** Scrolls by the least amount that shows the row and some rows around it. */
export function reveal(view: View, extent: Extent, row: number): View {
  const margin = Math.min(3 * view.rowHeight, extent.paneHeight / 3);
  const y = row * view.rowHeight;
  const low = y + view.rowHeight + margin - extent.paneHeight;
  const high = y - margin;
  if (view.top >= low && view.top <= high) return view;
  const far = view.top > high + extent.paneHeight || view.top < low - extent.paneHeight;
  const top = far ? y - extent.paneHeight / 2 : view.top > high ? high : low;
  return clampView({ ...view, top }, extent);
}

/** The first visible row, and the row after the last visible one. */
export function visibleRows(view: View, extent: Extent): [number, number] {
  const from = Math.max(0, Math.floor(view.top / view.rowHeight));
  const to = Math.ceil((view.top + extent.paneHeight) / view.rowHeight);
  return [from, Math.min(extent.rows, to)];
}

export function rowAt(view: View, extent: Extent, y: number): number {
  return between(0, Math.floor((view.top + y) / view.rowHeight), extent.rows - 1);
}

export interface Lanes {
  /** The left edge of each lane, then the whole width. Step numbers are left of the first lane. */
  edges: number[];
}

const GUTTER_LEAST = 46;
const DIGIT = 7.4;
const LANE_LEAST = 132;
const LANE_CLOSED = 22;

/** Lanes share the width; closed ones are narrow, and none is too narrow to read. */
export function layLanes(
  count: number,
  closed: ReadonlySet<number>,
  paneWidth: number,
  mostNumber: number,
): Lanes {
  const open = Math.max(1, count - closed.size);
  const gutter = Math.max(GUTTER_LEAST, String(mostNumber).length * DIGIT + 14);
  const share = (paneWidth - gutter - closed.size * LANE_CLOSED) / open;
  const edges = [gutter];
  for (let i = 0; i < count; i++)
    edges.push(edges[i]! + (closed.has(i) ? LANE_CLOSED : Math.max(LANE_LEAST, share)));
  return { edges };
}

/** Scrolls sideways by the least amount that shows the lane. */
export function revealLane(view: View, extent: Extent, lanes: Lanes, lane: number): View {
  const from = lanes.edges[lane] ?? 0;
  const to = lanes.edges[lane + 1] ?? extent.width;
  if (from >= view.left + lanes.edges[0]! - 1 && to <= view.left + extent.paneWidth) return view;
  const left = to > view.left + extent.paneWidth ? to - extent.paneWidth : from - lanes.edges[0]!;
  return clampView({ ...view, left }, extent);
}
