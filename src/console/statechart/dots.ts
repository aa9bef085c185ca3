import type { Chart } from '../../schema/chart.ts';
import { arrowFor, shownIn } from './chart.ts';

/**
 * Where each actor of a wall is: in a place of its own inside its state, or on the way along the arrow of the
 * transition that it took. Pure: time is given.
 */

type Point = { x: number; y: number };

export type Dot = Point & {
  id: string;
  isMoving: boolean;
  isAtRest: boolean;
  /** From 1, of who has just come to its end, to 0. */
  opacity: number;
};

type Mover = {
  id: string;
  /** Path of the state of the chart in which it is. */
  shown: string;
  slot: number;
  at: Point;
  /** Undefined: it stands still. */
  way: { points: readonly Point[]; length: number; began: number } | undefined;
  isAtRest: boolean;
  endedAt: number | undefined;
};

/** How long a way takes, however long it is. */
const WAY_MS = 420;
/** Who has come to its end is seen for so long. */
const FAREWELL_MS = 1600;
/** Of a way that grows while somebody is on it. */
const MOST_POINTS = 60;
const PITCH = 9;
const HEAD = 26;
const EDGE = 9;

/** What has happened to an actor. */
export type Move = {
  id: string;
  state: readonly string[];
  /** Id of the transition that brought it here. */
  transition?: string | undefined;
  isAtRest: boolean;
  hasEnded: boolean;
};

export type Wall = {
  move(move: Move, now: number): void;
  forget(id: string): void;
  has(id: string): boolean;
  /** Ids of all that are shown. */
  ids(): Iterable<string>;
  /** All of them at that time, and whether any of them will be elsewhere later. */
  at(now: number): { dots: Dot[]; isStill: boolean };
};

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

const lengthOf = (points: readonly Point[]): number =>
  points.reduce((sum, point, index) => sum + distance(point, points[index - 1] ?? point), 0);

/** The point that lies so far along the way. */
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

/** What is left of the way behind that point, the point first. */
export const restOf = (points: readonly Point[], far: number): Point[] => {
  let passed = 0;
  const index = points.findIndex((point, place) => {
    passed += distance(point, points[place - 1] ?? point);
    return passed > far;
  });
  return index === -1 ? points.slice(-1) : [along(points, far), ...points.slice(index)];
};

const eased = (part: number): number => (part < 0.5 ? 2 * part * part : 1 - (2 - 2 * part) ** 2 / 2);

/** Places in the box of a state: in rows below its name, over each other once it is full. */
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

export const createWall = (chart: Chart): Wall => {
  const movers = new Map<string, Mover>();
  /** Of each state: which slots are free below the first that never was taken. */
  const slots = new Map<string, { free: number[]; next: number }>();

  const takeSlot = (path: string): number => {
    const { free, next } = slots.get(path) ?? { free: [], next: 0 };
    const slot = free.pop();
    slots.set(path, { free, next: slot === undefined ? next + 1 : next });
    return slot ?? next;
  };
  const giveSlot = ({ shown, slot }: Mover): void => void slots.get(shown)?.free.push(slot);

  const arrowPoints = (transition: string | undefined): readonly Point[] => {
    const arrow = transition === undefined ? undefined : arrowFor(chart, transition);
    return arrow === undefined ? [] : (chart.arrows[arrow]?.points ?? []);
  };

  /** What it has not yet gone of its way: at least the point where it is. */
  const ahead = (mover: Mover, now: number): Point[] => {
    const { way } = mover;
    const part = way ? (now - way.began) / WAY_MS : 1;
    if (way && part < 1) return restOf(way.points, eased(Math.max(0, part)) * way.length);
    mover.way = undefined;
    return [mover.at];
  };

  const forget = (id: string): void => {
    const mover = movers.get(id);
    if (!mover) return;
    giveSlot(mover);
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
      if (known) giveSlot(known);
      const slot = takeSlot(shown);
      const to = slotIn(chart, shown, slot);
      // Steps that follow each other at once are one way through all of their arrows.
      const points = before && [...before.slice(0, MOST_POINTS), ...arrowPoints(transition), to];
      const way = points && { points, length: lengthOf(points), began: now };
      movers.set(id, { id, shown, slot, at: to, way, isAtRest, endedAt });
    },
    at(now) {
      let isStill = true;
      const dots: Dot[] = [];
      for (const mover of movers.values()) {
        const { id, endedAt, isAtRest } = mover;
        const left = endedAt === undefined ? 1 : 1 - (now - endedAt) / FAREWELL_MS;
        if (left <= 0) {
          forget(id);
          continue;
        }
        const [place = mover.at] = ahead(mover, now);
        const isMoving = mover.way !== undefined;
        if (isMoving || left < 1) isStill = false;
        dots.push({ ...place, id, isMoving, isAtRest, opacity: left });
      }
      return { dots, isStill };
    },
  };
};
