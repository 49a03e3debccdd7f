/* A table whose columns sort. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { count } from '../lib/format';

export type Cell = string | number | null;

export interface Column<T> {
  name: string;
  value: (row: T) => Cell;
  mono?: boolean;
}

interface SortTableProps<T> {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  /** The number of rows on the server; `rows` may have fewer. */
  total: number;
  most?: number;
}

function compare(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return b - a;
  return String(a ?? '').localeCompare(String(b ?? ''));
}

/** Renders nothing if there are no rows. */
export function SortTable<T>({
  caption,
  columns,
  rows,
  total,
  most = 15,
}: SortTableProps<T>): JSX.Element | null {
  const [by, setBy] = useState<number | null>(null);
  const [limit, setLimit] = useState(most);
  if (!rows.length) return null;
  const column = by === null ? null : columns[by];
  const sorted = column
    ? [...rows].sort((a, b) => compare(column.value(a), column.value(b)))
    : rows;
  return (
    <div class="sort-table">
      <table class="list compact">
        <caption>
          {caption} <span class="muted">{count(total)}</span>
        </caption>
        <thead>
          <tr>
            {columns.map((one, i) => (
              <th
                key={one.name}
                scope="col"
                class={i ? 'right' : ''}
                aria-sort={
                  by === i
                    ? typeof one.value(rows[0]!) === 'number'
                      ? 'descending'
                      : 'ascending'
                    : 'none'
                }
              >
                <button type="button" class="plain" onClick={() => setBy(i)}>
                  {one.name}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, limit).map((row, i) => (
            <tr key={i}>
              {columns.map((one, k) => {
                const value = one.value(row);
                return (
                  <td key={one.name} class={`${k ? 'right num' : ''} ${one.mono ? 'mono' : ''}`}>
                    {typeof value === 'number' ? count(value) : value}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > limit && (
        <button type="button" onClick={() => setLimit(limit * 4)}>
          Show more
        </button>
      )}
    </div>
  );
}
