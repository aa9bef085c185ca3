import { type Message, textOf } from '../schema/message.ts';
import type { Json } from './tool.ts';

/** Task events for a run: internal user messages with one format (agent-loop.md 16). */

export type TaskEventKind = 'completed' | 'failed' | 'cancelled' | 'custom';

/** Escapes `<` in JSON, so that the body cannot close its element. */
export const taskEvent = (id: string, kind: TaskEventKind, task_id: string, body: Json): Message => {
  const json = JSON.stringify(body).replaceAll('<', '\\u003c');
  const text = `<background-task-event kind="${kind}" task_id="${task_id}">\n${json}\n</background-task-event>`;
  return { id, role: 'user', content: [{ type: 'text', text }], visibility: 'internal' };
};

const ENDS = ['completed', 'failed', 'cancelled'] as const;

/** The end of a task that a message reports. */
export const endReportedBy = (
  message: Message,
): { task_id: string; status: (typeof ENDS)[number] } | undefined => {
  if (message.visibility !== 'internal') return undefined;
  const [head = ''] = textOf(message.content).split('\n', 1);
  const status = ENDS.find((kind) => head.startsWith(`<background-task-event kind="${kind}" task_id="`));
  const task_id = head.split('"')[3];
  return status && task_id !== undefined ? { task_id, status } : undefined;
};
