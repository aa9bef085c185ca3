import type { Test } from 'tap';
import { ask } from '../http.ts';
import type { TestTools } from '../tools.ts';
import { createTestTools } from '../tools.ts';
import {
  ADMIN_TOKEN,
  type Answer,
  eventually,
  startTroupe,
  type Troupe,
  type TroupeOptions,
} from '../troupe.ts';

/** Chat completions of the tests, as a client without a library sends them. */

export type Chat = {
  troupe: Troupe;
  tools: TestTools;
  /** Sends a chat completion of the agent `echo`, unless the body names another one. */
  complete(body: object, headers?: Record<string, string>): Promise<Completed>;
  /** The same as a stream, read to its end. */
  stream(body: object, headers?: Record<string, string>): Promise<Streamed>;
};

export type Completed = Answer & {
  content: string | null;
  finish_reason: string;
  message: Record<string, unknown>;
  run_id: string;
  thread_id: string;
};

// biome-ignore lint/suspicious/noExplicitAny: chunks are compared, and not typed, by the tests.
type Chunk = any;

export type Streamed = {
  status: number;
  headers: Headers;
  raw: string;
  chunks: Chunk[];
  /** Texts of all chunks. */
  content: string;
  reasoning: string;
  finish_reason: string | undefined;
};

export const say = (content: unknown) => ({ role: 'user', content });
export const answered = (content: string) => ({ role: 'assistant', content });

export const startChat = async (t: Test, options: TroupeOptions = {}): Promise<Chat> => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, {
    ...options,
    app: { ...options.app, tools: [...tools.tools, ...(options.app?.tools ?? [])] },
  });
  return {
    troupe,
    tools,
    async complete(body, headers) {
      const sent = { model: 'echo', ...body };
      return completed(await troupe.call('POST', '/v1/chat/completions', sent, headers));
    },
    async stream(body, headers = {}) {
      const got = await ask(`${troupe.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'echo', stream: true, ...body }),
      });
      return streamed(got.status, got.headers, await got.text());
    },
  };
};

/**
 * Cuts a stream after this text, or as soon as the run is accepted, and returns the ids of its run and its thread once
 * `status` is the status of the run.
 */
export const cutStream = async (
  { troupe: { url, call } }: Chat,
  { body, headers, after = '', status }: { body: object; headers?: object; after?: string; status?: string },
): Promise<{ run_id: string; thread_id: string }> => {
  const cutting = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'echo', stream: true, ...body }),
    signal: cutting.signal,
  });
  const reader = response.body?.getReader();
  for (let received = ''; !received.includes(after); ) {
    const { value } = (await reader?.read()) ?? {};
    received += new TextDecoder().decode(value);
  }
  cutting.abort();
  const run_id = response.headers.get('x-troupe-run-id') ?? '';
  if (status !== undefined)
    await eventually(
      () => call('GET', `/v1/runs/${run_id}`),
      (answer) => answer.body.status === status,
    );
  return { run_id, thread_id: response.headers.get('x-troupe-thread-id') ?? '' };
};

/** Returns the decisions in the access log. */
export const decisionsIn = async (troupe: Troupe): Promise<unknown> => {
  const head = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { body } = await troupe.call('GET', '/v1/access-log?kind=decide', undefined, head);
  return body.items;
};

export const completed = (answer: Answer): Completed => {
  // The tests compare the rest.
  const choices = answer.body.choices as
    | { message: Record<string, unknown>; finish_reason: string }[]
    | undefined;
  const { message = {}, finish_reason = '' } = choices?.[0] ?? {};
  return {
    ...answer,
    message,
    content: message.content as string | null,
    finish_reason,
    run_id: answer.headers.get('x-troupe-run-id') ?? '',
    thread_id: answer.headers.get('x-troupe-thread-id') ?? '',
  };
};

const streamed = (status: number, headers: Headers, raw: string): Streamed => {
  const chunks = raw
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice('data: '.length)));
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  return {
    status,
    headers,
    raw,
    chunks,
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    reasoning: choices.map(({ delta }) => delta.reasoning_content ?? '').join(''),
    finish_reason: choices.at(-1)?.finish_reason,
  };
};

/** The number of runs of the scope. */
export const countRuns = async ({ call }: Pick<Troupe, 'call'>): Promise<number> =>
  Number((await call('GET', '/v1/runs?limit=1')).body.total);

export const messagesOf = async ({ call }: Troupe, thread_id: string): Promise<Record<string, unknown>[]> => {
  const { body } = await call('GET', `/v1/threads/${thread_id}/messages`);
  return (body.messages ?? []) as Record<string, unknown>[];
};
