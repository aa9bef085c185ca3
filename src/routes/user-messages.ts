import { z } from 'zod';
import type { UserMessage } from '../runtime/index.ts';
import { Invalid } from '../schema/outcome.ts';

/** The messages of requests that submit input (runtime.md 4.2). */

export const UserMessages = z.array(z.object({ role: z.string(), content: z.string() }));

const ROLES = new Set(['user', 'assistant', 'system']);

/** Messages of other roles are dropped. @throws Invalid when nothing is left */
export const keptMessages = (messages: z.output<typeof UserMessages>): UserMessage[] => {
  const kept = messages
    .filter(({ role }) => ROLES.has(role))
    .map(({ role, content }) => ({
      // The filter above leaves only these roles.
      role: role as UserMessage['role'],
      content: [{ type: 'text' as const, text: content }],
    }));
  if (kept.length === 0) throw new Invalid('at least one message is required');
  return kept;
};
