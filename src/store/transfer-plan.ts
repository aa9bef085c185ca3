/** The move of threads to another owner; see `transfers.ts`. */

export type Transfer = {
  /** The partition of the threads, and that of the new owner. */
  from: string;
  to: string;
  /** A thread, then all threads below it. */
  threads: readonly string[];
  /** Milliseconds. */
  at: number;
};

/** Ids before and after, by kind. */
export type TransferNames = Readonly<Record<'threads' | 'runs' | 'dispatches', ReadonlyMap<string, string>>>;

/** `lineage`: the number of the first thread, which all of them keep. */
export type TransferPlan = Transfer & { names: TransferNames; lineage: string };
