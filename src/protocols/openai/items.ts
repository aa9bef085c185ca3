import { textWithoutData } from '../../schema/media.ts';
import type { ContentBlock, Message } from '../../schema/message.ts';
import { textOf } from '../../schema/message.ts';
import { isSource } from '../../schema/provider-tool.ts';
import type { StoredItem, StoredResponse } from '../../schema/stored-response.ts';
import { callId } from './ids.ts';
import { annotationsFor, callResult, type OutputItem, outputText, type Source } from './output.ts';

/** Creates the items of a leg from the messages of its run (openai-responses.md 7.4): the texts are stored once, in the history. */

/** The history of a run, by steps and calls. */
export type RunMessages = {
  /** The response of each step. */
  steps: ReadonlyMap<number, Message>;
  /** The calls of all steps, by their ids. */
  calls: ReadonlyMap<string, { name: string; arguments: string }>;
  /** The last result of each call, as the model reads it. */
  results: ReadonlyMap<string, string>;
};

/** @param messages in their order */
export const readRun = (messages: Iterable<Message>): RunMessages => {
  const steps = new Map<number, Message>();
  const calls = new Map<string, { name: string; arguments: string }>();
  const results = new Map<string, string>();
  for (const message of messages) {
    const { role, metadata, tool_call_id, content } = message;
    if (role === 'tool' && tool_call_id !== undefined) results.set(tool_call_id, textOf(content));
    if (role !== 'assistant') continue;
    if (metadata?.step_index !== undefined) steps.set(metadata.step_index, message);
    for (const call of message.tool_calls ?? [])
      calls.set(call.id, { name: call.name, arguments: JSON.stringify(call.arguments) });
  }
  return { steps, calls, results };
};

/** Returns the items at their positions; undefined for those that were withdrawn or deleted. */
export const outputOf = (
  { run_id, items, encrypted }: Pick<StoredResponse, 'run_id' | 'items' | 'encrypted'>,
  run: RunMessages,
  /** The partial response of a run that was stopped. */
  stopped?: Message,
): (OutputItem | undefined)[] => {
  const context: Context = { run_id, run, stopped, encrypted: encrypted === true };
  return items.map((kept) => (kept.void ? undefined : CREATE[kept.type](kept, context)));
};

type Context = {
  run_id: string;
  run: RunMessages;
  stopped: Message | undefined;
  encrypted: boolean;
};

const CREATE: Readonly<
  Record<StoredItem['type'], (kept: StoredItem, context: Context) => OutputItem | undefined>
> = {
  reasoning(kept, { run, stopped, encrypted }) {
    const message = run.steps.get(kept.step) ?? stopped;
    if (!message) return undefined;
    const text = part(reasoningOf(message), kept);
    return {
      id: kept.id,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text }],
      ...(encrypted && { encrypted_content: encryptedIn(message) }),
      status: kept.incomplete ? 'incomplete' : 'completed',
    };
  },
  message(kept, { run, stopped }) {
    const { id, text, refusal, step } = kept;
    const status = kept.incomplete ? 'incomplete' : 'completed';
    // The order of the keys is that of the live item, so that a repeated request receives the same text.
    const common = { id, type: 'message', role: 'assistant' } as const;
    if (text !== undefined) {
      const content = refusal ? ({ type: 'refusal', refusal: text } as const) : outputText(text);
      return { ...common, content: [content], status, phase: 'final_answer' };
    }
    const message = run.steps.get(step) ?? stopped;
    if (!message) return undefined;
    const shown = part(textWithoutData(message.content), kept);
    const sources = kept.from === undefined ? sourcesIn(message.content) : [];
    return {
      ...common,
      content: [outputText(shown, annotationsFor({ sources, files: kept.files ?? [] }, shown.length))],
      status,
      phase: message.tool_calls && message.tool_calls.length > 0 ? 'commentary' : 'final_answer',
    };
  },
  function_call(kept, { run_id, run }) {
    const call = run.calls.get(kept.call ?? '');
    if (!call) return undefined;
    return {
      id: kept.id,
      type: 'function_call',
      call_id: callId({ run_id, ordinal: kept.n ?? 0 }),
      ...call,
      status: kept.incomplete ? 'incomplete' : 'completed',
    };
  },
  mcp_call(kept, { run }) {
    const call = run.calls.get(kept.call ?? '');
    if (!call) return undefined;
    const result = run.results.get(kept.call ?? '');
    return {
      id: kept.id,
      type: 'mcp_call',
      server_label: 'troupe',
      ...call,
      output: null,
      error: null,
      approval_request_id: kept.approved ?? null,
      ...(kept.incomplete || result === undefined
        ? { status: kept.incomplete ? ('incomplete' as const) : ('in_progress' as const) }
        : callResult(result, kept.failed === true)),
    };
  },
  mcp_approval_request: ({ id, asked }) =>
    asked && { id, type: 'mcp_approval_request', server_label: 'troupe', ...asked, status: 'completed' },
};

const part = (text: string, { from = 0, to }: StoredItem): string => text.slice(from, to);

export const reasoningOf = ({ content, metadata }: Message): string =>
  [
    metadata?.reasoning ?? '',
    ...content.map((block) => (block.type === 'thinking' ? block.thinking : '')),
  ].join('');

const encryptedIn = ({ metadata }: Message): string | null => {
  for (const { item } of metadata?.reasoning_items ?? []) {
    if (typeof item.encrypted_content === 'string') return item.encrypted_content;
  }
  return null;
};

export const sourcesIn = (content: readonly ContentBlock[]): Source[] =>
  content.flatMap((block) =>
    isSource(block) && block.type === 'source_url' ? { url: block.url, title: block.title ?? '' } : [],
  );
