import type { Chart } from '../../schema/chart.ts';
import { arrowFor, shownIn } from './chart.ts';

/**
 * Positions of the actors on the wall. Each has a slot inside its state, or moves along the arrow of its last
 * transition. Pure: time is an argument.
 */

type Point = { x: number; y: number };

export type Dot = Point & {
  id: string;
  isMoving: boolean;
  isAtRest: boolean;
  /** 1, fading to 0 for an actor that has ended. */
  opacity: number;
};

/** Actors that stay in one state and are too many for separate dots. */
export type Crowd = Point & { width: number; count: number };

/** Larger crowds are drawn as a bar with their number. */
export const MOST_DOTS = 40;

type Mover = {
  id: string;
  /** Path of the drawn state that contains the actor. */
  shown: string;
  slot: number;
  at: Point;
  /** Undefined while the dot does not move. */
  way: { points: readonly Point[]; length: number; began: number } | undefined;
  isAtRest: boolean;
  endedAt: number | undefined;
};

/** Duration of a move, independent of its length. */
const WAY_MS = 420;
/** Time until the dot of an ended actor has faded out. */
const FAREWELL_MS = 1600;
/** Maximum number of points kept of a way that is extended while a dot moves. */
const MOST_POINTS = 60;
const PITCH = 9;
const HEAD = 26;
const EDGE = 9;

/** A change of an actor. */
export type Move = {
  id: string;
  state: readonly string[];
  /** Id of the transition that led to the state. */
  transition?: string | undefined;
  isAtRest: boolean;
  hasEnded: boolean;
};

export type Wall = {
  move(move: Move, now: number): void;
  forget(id: string): void;
  has(id: string): boolean;
  ids(): Iterable<string>;
  /** The dots and crowds at a time, and whether all of them have stopped changing. */
  at(now: number): { dots: Dot[]; crowds: Crowd[]; isStill: boolean };
};

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

export const lengthOf = (points: readonly Point[]): number =>
  points.reduce((sum, point, index) => sum + distance(point, points[index - 1] ?? point), 0);

