import { NO_POSTGRES } from './programs.ts';

/**
 * Where services of tests run: embedded, with `TROUPE_TEST_CLUSTER=member` as the only member of a cluster, and with
 * `TROUPE_TEST_CLUSTER=1` as a member with a standby, whose address is that of the service.
 */
const mode = NO_POSTGRES === false ? process.env.TROUPE_TEST_CLUSTER : undefined;

/** Clients use the address of a standby. */
export const hasStandby = mode === '1';

/** The data are in a database. */
export const isCluster = hasStandby || mode === 'member';
