import type { Benchmark, Context } from './benchmark.ts';
import { BenchError } from './error.ts';
import { playResumes, type Resume } from './resumer.ts';
import { percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import { askJson, readFrames, type Server, startTroupe } from './servers.ts';

/**
 * Costs of a client that reconnects with `Last-Event-ID`: to a chat whose completion is in progress, which is replayed
 * from memory, and to the event log of a thread, which is read from the store.
 */

const CLIENTS = 64;
const TOKENS = 200;

/** Events of the chat stream before its first token; the client has received half of the tokens. */
const LEADING = 4;

const chatBody = (threadId: string): string =>
  JSON.stringify({
    agentId: 'bench-halfway',
    threadId,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
  });

/** A chat whose client disconnects once all its tokens have arrived; the model then stays silent. */
const cutChat = async ({ name, url }: Server, threadId: string): Promise<Resume> => {
  const response = await fetch(`${url}/v1/ai-sdk/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: chatBody(threadId),
  });
  if (!response.ok || !response.body) throw new BenchError(`${name} answered ${response.status}`);
  const last = `id: ${LEADING + TOKENS}\n`;
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes(last)) break;
  }
  if (!text.includes(last)) throw new BenchError(`${name}: a chat ended before its cut`);
  return {
    path: `/v1/ai-sdk/chat/${threadId}/stream`,
    lastEventId: String(LEADING + TOKENS / 2),
    events: TOKENS / 2,
  };
};

const RUNS_A_THREAD = 20;

/** A thread of finished runs; the client has received the older half of its events. */
const cutLog = async (server: Server, threadId: string, runs: number): Promise<Resume> => {
  const body = { agentId: 'bench', threadId, messages: [{ role: 'user', content: 'Go.' }] };
  for (let run = 0; run < runs; run += 1) await readFrames(server, JSON.stringify(body));
  const path = `/v1/threads/${threadId}/events`;
  const ids = await eventIds(server, path);
  const half = Math.ceil(ids.length / 2);
  return { path: `${path}/stream`, lastEventId: ids[half - 1] ?? '', events: ids.length - half };
};

type EventPage = { items: { cursors_by_scope: { cursor: string }[] }[]; next_cursor: string | null };

const eventIds = async (server: Server, path: string): Promise<string[]> => {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    // The shape of the route's response.
    const page = (await askJson(server, `${path}?limit=200${query}`)) as EventPage;
    ids.push(...page.items.map((event) => event.cursors_by_scope[0]?.cursor ?? ''));
    cursor = page.next_cursor;
  }
  return ids;
};

const measure = async (
  context: Context,
  server: Server,
  metric: string,
  resumes: readonly Resume[],
): Promise<Measured> => {
  if (!context.short) await playResumes(server, resumes, 1000);
  const { milliseconds, rate, cost, granted } = await playResumes(server, resumes, context.roundMs(3000));
  return {
    metric: `${metric}, ${resumes[0]?.events} events`,
    unit: 'ms of CPU',
    rounds: [
      {
        value: cost,
        rates: [rate],
        // A client with a new connection each time is slower than the server.
        shares: { Troupe: granted },
        p50: percentile(milliseconds, 50),
        p99: percentile(milliseconds, 99),
      },
    ],
  };
};

export const resume: Benchmark = {
  name: 'resume',
  title: `resume: ${CLIENTS} clients that resume after an interruption (Last-Event-ID); p50 and p99 are ms for the missed events`,
  async run(context) {
    const server = await startTroupe(context);
    const [clients, runs] = context.short ? [2, 1] : [CLIENTS, RUNS_A_THREAD];
    const threads = Array.from({ length: clients }, (_, client) => client);
    try {
      const chats: Resume[] = [];
      for (const client of threads) chats.push(await cutChat(server, `chat-${client}`));
      const logs: Resume[] = [];
      for (const client of threads) logs.push(await cutLog(server, `log-${client}`, runs));
      return [
        await measure(context, server, 'a resume of a chat in mid-answer', chats),
        await measure(context, server, 'a resume of an event log', logs),
      ];
    } finally {
      await server.process.stop();
    }
  },
};
