import { z } from 'zod';
import type { UserMessage } from '../runtime/index.ts';
import { MOST_PARTS } from '../schema/answer-part.ts';
import { inputProblem, locateInputProblem } from '../schema/input-content.ts';
import { listOf, MOST_MESSAGES } from '../schema/list.ts';
import { InputBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';

/** Messages of requests that submit input (runtime.md 4.2). */

const ROLES = new Set(['user', 'assistant', 'system']);

const Role = z
  .string()
  .meta({ description: `${[...ROLES].join(', ')}; messages of any other role are dropped` });

const Content = z
  .union([z.string(), listOf(InputBlock, MOST_PARTS)], { error: wrongContent })
  .meta({ description: `a text, or 1 to ${MOST_PARTS} content blocks; files only in messages of role user` });

function wrongContent({ code, input }: { code?: string; input?: unknown }): string | undefined {
  const isOther = code === 'invalid_union' && input !== undefined && typeof input !== 'string';
  return isOther && !Array.isArray(input) ? 'must be a text or an array of content blocks' : undefined;
}

const FileIds = z
  .array(z.string())
  .max(MOST_PARTS)
  .optional()
  .meta({ description: 'ids of uploaded files, after the content; only in messages of role user' });

export const UserMessages = listOf(z.object({ role: Role, content: Content, files: FileIds }), MOST_MESSAGES);
type GivenMessages = z.output<typeof UserMessages>;

export function rolesOf(messages: GivenMessages): string[] {
  return messages.map(({ role }) => role);
}

/** Drops messages of other roles. @throws Invalid when none is left, or for an unusable block */
export const keptMessages = (messages: GivenMessages): UserMessage[] => {
  const kept = messages.flatMap(({ role, content, files = [] }, index): UserMessage[] => {
    if (!ROLES.has(role)) return [];
    const written = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const blocks = [...written, ...files.map(blockOfFile)];
    const problem = contentProblem(role, blocks);
    if (problem !== undefined) throw new Invalid(`messages[${index}].${problem}`);
    // The check above leaves only these roles.
    return [{ role: role as UserMessage['role'], content: blocks }];
  });
  if (kept.length === 0) throw new Invalid('at least one message is required');
  return kept;
};

/** The kind follows from the file when the input is accepted. */
const blockOfFile = (file_id: string): InputBlock => ({
  type: 'document',
  source: { type: 'file', file_id },
});

const contentProblem = (role: string, content: readonly InputBlock[]): string | undefined => {
  if (content.length === 0) return 'content: must be a text or have at least one block';
  const file = role === 'user' ? -1 : content.findIndex((block) => 'source' in block);
  if (file >= 0) return `content[${file}]: must be of type 'text' in a message of role ${role}`;
  const problem = inputProblem(content);
  return problem && locateInputProblem(problem);
};
