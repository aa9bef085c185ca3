import type { Actor } from '../../schema/actor.ts';
import type { Run } from '../../schema/run.ts';

/** Returns the user that a run acts for; its delegates and its tools act for the same one. */
export const actingUser = ({ user, credential }: Pick<Run, 'user' | 'credential'>): Actor | undefined =>
  user === undefined || !credential ? undefined : { user, credential };
