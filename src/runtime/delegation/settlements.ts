import type { RunRecord } from '../../schema/run-state.ts';

/** Callers that wait until a run becomes inactive: done, or waiting for a person or the client. */
export type Settlements = {
  wait(run_id: string): Promise<RunRecord | undefined>;
  /** Returns false when no caller waits for the run. Without a run: this process has released it. */
  notify(run_id: string, run: RunRecord | undefined): boolean;
  releaseAll(): void;
  size(): number;
};

export const createSettlements = (): Settlements => {
  const waiting = new Map<string, ((run: RunRecord | undefined) => void)[]>();
  const notify: Settlements['notify'] = (run_id, run) => {
    const callers = waiting.get(run_id) ?? [];
    waiting.delete(run_id);
    for (const resolve of callers) resolve(run);
    return callers.length > 0;
  };
  return {
    wait: (run_id) =>
      new Promise((resolve) => waiting.set(run_id, [...(waiting.get(run_id) ?? []), resolve])),
    notify,
    releaseAll() {
      for (const run_id of [...waiting.keys()]) notify(run_id, undefined);
    },
    size: () => waiting.size,
  };
};
