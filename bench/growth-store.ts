import type { Context } from './benchmark.ts';
import { startMeasured } from './program.ts';
import type { GrowthAnswer, GrowthOrder } from './programs/growth-store.ts';

/** A store in a separate process, whose threads grow on request. */
export type GrowthStore = { ask(order: GrowthOrder): Promise<GrowthAnswer>; stop(): Promise<void> };

export const startGrowthStore = (context: Context, dir: string): GrowthStore => {
  const program = startMeasured(context.build, 'growth-store', [dir]);
  return {
    // The program responds to every order with a GrowthAnswer.
    ask: async (order) => (await program.ask(order)) as GrowthAnswer,
    stop: program.stop,
  };
};
