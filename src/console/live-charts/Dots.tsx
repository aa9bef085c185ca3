import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Chart } from '../../schema/chart.ts';
import css from './Dots.module.css';
import { type Crowd, createWall, type Dot, type Wall } from './dots.ts';
import type { Feed } from './feed.ts';

/** Draws every live actor as a dot that moves through one chart. The list next to it shows the same as text. */

type Colours = { dot: string; moving: string; rest: string; chosen: string; text: string };

const coloursNow = (): Colours => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    dot: colour('--text-2'),
    moving: colour('--accent'),
    rest: colour('--warn'),
    chosen: colour('--accent'),
    text: colour('--surface'),
  };
};

const drawDot = (pen: CanvasRenderingContext2D, dot: Dot, colours: Colours, isChosen: boolean): void => {
  pen.globalAlpha = dot.opacity;
  pen.beginPath();
  pen.arc(dot.x, dot.y, isChosen ? 5 : 3.2, 0, 2 * Math.PI);
  if (dot.isAtRest) {
    pen.strokeStyle = colours.rest;
    pen.lineWidth = 1.5;
    pen.stroke();
  } else {
    pen.fillStyle = isChosen ? colours.chosen : dot.isMoving ? colours.moving : colours.dot;
    pen.fill();
  }
  if (!isChosen) return;
  pen.beginPath();
  pen.arc(dot.x, dot.y, 8, 0, 2 * Math.PI);
  pen.strokeStyle = colours.chosen;
  pen.lineWidth = 1.5;
  pen.stroke();
};

const CROWD_PX = 14;

const drawCrowd = (pen: CanvasRenderingContext2D, { x, y, width, count }: Crowd, colours: Colours): void => {
  pen.globalAlpha = 1;
  pen.fillStyle = colours.dot;
  pen.beginPath();
  pen.roundRect(x - 4, y - CROWD_PX + 3, width + 8, CROWD_PX, CROWD_PX / 2);
  pen.fill();
  pen.fillStyle = colours.text;
  pen.font = '600 11px ui-monospace, monospace';
  pen.textAlign = 'center';
  pen.fillText(String(count), x + width / 2, y - 0.5);
};

/** Distance from a dot, in units of the chart, within which a click chooses it. */
const NEAR = 8;

/** A time by which every animation has ended, for readers who prefer reduced motion. */
const AFTER_ANIMATIONS_MS = 10_000;

/** Draws the wall whenever it has changed, and in each frame while something moves. */
const createPainter = (
  element: HTMLCanvasElement,
  chart: Chart,
  wall: Wall,
  chosen: () => string | undefined,
) => {
  const pen = element.getContext('2d');
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  let colours = coloursNow();
  let pending = 0;
  const draw = (): void => {
    pending = 0;
    if (!pen) return;
    const { dots, crowds, isStill } = wall.at(performance.now() + (isCalm ? AFTER_ANIMATIONS_MS : 0));
    const scale = (element.clientWidth * devicePixelRatio) / chart.width;
    element.width = element.clientWidth * devicePixelRatio;
    element.height = element.clientHeight * devicePixelRatio;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    for (const crowd of crowds) drawCrowd(pen, crowd, colours);
    for (const dot of dots) drawDot(pen, dot, colours, dot.id === chosen());
    if (!isStill) next();
  };
  const next = (): void => {
    if (pending === 0) pending = requestAnimationFrame(draw);
  };
  const resized = new ResizeObserver(next);
  resized.observe(element);
  const themed = new MutationObserver(() => {
    colours = coloursNow();
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

/** Moves the actors that the feed reports. @returns what stops it */
const followFeed = (
  feed: Feed,
  wall: Wall,
  machine: string | undefined,
  onMoved: () => void,
): (() => void) => {
  const isMeant = (actor: { machine: string }): boolean => machine === undefined || actor.machine === machine;
  // Adds actors that existed before and removes those that disappeared while the feed was interrupted.
  const compare = (): void => {
    const { live, ended } = feed.actors;
    for (const actor of live.values()) {
      if (isMeant(actor) && !wall.has(actor.id)) wall.move(actor, performance.now());
    }
    for (const id of wall.ids()) if (!live.has(id) && !ended.has(id)) wall.forget(id);
    onMoved();
  };
  const offFrames = feed.onFrame(({ frame, actor }) => {
    if (!isMeant(actor)) return;
    const transition = frame.type === 'transition' ? frame.transition : undefined;
    wall.move({ ...actor, transition }, performance.now());
    onMoved();
  });
  const offAll = feed.subscribe(compare);
  compare();
  return () => {
    offFrames();
    offAll();
  };
};

/** The dot under the pointer. */
const dotAt = (element: HTMLCanvasElement, chart: Chart, wall: Wall, event: MouseEvent): Dot | undefined => {
  const { left, top, width } = element.getBoundingClientRect();
  const scale = chart.width / width;
  const [x, y] = [(event.clientX - left) * scale, (event.clientY - top) * scale];
  return wall.at(performance.now()).dots.find((dot) => Math.hypot(dot.x - x, dot.y - y) < NEAR);
};

/** The dot under the pointer, in pixels of the canvas. */
type Hovered = { id: string; x: number; y: number };

export const Dots = (props: {
  chart: Chart;
  feed: Feed;
  /** Limits the dots to one machine if the feed contains others. */
  machine?: string;
  chosen: string | undefined;
  onChoose: (id: string) => void;
  /** Text next to the dot under the pointer. */
  about?: ((id: string) => ReactNode) | undefined;
}) => {
  const { chart, feed, machine } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hovered, setHovered] = useState<Hovered>();
  const current = useRef(props);
  current.current = props;
  const redraw = useRef(() => {});
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const wall = createWall(chart);
    const painter = createPainter(element, chart, wall, () => current.current.chosen);
    redraw.current = painter.next;
    const stopFollowing = followFeed(feed, wall, machine, painter.next);
    const onClick = (event: MouseEvent): void => {
      const near = dotAt(element, chart, wall, event);
      if (near) current.current.onChoose(near.id);
    };
    const onMove = (event: MouseEvent): void => {
      const near = current.current.about && dotAt(element, chart, wall, event);
      const { width } = element.getBoundingClientRect();
      setHovered(
        near && { id: near.id, x: (near.x * width) / chart.width, y: (near.y * width) / chart.width },
      );
    };
    const onLeave = (): void => setHovered(undefined);
    const parent = element.parentElement;
    parent?.addEventListener('click', onClick);
    parent?.addEventListener('mousemove', onMove);
    parent?.addEventListener('mouseleave', onLeave);
    return () => {
      parent?.removeEventListener('mousemove', onMove);
      parent?.removeEventListener('mouseleave', onLeave);
      stopFollowing();
      painter.close();
      parent?.removeEventListener('click', onClick);
    };
  }, [chart, feed, machine]);
  useEffect(() => redraw.current());
  return (
    <>
      <canvas ref={canvas} className={css.dots} />
      {hovered && (
        <div className={css.about} role="tooltip" style={{ left: hovered.x, top: hovered.y }}>
          {props.about?.(hovered.id)}
        </div>
      )}
    </>
  );
};
