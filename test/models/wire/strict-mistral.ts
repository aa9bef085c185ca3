import { isObject } from '../../../src/schema/endpoint.ts';

/** Why Mistral would reject the body of a request: each rule is documented, or checked by its own `mistral-common`. */

const FIELDS = [
  'model',
  'messages',
  'max_tokens',
  'temperature',
  'top_p',
  'stop',
  'random_seed',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'stream',
];
const MESSAGE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
};
/** Roles that may follow a role. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  system: ['system', 'user', 'assistant'],
  user: ['user', 'assistant', 'system'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
};
const PARTS = ['text', 'image_url', 'document_url', 'input_audio'];
const ID = /^[a-zA-Z0-9]{9}$/;

export const problemsOfMistral = (body: unknown): string[] => {
  if (!isObject(body)) return ['the body is not an object'];
  const problems = Object.keys(body)
    .filter((name) => !FIELDS.includes(name))
    .map((name) => `the field ${name} is unknown`);
  const { reasoning_effort: effort, messages } = body;
  if (effort !== undefined && effort !== 'none' && effort !== 'high') {
    problems.push(`the effort ${String(effort)} is unknown`);
  }
  if (!Array.isArray(messages) || messages.length === 0) return [...problems, 'no messages'];
  let previous: string | undefined;
  const open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const role = String(message.role);
    const fields = MESSAGE_FIELDS[role] ?? [];
    for (const name of Object.keys(message)) {
      if (!fields.includes(name)) problems.push(`messages.${index}: the field ${name} is unknown`);
    }
    if (previous !== undefined && NEXT[previous]?.includes(role) !== true) {
      problems.push(`messages.${index}: unexpected role ${role} after role ${previous}`);
    }
    if (role === 'user' && Array.isArray(message.content)) {
      for (const { type } of message.content) {
        if (!PARTS.includes(type)) problems.push(`messages.${index}: a part of type ${type}`);
      }
    }
    for (const call of message.tool_calls ?? []) {
      if (!ID.test(call.id)) problems.push(`messages.${index}: the id ${call.id} is refused`);
      if (open.has(call.id)) problems.push(`messages.${index}: the id ${call.id} is there twice`);
      open.add(call.id);
    }
    if (role === 'tool' && !open.delete(message.tool_call_id)) {
      problems.push(`messages.${index}: ${message.tool_call_id} is no open call`);
    }
    previous = role;
  }
  const last = messages.at(-1);
  if (last.role === 'system') problems.push('the last message is of the system');
  if (last.role === 'assistant' && last.prefix !== true) {
    problems.push('the last message is of the assistant, without prefix');
  }
  return problems;
};
