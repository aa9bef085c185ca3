import type { Via } from './cluster.ts';
import { NO_PGBOUNCER, NO_POSTGRES } from './programs.ts';

/** The ways to a server, with the reason why there is none. */
export const VIAS: readonly [via: Via, missing: string | false][] = [
  ['direct', NO_POSTGRES],
  ['pgbouncer', NO_PGBOUNCER],
];
