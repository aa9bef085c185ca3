import type { Test } from 'tap';
import { ask, type Got } from '../http.ts';
import { readBlocks } from '../stream.ts';
import { withTools } from '../suspended.ts';
import type { TestTools } from '../tools.ts';
import type { Troupe, TroupeOptions } from '../troupe.ts';

/** Chat requests over HTTP, and their response frames. */

export type Frame = { type: string; [key: string]: unknown };

/** A frame with its preceding `id:` line. */
export type Numbered = { id: string | undefined; frame: Frame };

export type ChatStream = {
  status: number;
  headers: Headers;
  /** Undefined once the stream has ended. */
  next(): Promise<Numbered | undefined>;
  /** Reads up to and including the first frame of this type. */
  until(type: string): Promise<Numbered[]>;
  rest(): Promise<Numbered[]>;
  /** Everything received so far, including comments. */
  raw(): string;
  close(): Promise<void>;
};

export type Chat = Troupe & {
  tools: TestTools;
  /** Sends a POST and opens the response stream. */
  open(path: string, body: unknown, headers?: Record<string, string>): Promise<ChatStream>;
  /** Follows a stream with a GET. */
  follow(path: string, headers?: Record<string, string>): Promise<ChatStream>;
  /** Sends a chat request to an agent on a thread, and reads it to its end. */
  say(agentId: string, threadId: string, ...messages: unknown[]): Promise<Frame[]>;
  history(threadId: string, query?: string): Promise<HistoryPage>;
};

export type HistoryPage = {
  messages: { id: string; role: string; parts: Record<string, unknown>[] }[];
  total: number;
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor?: string;
};

export const startChat = async (t: Test, options: TroupeOptions = {}): Promise<Chat> => {
  const { troupe, tools } = await withTools(t, options);
  const open: Chat['open'] = async (path, body, headers = {}) =>
    read(
      await ask(troupe.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  return Object.assign(troupe, {
    tools,
    open,
    follow: async (path: string, headers: Record<string, string> = {}) =>
      read(await ask(troupe.url + path, { headers })),
    async say(agentId: string, threadId: string, ...messages: unknown[]) {
      const stream = await open('/v1/ai-sdk/chat', { agentId, threadId, messages });
      if (stream.status !== 200) throw new Error(`status ${stream.status}`);
      return framesOf(await stream.rest());
    },
    async history(threadId: string, query = '') {
      const { status, body } = await troupe.call('GET', `/v1/ai-sdk/threads/${threadId}/messages${query}`);
      if (status !== 200) throw new Error(`status ${status}`);
      // The response schema of the route.
      return body as HistoryPage;
    },
  });
};

export const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });

export const framesOf = (numbered: readonly Numbered[]): Frame[] => numbered.map(({ frame }) => frame);

export const typesOf = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type);

export const textOf = (frames: readonly Frame[]): string =>
  frames.map(({ type, delta }) => (type === 'text-delta' ? delta : '')).join('');

export const find = (frames: readonly Frame[], type: string): Frame => {
  const found = frames.find((frame) => frame.type === type);
  if (!found) throw new Error(`no ${type} in ${typesOf(frames).join(' ')}`);
  return found;
};

const read = (response: Got): ChatStream => {
  const blocks = readBlocks(response);
  const stream: ChatStream = {
    ...blocks,
    async next() {
      for (let block = await blocks.next(); block !== undefined; block = await blocks.next()) {
        if (block.startsWith(':')) continue;
        const [, id, data] = /^(?:id: (\S+)\n)?data: (\{.*\})$/s.exec(block) ?? [];
        if (data === undefined) throw new Error(`not a frame: ${block}`);
        return { id, frame: JSON.parse(data) };
      }
      return undefined;
    },
    async until(type) {
      const frames: Numbered[] = [];
      for (;;) {
        const next = await stream.next();
        if (!next) throw new Error(`the stream ended before '${type}': ${blocks.raw()}`);
        frames.push(next);
        if (next.frame.type === type) return frames;
      }
    },
    async rest() {
      const frames: Numbered[] = [];
      for (let next = await stream.next(); next; next = await stream.next()) frames.push(next);
      return frames;
    },
  };
  return stream;
};
