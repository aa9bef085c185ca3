/** Gates at which parts of the service wait until the test opens them, in order of arrival. */

export type Gates = {
  /** Rejects with `cancelled` once the signal fires. Resolves with the outcome that the test passed to `open`. */
  wait(signal: AbortSignal | undefined, cancelled: () => Error): Promise<boolean>;
  size(): number;
  /** Opens a gate with success or failure. */
  open(which: number, well: boolean): void;
  /** Drops all gates without resuming them. */
  clear(): void;
};

export const createGates = (): Gates => {
  let gates: ((well: boolean) => void)[] = [];
  return {
    wait: (signal, cancelled) =>
      new Promise((resolve, reject) => {
        const open = (well: boolean): void => {
          gates = gates.filter((other) => other !== open);
          resolve(well);
        };
        gates.push(open);
        signal?.addEventListener('abort', () => {
          gates = gates.filter((other) => other !== open);
          reject(cancelled());
        });
      }),
    size: () => gates.length,
    open: (which, well) => gates[which % gates.length]?.(well),
    clear() {
      gates = [];
    },
  };
};
