import type { Chart, ChartState } from '../../schema/chart.ts';
import { arrowFor, stateFor } from './chart.ts';
import { lengthOf, type Point, restOf } from './way.ts';

/**
 * Positions of the actors on the wall. Each has a slot inside its state, or moves along the arrow of its last
 * transition. Pure: time is an argument.
 */

export type Dot = Point & {
  id: string;
  tint: ChartState['tint'];
  isMoving: boolean;
  isAtRest: boolean;
  /** 1, fading to 0 for an actor that has ended. */
  opacity: number;
};

/** Actors that stay in one state and are too many for separate dots. */
export type Crowd = Point & { width: number; count: number };

/** Maximum number of dots in a large state. */
const MOST_DOTS = 40;

type Mover = {
  id: string;
  /** The drawn state that contains the actor. */
  shown: ChartState;
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

const eased = (part: number): number => (part < 0.5 ? 2 * part * part : 1 - (2 - 2 * part) ** 2 / 2);

type Grid = { columns: number; slots: number };

/** The slots of a state's box, below its texts. */
const gridOf = ({ width, height, rows }: ChartState): Grid => {
  const columns = Math.max(1, Math.floor((width - 2 * EDGE) / PITCH) + 1);
  const lines = Math.max(1, Math.floor((height - HEAD - rows.length * 15 - EDGE) / PITCH) + 1);
  return { columns, slots: columns * lines };
};

/** More actors than slots are drawn as a crowd. */
export const mostDots = (box: ChartState): number => Math.min(MOST_DOTS, gridOf(box).slots);

/** Position of a slot: rows from the bottom upwards. */
const slotIn = (box: ChartState, slot: number): Point => {
  const { columns, slots } = gridOf(box);
  const place = slot % slots;
  return {
    x: box.x + EDGE + (place % columns) * PITCH,
    y: box.y + box.height - EDGE - Math.floor(place / columns) * PITCH,
  };
};

/** The place of a crowd: the whole width of the state, above its lower edge. */
const crowdIn = (box: ChartState, count: number): Crowd => ({
  x: box.x + EDGE,
  y: box.y + box.height - EDGE,
  width: box.width - 2 * EDGE,
  count,
});

const createSlots = () => {
  const slots = new Map<ChartState, { free: number[]; next: number }>();
  return {
    take(shown: ChartState): number {
      const { free, next } = slots.get(shown) ?? { free: [], next: 0 };
      const slot = free.pop();
      slots.set(shown, { free, next: slot === undefined ? next + 1 : next });
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

const stillDot = ({ id, at: { x, y }, shown: { tint }, isAtRest }: Mover): Dot => ({
  x,
  y,
  id,
  tint,
  isMoving: false,
  isAtRest,
  opacity: 1,
});

/** Undefined once the dot of an ended actor has faded out. */
const dotOf = (mover: Mover, now: number): Dot | undefined => {
  const opacity = mover.endedAt === undefined ? 1 : 1 - (now - mover.endedAt) / FAREWELL_MS;
  if (opacity <= 0) return undefined;
  const [{ x, y } = mover.at] = ahead(mover, now);
  return { ...stillDot(mover), x, y, isMoving: mover.way !== undefined, opacity };
};

/** Movers by what a frame has to compute for them: those that change one by one, the others by state. */
const createParts = () => {
  const changing = new Set<Mover>();
  const still = new Map<ChartState, Set<Mover>>();
  const settle = (mover: Mover): void => {
    changing.delete(mover);
    const movers = still.get(mover.shown) ?? new Set();
    still.set(mover.shown, movers.add(mover));
  };
  return {
    change(mover: Mover): void {
      still.get(mover.shown)?.delete(mover);
      changing.add(mover);
    },
    remove(mover: Mover): void {
      changing.delete(mover);
      still.get(mover.shown)?.delete(mover);
    },
    stillIn: (shown: ChartState): ReadonlySet<Mover> => still.get(shown) ?? NONE,
    /** The dots that move, and by state those that fade in their place. `forget` removes those that have faded. */
    changingAt(now: number, forget: (id: string) => void) {
      const moving: Dot[] = [];
      const fading = new Map<ChartState, Dot[]>();
      for (const mover of changing) {
        const dot = dotOf(mover, now);
        if (!dot) forget(mover.id);
        else if (dot.isMoving) moving.push(dot);
        else if (mover.endedAt === undefined) settle(mover);
        else {
          const dots = fading.get(mover.shown) ?? [];
          dots.push(dot);
          fading.set(mover.shown, dots);
        }
      }
      return { moving, fading };
    },
  };
};

const NONE: ReadonlySet<Mover> = new Set();

export const createWall = (chart: Chart): Wall => {
  const movers = new Map<string, Mover>();
  const slots = createSlots();
  const parts = createParts();

  const arrowPoints = (transition: string | undefined): readonly Point[] => {
    const arrow = transition === undefined ? undefined : arrowFor(chart, transition);
    return arrow === undefined ? [] : (chart.arrows[arrow]?.points ?? []);
  };

  const leave = (mover: Mover): void => {
    slots.give(mover);
    parts.remove(mover);
  };

  const forget = (id: string): void => {
    const mover = movers.get(id);
    if (!mover) return;
    leave(mover);
    movers.delete(id);
  };

  return {
    forget,
    has: (id) => movers.has(id),
    ids: () => movers.keys(),
    move({ id, state, transition, isAtRest, hasEnded }, now) {
      const shown = stateFor(chart, state[0] ?? '');
      const known = movers.get(id);
      if (shown === undefined || (hasEnded && !known)) return;
      const endedAt = hasEnded ? now : undefined;
      if (known?.shown === shown) {
        Object.assign(known, { isAtRest, endedAt });
        parts.change(known);
        return;
      }
      const before = known && ahead(known, now);
      if (known) leave(known);
      const slot = slots.take(shown);
      const to = slotIn(shown, slot);
      // A transition during a move extends the way through its arrow.
      const points = before && [...before.slice(0, MOST_POINTS), ...arrowPoints(transition), to];
      const way = points && { points, length: lengthOf(points), began: now };
      const mover = { id, shown, slot, at: to, way, isAtRest, endedAt };
      movers.set(id, mover);
      parts.change(mover);
    },
    at(now) {
      const { moving: dots, fading } = parts.changingAt(now, forget);
      const isStill = dots.length === 0 && fading.size === 0;
      const crowds: Crowd[] = [];
      for (const shown of chart.states) {
        const still = parts.stillIn(shown);
        const faded = fading.get(shown) ?? [];
        const count = still.size + faded.length;
        if (count > mostDots(shown)) crowds.push(crowdIn(shown, count));
        else dots.push(...faded, ...Array.from(still, stillDot));
      }
      return { dots, crowds, isStill };
    },
  };
};
