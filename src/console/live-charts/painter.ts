import type { Chart } from '../../schema/chart.ts';
import type { Crowd, Dot, Wall } from './dots.ts';
import { type Mark, plainMark } from './marks.ts';

/**
 * Draws a wall whenever it has changed, and in each frame while something moves.
 *
 * Cost: dots of the same color are one path, and a frame reads no layout.
 */

const CHOSEN = '--accent';
const RADIUS = 3.2;
const CROWD_PX = 14;

/** The tokens of the theme by name. */
const createColors = () => {
  let known = new Map<string, string>();
  return {
    of(name: string): string {
      const color =
        known.get(name) ?? getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      known.set(name, color);
      return color;
    },
    clear(): void {
      known = new Map();
    },
  };
};
type Colors = ReturnType<typeof createColors>;

const addShape = (pen: CanvasRenderingContext2D, { x, y }: Dot, corners: readonly number[]): void => {
  if (corners.length === 0) {
    pen.moveTo(x + RADIUS, y);
    pen.arc(x, y, RADIUS, 0, 2 * Math.PI);
    return;
  }
  for (let at = 0; at < corners.length; at += 2) {
    const [cornerX, cornerY] = [x + (corners[at] ?? 0), y + (corners[at + 1] ?? 0)];
    if (at === 0) pen.moveTo(cornerX, cornerY);
    else pen.lineTo(cornerX, cornerY);
  }
  pen.closePath();
};

/** Dots that one path draws. */
type Group = { color: string; isAtRest: boolean; opacity: number; members: [Dot, Mark][] };

/** Fading dots have a few steps of opacity, so that they share paths too. */
const FADES = 8;

const groupsOf = (dots: readonly Dot[], markOf: (dot: Dot) => Mark): Iterable<Group> => {
  const groups = new Map<string, Group>();
  for (const dot of dots) {
    const mark = markOf(dot);
    const opacity = Math.ceil(dot.opacity * FADES) / FADES;
    const key = `${mark.color} ${opacity} ${dot.isAtRest}`;
    const group = groups.get(key) ?? { color: mark.color, isAtRest: dot.isAtRest, opacity, members: [] };
    group.members.push([dot, mark]);
    groups.set(key, group);
  }
  return groups.values();
};

const drawGroup = (pen: CanvasRenderingContext2D, group: Group, colors: Colors): void => {
  pen.globalAlpha = group.opacity;
  pen.beginPath();
  for (const [dot, { corners }] of group.members) addShape(pen, dot, corners);
  if (group.isAtRest) {
    pen.strokeStyle = colors.of(group.color);
    pen.lineWidth = 1.5;
    pen.stroke();
  } else {
    pen.fillStyle = colors.of(group.color);
    pen.fill();
  }
};

const drawRing = (pen: CanvasRenderingContext2D, { x, y }: Dot, colors: Colors): void => {
  pen.globalAlpha = 1;
  pen.beginPath();
  pen.arc(x, y, 8, 0, 2 * Math.PI);
  pen.strokeStyle = colors.of(CHOSEN);
  pen.lineWidth = 2;
  pen.stroke();
};

const drawCrowd = (pen: CanvasRenderingContext2D, { x, y, width, count }: Crowd, colors: Colors): void => {
  pen.globalAlpha = 1;
  pen.fillStyle = colors.of('--text-2');
  pen.beginPath();
  pen.roundRect(x - 4, y - CROWD_PX + 3, width + 8, CROWD_PX, CROWD_PX / 2);
  pen.fill();
  pen.fillStyle = colors.of('--surface');
  pen.font = '600 11px ui-monospace, monospace';
  pen.textAlign = 'center';
  pen.fillText(String(count), x + width / 2, y - 0.5);
};

/** The color of an outcome is that of its state. */
export const TINTS: Readonly<Record<Dot['tint'], string>> = {
  plain: '--text-2',
  created: '--text-2',
  running: '--info',
  waiting: '--warn',
  done: '--text-2',
  completed: '--success',
  failed: '--error',
  cancelled: '--text-3',
};

export const markByState = ({ tint }: Pick<Dot, 'tint'>): Mark => plainMark(TINTS[tint]);

/** A time by which every animation has ended, for readers who prefer reduced motion. */
const AFTER_ANIMATIONS_MS = 10_000;

export type Look = { chosen: string | undefined; markOf: ((id: string) => Mark) | undefined };

export const createPainter = (element: HTMLCanvasElement, chart: Chart, wall: Wall, look: () => Look) => {
  const pen = element.getContext('2d');
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const colors = createColors();
  let pending = 0;
  const draw = (): void => {
    pending = 0;
    if (!pen || element.width === 0) return;
    const { dots, crowds, isStill } = wall.at(performance.now() + (isCalm ? AFTER_ANIMATIONS_MS : 0));
    const { chosen, markOf } = look();
    const scale = element.width / chart.width;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, chart.width, chart.height);
    for (const crowd of crowds) drawCrowd(pen, crowd, colors);
    const groups = groupsOf(dots, (dot) => markOf?.(dot.id) ?? markByState(dot));
    for (const group of groups) drawGroup(pen, group, colors);
    const ringed = dots.find(({ id }) => id === chosen);
    if (ringed) drawRing(pen, ringed, colors);
    if (!isStill) next();
  };
  const next = (): void => {
    if (pending === 0) pending = requestAnimationFrame(draw);
  };
  const resized = new ResizeObserver(([entry]) => {
    const { width = 0, height = 0 } = entry?.contentRect ?? {};
    element.width = width * devicePixelRatio;
    element.height = height * devicePixelRatio;
    next();
  });
  resized.observe(element);
  const themed = new MutationObserver(() => {
    colors.clear();
    next();
  });
  themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return {
    next,
    close(): void {
      resized.disconnect();
      themed.disconnect();
      cancelAnimationFrame(pending);
    },
  };
};
