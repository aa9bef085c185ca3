import type { JsonObject } from '../schema/json.ts';
import type { InputBlock } from '../schema/message.ts';
import type { RunOverridesInput } from '../schema/run-overrides.ts';

/**
 * A message of a request. `content` is a text, or texts and files (`fileBlock`); only messages of role user may
 * contain files. Messages of role system require an agent with `client_system_messages`, or admin rights.
 *
 * @example
 * ```ts
 * const notes = new File(['Rain in Rome'], 'notes.txt', { type: 'text/plain' });
 * const messages: RunMessage[] = [
 *   { role: 'user', content: [{ type: 'text', text: 'What is this?' }, await fileBlock(notes)] },
 * ];
 * ```
 */
export type RunMessage = {
  role: 'user' | 'assistant' | 'system';
  content: string | readonly InputBlock[];
  /** Ids of uploaded files of the caller (`client.files`), which follow the content; at most 32. */
  files?: readonly string[] | undefined;
};

/**
 * The request to start a run (runtime.md 5.1).
 *
 * @example
 * ```ts
 * const request: RunRequest = {
 *   agentId: 'default',
 *   threadId: 'first',
 *   messages: [{ role: 'user', content: 'Write one verse about rain.' }],
 *   overrides: { temperature: 0.2, max_tokens: 200 },
 * };
 * console.log(await client.runs.stream(request).text());
 * ```
 */
export type RunRequest = {
  agentId: string;
  /** Continues this thread, or creates it; default: a new thread. */
  threadId?: string | undefined;
  messages: readonly RunMessage[];
  /** Settings for the model calls of this run, which take precedence over those of the agent and its model. */
  overrides?: RunOverridesInput | undefined;
  /** JSON Schema of the structured result, which replaces that of the agent; null disables it. */
  output_schema?: JsonObject | null | undefined;
};
