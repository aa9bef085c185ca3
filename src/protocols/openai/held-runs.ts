import type { Attach, Channel } from '../../runtime/index.ts';

/**
 * Requests that stay open while their run waits for a decision that is made elsewhere (openai.md 6.5).
 *
 * Guarantees: the reader of a held request is attached to the next stream of its run before the first event.
 */
export type HeldRuns = {
  /** Attaches the reader to the next stream of the run. The returned function forgets it. */
  hold(scope: string, run_id: string, attach: Attach): () => void;
  /** A stream of the run begins. */
  began(scope: string, run_id: string, channel: Channel): void;
};

export const createHeldRuns = (): HeldRuns => {
  const held = new Map<string, Set<Attach>>();
  return {
    hold(scope, run_id, attach) {
      const name = nameOf(scope, run_id);
      const readers = held.get(name) ?? new Set();
      held.set(name, readers.add(attach));
      return () => {
        readers.delete(attach);
        if (readers.size === 0) held.delete(name);
      };
    },
    began(scope, run_id, channel) {
      const name = nameOf(scope, run_id);
      const readers = held.get(name);
      if (!readers) return;
      held.delete(name);
      for (const attach of readers) attach(channel);
    },
  };
};

const nameOf = (scope: string, run_id: string): string => `${scope}\0${run_id}`;
