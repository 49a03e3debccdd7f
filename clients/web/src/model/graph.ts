/* Where the nodes of a transaction sequence graph stand: a column for each thread, its boundaries
 * from top to bottom. */
import type { GraphNode } from '../api/intervals';

export interface Placed extends GraphNode {
  x: number;
  y: number;
}

export interface GraphLayout {
  nodes: Placed[];
  at: Map<string, Placed>;
  /** From each node to the next one of its thread. */
  transactions: [Placed, Placed][];
  width: number;
  height: number;
}

export const COLUMN = 180;
export const ROW = 56;

export function layout(nodes: GraphNode[]): GraphLayout {
  const columns = new Map<string, number>();
  const rows = new Map<string, number>();
  const placed: Placed[] = [];
  const transactions: [Placed, Placed][] = [];
  let last: Placed | null = null;
  for (const node of nodes) {
    const column = columns.get(node.thread) ?? columns.size;
    const row = rows.get(node.thread) ?? 0;
    columns.set(node.thread, column);
    rows.set(node.thread, row + 1);
    const here = { ...node, x: COLUMN * (column + 0.5), y: ROW * (row + 0.75) };
    if (last && last.thread === node.thread) transactions.push([last, here]);
    placed.push(here);
    last = here;
  }
  return {
    nodes: placed,
    at: new Map(placed.map((node) => [node.node, node])),
    transactions,
    width: COLUMN * Math.max(1, columns.size),
    height: ROW * Math.max(1, ...rows.values()) + ROW / 2,
  };
}
