import type { Message } from '../../schema/message.ts';
import type { Thread } from '../../schema/thread.ts';
import type { MessageRow } from '../../store/index.ts';

/** Payloads of the events about threads and their history (runtime.md 13.4). */

export type MessageRange = { from_seq: number; to_seq: number };

/** Returns the payload of thread events (runtime.md 13.4): null when unset. */
export const threadFacts = (thread: Thread): Record<string, unknown> => ({
  thread_id: thread.id,
  resource_id: thread.resource_id ?? null,
  parent_thread_id: thread.parent_thread_id ?? null,
  title: thread.metadata.title ?? null,
  created_at: thread.metadata.created_at ?? null,
  updated_at: thread.metadata.updated_at ?? null,
});

const messageKind = (message: Message): string => {
  const internal = message.visibility === 'internal';
  switch (message.role) {
    case 'user':
      return internal ? 'internal_user_input' : 'user_input';
    case 'system':
      return internal ? 'internal_system' : 'system';
    case 'assistant':
      return 'assistant_output';
    case 'tool':
      return 'tool_result';
  }
};

export const messageFacts = (
  thread_id: string,
  run_id: string | undefined,
  row: MessageRow,
): Record<string, unknown> => ({
  thread_id,
  run_id: run_id ?? null,
  message_id: row.message.id,
  message_seq: row.seq,
  role: row.message.role,
  content_blocks: row.message.content,
  message_kind: messageKind(row.message),
  parent_message_id: null,
});

export const checkpointFacts = (
  thread_id: string,
  run_id: string | undefined,
  range: MessageRange,
  messages: readonly Message[],
): Record<string, unknown> => ({
  thread_id,
  run_id: run_id ?? null,
  message_seq_start: range.from_seq,
  message_seq_end: range.to_seq,
  message_count: messages.length,
  message_ids: messages.map((message) => message.id),
});
