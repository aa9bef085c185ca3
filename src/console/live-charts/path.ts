import type { Chart } from '../../schema/chart.ts';
import { type Actor, type Step, stateAfter } from './actors.ts';
import { arrowFor } from './chart.ts';

/** Content of a chart at a moment of an actor's path. */

export type Moment = {
  states: readonly string[];
  /** How often each arrow had been passed, by its index. */
  passed: ReadonlyMap<number, number>;
  /** The last step before that moment. */
  step: Step | undefined;
  at: number;
};

/** @param at number of steps taken; undefined for all */
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
