import { describe, expect, it } from 'vitest';
import {
  clampView,
  layLanes,
  reveal,
  revealLane,
  rowAt,
  ROW_HEIGHT,
  visibleRows,
  zoomAt,
} from '../src/swimlane/view';

const extent = { rows: 100_000, width: 600, paneWidth: 400, paneHeight: 480 };
const view = { top: 0, left: 0, rowHeight: ROW_HEIGHT };

describe('the view', () => {
  it('never leaves the schedule', () => {
    expect(clampView({ ...view, top: -50, left: -9 }, extent)).toEqual(view);
    const end = clampView({ ...view, top: 1e9, left: 1e9 }, extent);
    expect(end.top).toBe(100_000 * ROW_HEIGHT - 480);
    expect(end.left).toBe(200);
  });

  it('shows few rows of many', () => {
    expect(visibleRows({ ...view, top: 24_000 }, extent)).toEqual([1000, 1020]);
    expect(rowAt({ ...view, top: 24_000 }, extent, 30)).toBe(1001);
  });

  it('zooms around the pointer', () => {
    const before = { ...view, top: 24_000 };
    const after = zoomAt(before, extent, 0.5, 240);
    expect((after.top + 240) / after.rowHeight).toBeCloseTo((24_000 + 240) / ROW_HEIGHT);
    const all = zoomAt(before, extent, 0, 0);
    expect(all).toMatchObject({ top: 0, rowHeight: 480 / 100_000 });
  });

  it('scrolls no more than a row needs', () => {
    expect(reveal(view, extent, 5)).toBe(view);
    expect(reveal(view, extent, 19).top).toBe(20 * ROW_HEIGHT + 72 - 480);
    const far = reveal(view, extent, 50_000);
    expect(visibleRows(far, extent)[0]).toBeLessThan(50_000);
    expect(visibleRows(far, extent)[1]).toBeGreaterThan(50_000);
  });
});

describe('lanes', () => {
  it('share the width, closed ones excepted', () => {
    const { edges } = layLanes(3, new Set([1]), 800, 99);
    expect(edges[0]).toBe(46);
    expect(edges[2]! - edges[1]!).toBe(22);
    expect(edges[1]! - edges[0]!).toBe(edges[3]! - edges[2]!);
    expect(edges[3]).toBeCloseTo(800);
  });

  it('stay readable where there are many, and scroll into sight', () => {
    const lanes = layLanes(8, new Set(), 400, 100_000);
    expect(lanes.edges[0]).toBeGreaterThan(46);
    const wide = { ...extent, width: lanes.edges[8]! };
    const moved = revealLane(view, wide, lanes, 7);
    expect(moved.left).toBe(wide.width - 400);
    expect(revealLane(moved, wide, lanes, 0).left).toBe(0);
    expect(revealLane(view, wide, lanes, 0)).toBe(view);
  });
});
