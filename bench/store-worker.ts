import type { Context } from './benchmark.ts';
import type { Place } from './pin.ts';
import { startMeasured } from './program.ts';
import type { Answer, Order } from './programs/store-worker.ts';

/** A separate process for commits. */
export type StoreWorker = { measure(order: Order): Promise<Answer>; stop(): Promise<void> };

export const startStoreWorker = (context: Context, place?: Place): StoreWorker => {
  const process = startMeasured(context.build, 'store-worker', [context.folder()], place);
  return {
    // The program responds to every order with an Answer.
    measure: async (order) => (await process.ask(order)) as Answer,
    stop: process.stop,
  };
};
