import { runOf } from '../src/load/index.ts';
import { BenchError } from './error.ts';
import { playLoad } from './load.ts';
import { loadIn, mcpSession, NATIVE, PROTOCOLS } from './protocols.ts';
import { ADMIN_TOKEN, askJson, framesOf, type Server } from './servers.ts';

/** What a service meets in its days, all of it at once, and its end: nothing executes, and no thread is left. */

const CONNECTIONS = 4;

/** Between two runs of a connection: the machine is not the limit, time is what is tested. */
const PAUSE_MS = 25;

/** Clients that go away while their run executes, one after the other. */
const cuts = async ({ name, url }: Server, until: number): Promise<number> => {
  let runs = 0;
  do {
    const gone = new AbortController();
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: runOf('bench-turns')(0),
      signal: gone.signal,
    });
    if (!response.ok) throw new BenchError(`${name} answered ${response.status}`);
    gone.abort();
    runs += 1;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  } while (performance.now() < until);
  return runs;
};

/** Readers of the event log of a thread that come and go. */
const watchers = async ({ name, url }: Server, until: number): Promise<void> => {
  do {
    const gone = new AbortController();
    const response = await fetch(`${url}/v1/threads/watched/events/stream`, { signal: gone.signal });
    if (!response.ok) throw new BenchError(`${name} answered ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    gone.abort();
  } while (performance.now() < until);
};

/** As often an agent of its own model and provider comes, has a run and goes; and a client of MCP with its session. */
const CHANGE_MS = 1000;

/** They come again: what is known by name, such as series of metrics, has its level soon. */
const NAMES = 50;

let changed = 0;

/** An administrator at work, and peers that come and go. @returns how many runs there were */
const changes = async (server: Server, until: number): Promise<number> => {
  let runs = 0;
  do {
    const id = `comes-and-goes-${changed % NAMES}`;
    changed += 1;
    const entries = [
      ['providers', { id, adapter: 'scripted' }],
      ['models', { id, provider_id: id, upstream_model: 'any' }],
      ['agents', { id, model_id: id }],
    ] as const;
    for (const [namespace, entry] of entries) await askJson(server, `/v1/config/${namespace}`, entry);
    const frames = await framesOf(server, runOf(id)(0));
    if (!frames.at(-1)?.includes('run_finish'))
      throw new BenchError(`the run of ${id} ended with ${frames.at(-1)}`);
    runs += 1;
    for (const [namespace] of [...entries].reverse()) await remove(server, `/v1/config/${namespace}/${id}`);
    await remove(server, '/v1/mcp', await mcpSession(server));
    await new Promise((resolve) => setTimeout(resolve, CHANGE_MS));
  } while (performance.now() < until);
  return runs;
};

/** @returns how many runs there were */
export const work = async (server: Server, duration_ms: number): Promise<number> => {
  const until = performance.now() + duration_ms;
  const rounds = { ...NATIVE, body: runOf('bench-rounds') };
  const protocols = await Promise.all(Object.values(PROTOCOLS).map((protocol) => loadIn(server, protocol)));
  const loads = [NATIVE, rounds, ...protocols].map((load) =>
    playLoad(server, { ...load, duration_ms, connections: CONNECTIONS, pause_ms: PAUSE_MS, rest_ms: 0 }),
  );
  const [played, cut, come] = await Promise.all([
    Promise.all(loads),
    cuts(server, until),
    changes(server, until),
    watchers(server, until),
  ]);
  return played.reduce((sum, { report }) => sum + report.streams, cut + come);
};

/** Until nothing executes; then every thread is deleted. */
export const comeToRest = async (server: Server): Promise<void> => {
  // The shapes of the routes' answers.
  while (((await askJson(server, '/v1/runs/summary')) as { running: number }).running > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (;;) {
    const page = (await askJson(server, '/v1/threads?limit=200')) as { items: (string | { id: string })[] };
    if (page.items.length === 0) return;
    const ids = page.items.map((item) => (typeof item === 'string' ? item : item.id));
    const remover = async (): Promise<void> => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop())
        await remove(server, `/v1/threads/${encodeURIComponent(id)}`);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, remover));
  }
};

const remove = async ({ name, url }: Server, path: string, headers = {}): Promise<void> => {
  const response = await fetch(url + path, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers },
  });
  await response.arrayBuffer();
  if (!response.ok) throw new BenchError(`${name} did not delete ${path}: ${response.status}`);
};
