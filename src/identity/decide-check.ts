import type { Actor } from '../schema/actor.ts';
import { allows, parseTokenGrants } from '../schema/grants.ts';
import { baseOf } from '../schema/partition.ts';
import type { Store } from '../store/index.ts';
import { grantsOf } from './users/rights.ts';

/** Checks whether the author of a remembered decision may still decide such calls (identity.md 4, rule 5). */
export type DecideCheck = (scope: string, author: Actor, call: { agent_id: string; tool: string }) => boolean;

export const createDecideCheck =
  ({ users, keys }: Pick<Store, 'users' | 'keys'>): DecideCheck =>
  (partition, { user: id, credential }, { agent_id, tool }) => {
    // The admin token has every grant, and the embedding program keeps the users of its principals.
    if (id === undefined || credential.kind === 'program') return true;
    const user = users.get(baseOf(partition), id);
    if (!user || user.disabled || !allows(grantsOf(user), 'decide', agent_id, tool)) return false;
    const narrowing = credential.kind === 'key' ? keys.get(credential.id ?? '')?.grants : undefined;
    return !narrowing || allows(parseTokenGrants(narrowing), 'decide', agent_id, tool);
  };