/** The point at a distance along the way. */
export const along = (points: readonly Point[], far: number): Point => {
  let left = far;
  for (let index = 1; index < points.length; index += 1) {
    const [from, to] = [points[index - 1], points[index]];
    if (!from || !to) break;
    const stretch = distance(from, to);
    if (left <= stretch && stretch > 0) {
      const part = left / stretch;
      return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    }
    left -= stretch;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
};

/** The rest of the way after a distance, starting with the point at that distance. */
export const restOf = (points: readonly Point[], far: number): Point[] => {
  let passed = 0;
  const index = points.findIndex((point, place) => {
    passed += distance(point, points[place - 1] ?? point);
    return passed > far;
  });
  return index === -1 ? points.slice(-1) : [along(points, far), ...points.slice(index)];
};

const eased = (part: number): number => (part < 0.5 ? 2 * part * part : 1 - (2 - 2 * part) ** 2 / 2);

/** Position of a slot in a state's box: rows from the bottom upwards, in overlapping layers once the box is full. */
const slotIn = (chart: Chart, path: string, slot: number): Point => {
  const box = chart.states.find((state) => state.path === path);
  if (!box) return { x: 0, y: 0 };
  const columns = Math.max(1, Math.floor((box.width - 2 * EDGE) / PITCH) + 1);
  const lines = Math.max(1, Math.floor((box.height - HEAD - box.rows.length * 15 - EDGE) / PITCH) + 1);
  const place = slot % (columns * lines);
  const layer = Math.floor(slot / (columns * lines)) % 4;
  return {
    x: box.x + EDGE + (place % columns) * PITCH + (layer % 2) * (PITCH / 2),
    y: box.y + box.height - EDGE - Math.floor(place / columns) * PITCH - Math.floor(layer / 2) * (PITCH / 2),
  };
};

/** The place of a crowd: the whole width of the state, above its lower edge. */
const crowdIn = (chart: Chart, path: string, count: number): Crowd => {
  const box = chart.states.find((state) => state.path === path);
  if (!box) return { x: 0, y: 0, width: 0, count };
  return { x: box.x + EDGE, y: box.y + box.height - EDGE, width: box.width - 2 * EDGE, count };
};

/** @param still dots by state */
const gathered = (chart: Chart, still: ReadonlyMap<string, Dot[]>, moving: readonly Dot[]) => {
  const dots = [...moving];
  const crowds: Crowd[] = [];
  for (const [path, inState] of still) {
    if (inState.length > MOST_DOTS) crowds.push(crowdIn(chart, path, inState.length));
    else dots.push(...inState);
  }
  return { dots, crowds };
};

/** The slots of each state. */
const createSlots = () => {
  const slots = new Map<string, { free: number[]; next: number }>();
  return {
    take(path: string): number {
      const { free, next } = slots.get(path) ?? { free: [], next: 0 };
      const slot = free.pop();
      slots.set(path, { free, next: slot === undefined ? next + 1 : next });
      return slot ?? next;
    },
    give({ shown, slot }: Mover): void {
      slots.get(shown)?.free.push(slot);
    },
  };
};

/** The remaining way of a dot; contains at least its current position. */
const ahead = (mover: Mover, now: number): Point[] => {
  const { way } = mover;
  const part = way ? (now - way.began) / WAY_MS : 1;
  if (way && part < 1) return restOf(way.points, eased(Math.max(0, part)) * way.length);
  mover.way = undefined;
  return [mover.at];
};

/** Undefined once the dot of an ended actor has faded out. */
const dotOf = (mover: Mover, now: number): Dot | undefined => {
  const { id, endedAt, isAtRest } = mover;
  const opacity = endedAt === undefined ? 1 : 1 - (now - endedAt) / FAREWELL_MS;
  if (opacity <= 0) return undefined;
  const [place = mover.at] = ahead(mover, now);
  return { ...place, id, isMoving: mover.way !== undefined, isAtRest, opacity };
};

export const createWall = (chart: Chart): Wall => {
  const movers = new Map<string, Mover>();
  const slots = createSlots();

  const arrowPoints = (transition: string | undefined): readonly Point[] => {
    const arrow = transition === undefined ? undefined : arrowFor(chart, transition);
    return arrow === undefined ? [] : (chart.arrows[arrow]?.points ?? []);
  };

  const forget = (id: string): void => {
    const mover = movers.get(id);
    if (!mover) return;
    slots.give(mover);
    movers.delete(id);
  };

  return {
    forget,
    has: (id) => movers.has(id),
    ids: () => movers.keys(),
    move({ id, state, transition, isAtRest, hasEnded }, now) {
      const shown = shownIn(chart, state[0] ?? '');
      const known = movers.get(id);
      if (shown === undefined || (hasEnded && !known)) return;
      const endedAt = hasEnded ? now : undefined;
      if (known?.shown === shown) {
        Object.assign(known, { isAtRest, endedAt });
        return;
      }
      const before = known && ahead(known, now);
      if (known) slots.give(known);
      const slot = slots.take(shown);
      const to = slotIn(chart, shown, slot);
      // A transition during a move extends the way through its arrow.
      const points = before && [...before.slice(0, MOST_POINTS), ...arrowPoints(transition), to];
      const way = points && { points, length: lengthOf(points), began: now };
      movers.set(id, { id, shown, slot, at: to, way, isAtRest, endedAt });
    },
    at(now) {
      let isStill = true;
      const moving: Dot[] = [];
      const still = new Map<string, Dot[]>();
      for (const mover of movers.values()) {
        const dot = dotOf(mover, now);
        if (!dot) {
          forget(mover.id);
          continue;
        }
        isStill &&= !dot.isMoving && dot.opacity === 1;
        const dots = dot.isMoving ? moving : (still.get(mover.shown) ?? []);
        dots.push(dot);
        if (!dot.isMoving) still.set(mover.shown, dots);
      }
      return { ...gathered(chart, still, moving), isStill };
    },
  };
};
