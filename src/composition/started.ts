import type { Service } from './service.ts';

/** A process that has been started, alone or as a member of a cluster. */
export type Started = {
  /** Empty if the process does not listen. */
  readonly url: string;
  /** @throws Unavailable while this member does not have the data */
  service(): Service;
  /** Waits for executing runs up to the shutdown timeout. `waiting` receives their number. */
  stop(waiting?: (runs: number) => void): Promise<void>;
};
