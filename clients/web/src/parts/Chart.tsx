/* A uPlot chart that follows the theme and the width. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../lib/theme';
import { useStore } from '../lib/store';

interface ChartProps {
  title: string;
  names: string[];
  data: (number | null)[][];
}

const HEIGHT = 180;

function colour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toTimeString().slice(0, 8);
}

function optionsOf(element: HTMLElement, names: string[]): uPlot.Options {
  const axis = {
    stroke: colour(element, 'muted'),
    grid: { stroke: colour(element, 'line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(element.clientWidth, 200),
    height: HEIGHT,
    cursor: { drag: { x: false, y: false } },
    legend: { live: true },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(most * 1.1, 1)] } },
    axes: [
      { ...axis, space: 90, values: (_plot, times) => times.map(clock) },
      { ...axis, size: 44 },
    ],
    series: [
      { value: (_plot, time) => (time ? clock(time) : '') },
      ...names.map((name, i) => ({
        label: name.replaceAll('_', ' '),
        stroke: colour(element, `lane-${i % 6}`),
        width: 1.75,
        points: { show: false },
      })),
    ],
  };
}

export function Chart({ title, names, data }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const scheme = useStore(theme);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const chart = new uPlot(optionsOf(element, names), data as uPlot.AlignedData, element);
    plot.current = chart;
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(element.clientWidth, 200), height: HEIGHT }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [names.join(' '), scheme]);

  useEffect(() => plot.current?.setData(data as uPlot.AlignedData), [data]);

  const latest = names.map((name, i) => `${name} ${data[i + 1]?.at(-1) ?? 'none'}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={box} role="img" aria-label={`${title}, now: ${latest}`} />
    </figure>
  );
}
