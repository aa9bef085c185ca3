import type { Membership } from '../schema/membership.ts';
import type { Service } from './service.ts';

/** A process that has been started, alone or as a member of a cluster. */
export type Started = {
  /** Empty if the process does not listen. */
  readonly url: string;
  /** Absent in embedded mode. */
  readonly membership?: Membership;
  /** Undefined while another member has the data. */
  service(): Service | undefined;
  /** Waits for executing runs up to the shutdown timeout. `waiting` receives their number. */
  stop(waiting?: (runs: number) => void): Promise<void>;
  /** Resolves when the process has left its cluster; never in embedded mode. */
  readonly ended: Promise<MemberEnd>;
};

/** `refused`: the database does not accept this process any longer. */
export type MemberEnd = { state: 'gone' | 'refused'; reason: string };
