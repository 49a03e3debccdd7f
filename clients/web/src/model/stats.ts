/* The server's history as columns for a chart. */
import type { Stats } from '../api/types';

type Scale = (value: number, seconds: number) => number;

/** The times in seconds, then a column a name; `scale` gets the seconds since the point before. */
export function columnsOf(stats: Stats, names: string[], scale?: Scale): (number | null)[][] {
  const at = stats.history['at'] ?? [];
  const seconds = (i: number): number =>
    i > 0 ? Math.max(at[i]! - at[i - 1]!, 1) / 1000 : stats.sample_ms / 1000;
  const column = (name: string): (number | null)[] => {
    const values = stats.history[name];
    if (!values) return at.map(() => null);
    return scale ? values.map((value, i) => scale(value, seconds(i))) : values;
  };
  return [at.map((ms) => ms / 1000), ...names.map(column)];
}
