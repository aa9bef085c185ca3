/**
 * The color and the shape that stand for an agent. Pure.
 *
 * An agent has the same mark on every page, unless another one with the same preference precedes it by id. Shapes help
 * color-blind people, and multiply the number of marks.
 */

const COLORS = 6;

/** Corners around the center of a dot; a circle has none. */
const SHAPES = [
  [],
  [-3, -3, 3, -3, 3, 3, -3, 3],
  [0, -4, 4, 3.2, -4, 3.2],
] as const satisfies readonly (readonly number[])[];

export const MOST_MARKS = COLORS * SHAPES.length;

export type Mark = {
  /** Custom property of the color. */
  color: string;
  corners: readonly number[];
};

const markAt = (place: number): Mark => ({
  color: `--mark-${1 + (place % COLORS)}`,
  corners: SHAPES[Math.floor(place / COLORS) % SHAPES.length] ?? [],
});

const preferenceOf = (agent: string): number => {
  let hash = 0;
  for (let at = 0; at < agent.length; at += 1) hash = (hash * 31 + agent.charCodeAt(at)) % 1_000_003;
  return hash % MOST_MARKS;
};

/** Marks are distinct for up to `MOST_MARKS` agents. */
export const marksFor = (agents: Iterable<string>): ReadonlyMap<string, Mark> => {
  const taken = new Set<number>();
  const marks = new Map<string, Mark>();
  for (const agent of [...new Set(agents)].sort()) {
    let place = preferenceOf(agent);
    while (taken.has(place) && taken.size < MOST_MARKS) place = (place + 1) % MOST_MARKS;
    taken.add(place);
    marks.set(agent, markAt(place));
  }
  return marks;
};

/** The mark of a dot without an agent, and of one whose color is that of its state. */
export const plainMark = (color: string): Mark => ({ color, corners: [] });
