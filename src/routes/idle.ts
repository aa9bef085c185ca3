import { NotFound } from '../schema/outcome.ts';
import type { Rooms } from './rooms.ts';

/**
 * What the runtime cannot find may be there and have nothing to do: then the answer, still a 404, says so
 * (runtime.md 11, 12). The id in a path may be that of a run, a dispatch or a thread.
 */
export const tellingIdle = async <Value>(
  { store }: Pick<Rooms, 'store'>,
  { scope, id, idle }: { scope: string; id: string; idle: string },
  work: () => Promise<Value>,
): Promise<Value> => {
  try {
    return await work();
  } catch (error) {
    const isThere = error instanceof NotFound && (store.threads.get(scope, id) ?? store.runs.get(scope, id));
    throw isThere ? new NotFound(idle, { cause: error }) : error;
  }
};
