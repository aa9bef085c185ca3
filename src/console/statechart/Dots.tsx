import { useEffect, useRef } from 'react';
import type { Chart } from '../../schema/chart.ts';
import css from './Dots.module.css';
import { createWall, type Dot } from './dots.ts';
import type { Feed } from './feed.ts';

/** Every live actor as a dot that moves through one chart. What it shows is told in words by the list beside it. */

type Colours = { dot: string; moving: string; rest: string; chosen: string; edge: string };

const coloursNow = (): Colours => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    dot: colour('--text-2'),
    moving: colour('--accent'),
    rest: colour('--warn'),
    chosen: colour('--accent'),
    edge: colour('--surface'),
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

const NEAR = 8;

export const Dots = ({
  chart,
  feed,
  machine,
  chosen,
  onChoose,
}: {
  chart: Chart;
  feed: Feed;
  /** Only those of this machine, where the feed has others too. */
  machine?: string;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  const chosenNow = useRef(chosen);
  chosenNow.current = chosen;
  const redraw = useRef(() => {});
  useEffect(() => {
    const element = canvas.current;
    const pen = element?.getContext('2d');
    if (!element || !pen) return;
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const wall = createWall(chart);
    const isMeant = (actor: { machine: string }): boolean =>
      machine === undefined || actor.machine === machine;
    let colours = coloursNow();
    let pending = 0;

    const draw = (): void => {
      pending = 0;
      const { dots, isStill } = wall.at(performance.now() + (isCalm ? 10_000 : 0));
      const scale = (element.clientWidth * devicePixelRatio) / chart.width;
      element.width = element.clientWidth * devicePixelRatio;
      element.height = element.clientHeight * devicePixelRatio;
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      for (const dot of dots) drawDot(pen, dot, colours, dot.id === chosenNow.current);
      if (!isStill) next();
    };
    const next = (): void => {
      if (pending === 0) pending = requestAnimationFrame(draw);
    };
    redraw.current = next;

    const compare = (): void => {
      const { live } = feed.actors;
      for (const actor of live.values()) {
        if (isMeant(actor) && !wall.has(actor.id)) wall.move(actor, performance.now());
      }
      for (const id of wall.ids()) if (!live.has(id) && !feed.actors.ended.has(id)) wall.forget(id);
      next();
    };
    const offFrames = feed.onFrame(({ frame, actor }) => {
      if (!isMeant(actor)) return;
      wall.move(
        { ...actor, transition: frame.type === 'transition' ? frame.transition : undefined },
        performance.now(),
      );
      next();
    });
    // Whoever was there before, and whoever went away with a connection.
    const offAll = feed.subscribe(compare);
    compare();

    const resized = new ResizeObserver(next);
    resized.observe(element);
    const themed = new MutationObserver(() => {
      colours = coloursNow();
      next();
    });
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });

    const onClick = ({ clientX, clientY }: MouseEvent): void => {
      const { left, top, width } = element.getBoundingClientRect();
      const scale = chart.width / width;
      const [x, y] = [(clientX - left) * scale, (clientY - top) * scale];
      const { dots } = wall.at(performance.now());
      const near = dots.find((dot) => Math.hypot(dot.x - x, dot.y - y) < NEAR);
      if (near) choose.current(near.id);
    };
    const parent = element.parentElement;
    parent?.addEventListener('click', onClick);
    return () => {
      offFrames();
      offAll();
      resized.disconnect();
      themed.disconnect();
      parent?.removeEventListener('click', onClick);
      cancelAnimationFrame(pending);
    };
  }, [chart, feed, machine]);
  useEffect(() => redraw.current());
  return <canvas ref={canvas} className={css.dots} />;
};
