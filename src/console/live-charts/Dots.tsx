import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Chart } from '../../schema/chart.ts';
import css from './Dots.module.css';
import { createWall, type Dot, type Wall } from './dots.ts';
import type { Feed } from './feed.ts';
import type { Mark } from './marks.ts';
import { createPainter } from './painter.ts';

/** Draws every live actor as a dot that moves through one chart. The list next to it shows the same as text. */

/** Distance from a dot, in units of the chart, within which a click chooses it. */
const NEAR = 8;

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
  /** The mark of an actor, by default that of its state. */
  markOf?: ((id: string) => Mark) | undefined;
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
    const painter = createPainter(element, chart, wall, () => ({
      chosen: current.current.chosen,
      markOf: current.current.markOf,
    }));
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
        <div className={`tip ${css.about}`} role="tooltip" style={{ left: hovered.x, top: hovered.y }}>
          {props.about?.(hovered.id)}
        </div>
      )}
    </>
  );
};
