/* One schedule as swimlanes: a canvas draws the steps, a list box has them for keys and screen readers. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Schedule } from '../model/schedule';
import { LaneHeads } from './LaneHeads';
import { paint, paintMap } from './paint';
import { useMapPointers, usePointers } from './pointers';
import { StepList } from './StepList';
import type { Palette } from './palette';
import { readPalette } from './palette';
import { plural } from '../lib/format';
import { theme } from '../lib/theme';
import type { Extent, View } from './view';
import { clampView, layLanes, reveal, revealLane, rowAt, zoomAt } from './view';

export interface PaneProps {
  id: string;
  title: string;
  schedule: Schedule;
  observed: boolean;
  selected: number;
  onSelect: (row: number) => void;
  /** Handles the keys that both panes share; true: handled. */
  onKey: (event: KeyboardEvent) => boolean;
  rowHeight: number;
  onRowHeight: (height: number) => void;
  closed: ReadonlySet<number>;
  onToggleLane: (lane: number) => void;
  allArrows: boolean;
  finalLabel: string;
}

const MAP_WIDTH = 14;

interface Size {
  width: number;
  height: number;
}

function useSize(element: { current: HTMLElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 600, height: 400 });
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const observer = new ResizeObserver(() =>
      setSize({ width: node.clientWidth, height: node.clientHeight }),
    );
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** A context in CSS pixels on a canvas of device pixels, which is sharp on every screen. */
function contextOf(canvas: HTMLCanvasElement, size: Size): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function usePalette(element: { current: HTMLElement | null }): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  useEffect(() => {
    const read = (): void => {
      if (element.current) setPalette(readPalette(element.current));
    };
    read();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', read);
    const unwatch = theme.watch(() => requestAnimationFrame(read));
    return () => {
      dark.removeEventListener('change', read);
      unwatch();
    };
  }, []);
  return palette;
}

function lastNumber(schedule: Schedule): number {
  const last = schedule.rows[schedule.rows.length - 1];
  return Math.max(last?.number ?? 0, last?.until ?? 0);
}

/** Counts the events of the run between the steps that the predicted schedule does not need. */
function leftOut({ rows }: Schedule): string {
  const first = rows[0];
  const last = rows[rows.length - 1];
  if (!first || !last || rows.some((row) => !row.step)) return '';
  const others = last.event - first.event + 1 - rows.length;
  return others > 0 ? `; ${plural(others, 'other')} between them left out` : '';
}

export function Pane(props: PaneProps): JSX.Element {
  const { schedule, selected, closed } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useRef<HTMLCanvasElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const marker = useRef<HTMLDivElement>(null);
  const heads = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const palette = usePalette(box);
  const view = useRef<View>({ top: 0, left: 0, rowHeight: props.rowHeight });
  const frame = useRef(0);

  const paneWidth = Math.max(size.width - MAP_WIDTH, 60);
  const lanes = useMemo(
    () => layLanes(schedule.lanes.length, closed, paneWidth, lastNumber(schedule)),
    [schedule, closed, paneWidth],
  );
  const extent: Extent = {
    rows: schedule.rows.length,
    width: lanes.edges[lanes.edges.length - 1]!,
    paneWidth,
    paneHeight: size.height,
  };

  function draw(): void {
    frame.current = 0;
    if (!canvas.current || !palette) return;
    const context = contextOf(canvas.current, { width: paneWidth, height: size.height });
    if (!context) return;
    const { observed, allArrows, finalLabel } = props;
    const scene = { schedule, observed, lanes, closed, selected, allArrows, finalLabel };
    paint(context, scene, view.current, extent, palette);
    placeMarker();
  }

  function placeMarker(): void {
    const whole = Math.max(extent.rows * view.current.rowHeight, 1);
    const scale = extent.paneHeight / whole;
    if (marker.current) {
      marker.current.style.top = `${view.current.top * scale}px`;
      marker.current.style.height = `${Math.min(extent.paneHeight, Math.max(extent.paneHeight * scale, 6))}px`;
    }
    if (heads.current) heads.current.style.transform = `translateX(${-view.current.left}px)`;
  }

  const latest = useRef(draw);
  latest.current = draw;
  function ask(): void {
    if (!frame.current) frame.current = requestAnimationFrame(() => latest.current());
  }

  function move(next: View): void {
    const old = view.current;
    view.current = clampView(next, extent);
    if (view.current.rowHeight !== old.rowHeight) props.onRowHeight(view.current.rowHeight);
    ask();
  }

  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  useLayoutEffect(() => {
    view.current = clampView(view.current, extent);
    ask();
  });

  useLayoutEffect(() => {
    if (props.rowHeight === view.current.rowHeight) return;
    const middle = (selected + 0.5) * view.current.rowHeight - view.current.top;
    const inside = middle > 0 && middle < extent.paneHeight;
    const factor = props.rowHeight / view.current.rowHeight;
    view.current = zoomAt(view.current, extent, factor, inside ? middle : extent.paneHeight / 2);
    if (view.current.rowHeight !== props.rowHeight) props.onRowHeight(view.current.rowHeight);
    ask();
  }, [props.rowHeight]);

  useLayoutEffect(() => {
    const lane = schedule.rows[selected]?.lane ?? 0;
    view.current = revealLane(reveal(view.current, extent, selected), extent, lanes, lane);
    ask();
  }, [selected, schedule, size.height]);

  useEffect(() => {
    if (!map.current || !palette) return;
    const context = contextOf(map.current, { width: MAP_WIDTH, height: size.height });
    if (context) paintMap(context, schedule, MAP_WIDTH, size.height, palette);
  }, [schedule, size.height, palette]);

  usePointers(list, view, move, (y) => props.onSelect(rowAt(view.current, extent, y)), extent);
  useMapPointers(map, (share) =>
    move({
      ...view.current,
      top: share * extent.rows * view.current.rowHeight - extent.paneHeight / 2,
    }),
  );

  return (
    <section class="pane" aria-label={props.title}>
      <header class="pane-head">
        <h3>{props.title}</h3>
        <span class="muted">
          {props.observed ? `the same events${leftOut(schedule)}` : plural(schedule.total, 'step')}
        </span>
      </header>
      <LaneHeads
        names={schedule.lanes}
        edges={lanes.edges}
        closed={closed}
        onToggle={props.onToggleLane}
        inner={heads}
      />
      <div class="pane-box" ref={box}>
        <canvas ref={canvas} aria-hidden="true" />
        <canvas ref={map} class="pane-map" aria-hidden="true" />
        <div ref={marker} class="pane-marker" aria-hidden="true" />
        <StepList {...props} list={list} />
      </div>
    </section>
  );
}
