import type { Test } from 'tap';
import { eventsOf, play } from '../../protocols/ag-ui/client.ts';
import { type Chat, framesOf, startChat } from '../chat/chat.ts';
import type { TroupeOptions } from '../troupe.ts';

/** AG-UI requests over HTTP, and their response events. */

export type Event = { type: string; [key: string]: unknown };

export type AgUi = Chat & {
  /** Reads a response to its end; the events are valid and accepted by the official clients in this order. */
  ask(body: object, path?: string): Promise<Event[]>;
  items(threadId: string, query?: string): Promise<ItemPage>;
};

export type Item = {
  id: string;
  role: string;
  content: { type: string; [key: string]: unknown }[];
  toolCalls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  toolCallId?: string;
};

export type ItemPage = {
  messages: Item[];
  total: number;
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor?: string;
};

export const RUN = '/v1/ag-ui/run';

export const startAgUi = async (t: Test, options: TroupeOptions = {}): Promise<AgUi> => {
  const chat = await startChat(t, options);
  return Object.assign(chat, {
    async ask(body: object, path = RUN) {
      const stream = await chat.open(path, body);
      const events = framesOf(await stream.rest());
      if (stream.status !== 200) throw new Error(`status ${stream.status}`);
      await taken(events);
      return events;
    },
    async items(threadId: string, query = '') {
      const { status, body } = await chat.call('GET', `/v1/ag-ui/threads/${threadId}/messages${query}`);
      if (status !== 200) throw new Error(`status ${status}`);
      // The response schema of the route.
      return body as ItemPage;
    },
  });
};

/** @throws unless the official clients accept the events in this order */
export const taken = async (events: readonly Event[]): Promise<void> => {
  const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  eventsOf(frames);
  const { error } = await play(frames);
  const failed = events.find(({ type }) => type === 'RUN_ERROR');
  if (error !== undefined && error !== failed?.message) throw new Error(`${error}: ${frames}`);
};

export const user = (id: string, content: unknown) => ({ id, role: 'user', content });

export const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);

export const find = (events: readonly Event[], type: string): Event => {
  const found = events.find((event) => event.type === type);
  if (!found) throw new Error(`no ${type} in ${typesOf(events).join(' ')}`);
  return found;
};

export const textOf = (events: readonly Event[]): string =>
  events.map(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : '')).join('');

/** Lines `role: text`. */
export const told = ({ messages }: ItemPage): string[] =>
  messages.map(({ role, content }) => `${role}: ${content.map(({ text = '' }) => text).join('')}`);
