import type { Actor } from '../../schema/actor.ts';
import type { Run } from '../../schema/run.ts';

/** Returns the principal that gave the input of a run; its delegates and its tools act for the same user. */
export const actingUser = ({ user, credential }: Pick<Run, 'user' | 'credential'>): Actor | undefined =>
  credential && { ...(user !== undefined && { user }), credential };
