import type { Chart } from '../../schema/chart.ts';
import { type Actor, type Step, stateAfter } from './actors.ts';
import { arrowFor } from './chart.ts';

/** What a chart shows of an actor at a moment of its path. */

export type Moment = {
  /** Paths of the states in which it was. */
  states: readonly string[];
  /** How often each arrow of the chart had been passed, by its place. */
  passed: ReadonlyMap<number, number>;
  /** The step that led here. */
  step: Step | undefined;
  /** Steps taken by then. */
  at: number;
};

/** @param at steps taken by then; undefined: all of them */
export const momentOf = (
  chart: Chart,
  actor: Pick<Actor, 'steps' | 'state'>,
  at: number | undefined,
): Moment => {
  const count = Math.min(at ?? actor.steps.length, actor.steps.length);
  const passed = new Map<number, number>();
  for (const { transition } of actor.steps.slice(0, count)) {
    const arrow = arrowFor(chart, transition);
    if (arrow !== undefined) passed.set(arrow, (passed.get(arrow) ?? 0) + 1);
  }
  return { states: stateAfter(actor, count), passed, step: actor.steps[count - 1], at: count };
};
