import { partitionOf } from '../../schema/partition.ts';
import type { Place } from '../../schema/place.ts';
import type { Principal } from '../../schema/principal.ts';

/**
 * Partitions that need no search (identity.md 1.4). Routes and protocols cannot name partitions themselves (an import rule), so
 * one that does not ask this module reaches nothing but threads without an owner.
 */

/** Returns the partition of everything that the principal owns, and of the threads that it creates. */
export const ownPartition = (principal: Principal): string => partitionOf(principal);

/** Returns the place of the thread in a row that a list of the principal's scope returned. */
export const placeOfListed = (
  { scope }: Pick<Principal, 'scope'>,
  { owner, id }: { owner?: string | undefined; id: string },
): Place => ({ scope: partitionOf({ scope, user: owner }), id });
