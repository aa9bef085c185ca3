import { soughtUserId } from '../../schema/identity-text.ts';
import { Outcome } from '../../schema/outcome.ts';
import type { IdentityService } from './api.ts';

/**
 * Makes the resource of each thread without an owner its owner (identity.md 1.3), if it is a user. Threads below others
 * follow these.
 */

export type Adopted = {
  thread: string;
  user: string;
  /** `no_user`: the resource is no user, so the thread stays without an owner. */
  result: 'adopted' | 'would_adopt' | 'no_user' | 'failed';
  reason?: string;
};

export async function* adoptThreads(
  { users, ownerless }: Pick<IdentityService, 'users' | 'ownerless'>,
  { dryRun }: { dryRun: boolean },
): AsyncIterable<Adopted> {
  const known = new Set((await users()).map(({ id }) => id));
  // Threads that change during a walk over a list would be found twice.
  for (const { id: thread, resource_id } of await ownerless.withResource()) {
    const user = soughtUserId(resource_id);
    if (!known.has(user)) yield { thread, user, result: 'no_user' };
    else if (dryRun) yield { thread, user, result: 'would_adopt' };
    else yield { thread, user, ...(await adopt(ownerless, thread, user)) };
  }
}

const adopt = async (
  ownerless: IdentityService['ownerless'],
  thread: string,
  user: string,
): Promise<Pick<Adopted, 'result' | 'reason'>> => {
  try {
    await ownerless.give(thread, user);
    return { result: 'adopted' };
  } catch (error) {
    if (!(error instanceof Outcome)) throw error;
    return { result: 'failed', reason: error.message };
  }
};
