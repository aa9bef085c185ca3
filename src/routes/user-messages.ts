import { z } from 'zod';
import type { UserMessage } from '../runtime/index.ts';
import { emptyInputProblem } from '../schema/empty-input.ts';
import { listOf, MOST_MESSAGES } from '../schema/list.ts';
import { Invalid } from '../schema/outcome.ts';

/** The messages of requests that submit input (runtime.md 4.2). */

const ROLES = new Set(['user', 'assistant', 'system']);

const Role = z
  .string()
  .meta({ description: `${[...ROLES].join(', ')}; messages of any other role are dropped` });

export const UserMessages = listOf(z.object({ role: Role, content: z.string() }), MOST_MESSAGES);

export function rolesOf(messages: z.output<typeof UserMessages>): string[] {
  return messages.map(({ role }) => role);
}

/** Messages of other roles are dropped. @throws Invalid when nothing is left, or a user says nothing */
export const keptMessages = (messages: z.output<typeof UserMessages>): UserMessage[] => {
  const kept = messages
    .filter(({ role }) => ROLES.has(role))
    .map(({ role, content }) => ({
      // The filter above leaves only these roles.
      role: role as UserMessage['role'],
      content: [{ type: 'text' as const, text: content }],
    }));
  if (kept.length === 0) throw new Invalid('at least one message is required');
  for (const { role, content } of kept) {
    const problem = role === 'user' ? emptyInputProblem(content) : undefined;
    if (problem !== undefined) throw new Invalid(`a message of role user ${problem}`);
  }
  return kept;
};
