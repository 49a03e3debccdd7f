/* The style sheet's colours, for the canvas. */

const NAMES = [
  'bg',
  'text',
  'muted',
  'line',
  'accent',
  'select',
  'danger',
  'danger-bg',
  'warn',
] as const;
const LANE_COLOURS = 6;

export type Palette = Record<(typeof NAMES)[number], string> & { lanes: string[]; font: string };

export function readPalette(element: HTMLElement): Palette {
  const probe = document.createElement('span');
  element.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const named = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  const lanes = Array.from({ length: LANE_COLOURS }, (_, i) => read(`lane-${i}`));
  probe.className = 'mono';
  const font = getComputedStyle(probe).fontFamily;
  probe.remove();
  return { ...named, lanes, font } as Palette;
}

export function laneColour(palette: Palette, lane: number): string {
  return palette.lanes[lane % palette.lanes.length]!;
}
