/* Mouse, pen and touch input of a pane. */
import { useEffect, useRef } from 'preact/hooks';
import type { Extent, View } from './view';
import { ROW_HEIGHT, zoomAt } from './view';

const DRAG_LEAST = 4;
const ZOOM_STEP = 1.25;

interface Drag {
  x: number;
  y: number;
  moved: boolean;
}

/** Drag and wheel pan, Ctrl+wheel and two fingers zoom, a click selects. */
export function usePointers(
  target: { current: HTMLElement | null },
  view: { current: View },
  move: (view: View) => void,
  select: (y: number) => void,
  extent: Extent,
): void {
  const latest = useRef({ move, select, extent });
  latest.current = { move, select, extent };
  useEffect(() => {
    const node = target.current;
    if (!node) return;
    const drags = new Map<number, Drag>();
    const top = (): number => node.getBoundingClientRect().top;

    function wheel(event: WheelEvent): void {
      const { move: go, extent: size } = latest.current;
      const now = view.current;
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? ROW_HEIGHT : 1;
      if (event.ctrlKey || event.metaKey) {
        const factor = event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP;
        go(zoomAt(now, size, factor, event.clientY - top()));
      } else {
        const sideways = event.shiftKey ? event.deltaY : event.deltaX;
        const down = event.shiftKey ? 0 : event.deltaY;
        go({ ...now, top: now.top + down * lines, left: now.left + sideways * lines });
      }
      event.preventDefault();
    }

    function spread(): number {
      const [a, b] = [...drags.values()];
      return a && b ? Math.max(Math.abs(a.y - b.y), 1) : 0;
    }

    function pointerMove(event: PointerEvent): void {
      const drag = drags.get(event.pointerId);
      if (!drag) return;
      const dx = event.clientX - drag.x;
      const dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < DRAG_LEAST) return;
      const before = spread();
      drags.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: true });
      const { move: go, extent: size } = latest.current;
      const now = view.current;
      if (drags.size === 2) go(zoomAt(now, size, spread() / before, event.clientY - top()));
      else go({ ...now, top: now.top - dy, left: now.left - dx });
    }

    function pointerDown(event: PointerEvent): void {
      drags.set(event.pointerId, { x: event.clientX, y: event.clientY, moved: false });
      node?.setPointerCapture(event.pointerId);
    }

    function pointerUp(event: PointerEvent): void {
      const drag = drags.get(event.pointerId);
      drags.delete(event.pointerId);
      if (drag && !drag.moved && event.type === 'pointerup')
        latest.current.select(event.clientY - top());
    }

    node.addEventListener('wheel', wheel, { passive: false });
    node.addEventListener('pointerdown', pointerDown);
    node.addEventListener('pointermove', pointerMove);
    node.addEventListener('pointerup', pointerUp);
    node.addEventListener('pointercancel', pointerUp);
    return () => {
      node.removeEventListener('wheel', wheel);
      node.removeEventListener('pointerdown', pointerDown);
      node.removeEventListener('pointermove', pointerMove);
      node.removeEventListener('pointerup', pointerUp);
      node.removeEventListener('pointercancel', pointerUp);
    };
  }, []);
}

/** A press or drag in the overview scrolls to that share of the schedule. */
export function useMapPointers(
  target: { current: HTMLElement | null },
  go: (share: number) => void,
): void {
  const latest = useRef(go);
  latest.current = go;
  useEffect(() => {
    const node = target.current;
    if (!node) return;
    const at = (event: PointerEvent): void => {
      if (event.type === 'pointermove' && !(event.buttons & 1)) return;
      if (event.type === 'pointerdown') node.setPointerCapture(event.pointerId);
      const box = node.getBoundingClientRect();
      latest.current((event.clientY - box.top) / box.height);
    };
    node.addEventListener('pointerdown', at);
    node.addEventListener('pointermove', at);
    return () => {
      node.removeEventListener('pointerdown', at);
      node.removeEventListener('pointermove', at);
    };
  }, []);
}
