import type { Graph, GraphEdge, GraphNode } from './reference-graph.ts';

/**
 * The places of nodes and edges on the map. An edge that passes a column has a slot in it like a node, which all edges
 * to the same target share, so that edges are bundled and lead around boxes. Nodes are at the mean height of their
 * sources. Delegations are arcs at the left of their column.
 */

export const BOX = { width: 190, height: 26 };

const COLUMN = 245;
const ROW = 34;
/** Height of a slot for edges that pass a column. */
const SLOT = 16;
/** Space for the arcs of delegations. */
const LEFT = 56;

export type Place = { x: number; y: number };
export type Layout = {
  places: ReadonlyMap<string, Place>;
  /** The left edges of the columns that are not empty, by their index. */
  heads: ReadonlyMap<number, number>;
  edges: readonly (GraphEdge & { path: string })[];
  width: number;
  height: number;
};

type Slot = { key: string; sources: readonly string[]; height: number };

const slotOf = (target: string, column: number): string => `${target} @${column}`;

/** The nodes of a column and the slots of edges that pass it, each with the keys in the columns before it. */
const slotsIn = (
  columns: readonly (readonly GraphNode[])[],
  edges: readonly GraphEdge[],
  at: number,
): Slot[] => {
  const columnOf = new Map(
    columns.flatMap((nodes, column) => nodes.map(({ key }) => [key, column] as const)),
  );
  const cameFrom = ({ from, to }: GraphEdge): string =>
    at - 1 > (columnOf.get(from) ?? 0) ? slotOf(to, at - 1) : from;
  const own = (columns[at] ?? []).map(({ key }) => ({
    key,
    sources: edges.filter(({ from, to }) => to === key && columnOf.get(from) !== at).map(cameFrom),
    height: ROW,
  }));
  const passing = edges.filter(
    ({ from, to }) => (columnOf.get(from) ?? 0) < at && (columnOf.get(to) ?? 0) > at,
  );
  const targets = [...new Set(passing.map(({ to }) => to))];
  return [
    ...own,
    ...targets.map((to) => ({
      key: slotOf(to, at),
      sources: passing.filter((edge) => edge.to === to).map(cameFrom),
      height: SLOT,
    })),
  ];
};

const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.POSITIVE_INFINITY : values.reduce((sum, one) => sum + one, 0) / values.length;

/** Places the slots of one column below each other, near the height of their sources. */
const placed = (
  slots: readonly Slot[],
  x: number,
  places: ReadonlyMap<string, Place>,
): Map<string, Place> => {
  const wanted = slots
    .map((slot) => ({ slot, y: mean(slot.sources.flatMap((key) => places.get(key)?.y ?? [])) }))
    .sort((a, b) => (a.y === b.y ? 0 : a.y < b.y ? -1 : 1));
  const found = new Map<string, Place>();
  let free = 0;
  for (const { slot, y } of wanted) {
    const top = Math.max(free, Number.isFinite(y) ? y - slot.height / 2 : 0);
    found.set(slot.key, { x, y: top + slot.height / 2 });
    free = top + slot.height;
  }
  return found;
};

const curve = (from: Place, to: Place): string => {
  const middle = (from.x + to.x) / 2;
  return `C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
};

const end = ({ x, y }: Place): Place => ({ x: x + BOX.width, y });

/** An arc at the left of the column; a longer one leads further out. */
const arc = (from: Place, to: Place): string => {
  const out = from.x - Math.min(LEFT - 6, 14 + Math.abs(to.y - from.y) / 6);
  return `M${from.x} ${from.y}C${out} ${from.y} ${out} ${to.y} ${to.x} ${to.y}`;
};

export const layoutOf = ({ columns: all, edges }: Graph): Layout => {
  const heads = new Map<number, number>();
  const columns = all.filter(({ length }, index) => {
    if (length > 0) heads.set(index, LEFT + heads.size * COLUMN);
    return length > 0;
  });
  const places = new Map<string, Place>();
  columns.forEach((_, at) => {
    const slots = slotsIn(columns, edges, at);
    for (const [key, place] of placed(slots, LEFT + at * COLUMN, places)) places.set(key, place);
  });
  const pathOf = ({ from, to }: GraphEdge): string | undefined => {
    const [start, target] = [places.get(from), places.get(to)];
    if (!start || !target) return undefined;
    if (start.x === target.x) return arc(start, target);
    const passed = columns.flatMap((_, at) => {
      const x = LEFT + at * COLUMN;
      const slot = places.get(slotOf(to, at));
      return slot && x > start.x && x < target.x ? [slot] : [];
    });
    let path = `M${end(start).x} ${start.y}`;
    let last = end(start);
    for (const slot of passed) {
      path += `${curve(last, slot)}H${end(slot).x}`;
      last = end(slot);
    }
    return path + curve(last, target);
  };
  const bottom = Math.max(0, ...[...places.values()].map(({ y }) => y));
  return {
    places,
    heads,
    edges: edges.flatMap((edge) => {
      const path = pathOf(edge);
      return path === undefined ? [] : [{ ...edge, path }];
    }),
    width: LEFT + (columns.length - 1) * COLUMN + BOX.width,
    height: bottom + ROW / 2,
  };
};
