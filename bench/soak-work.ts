import { createRunBody } from '../src/load-generator/index.ts';
import { BenchError } from './error.ts';
import { playLoad } from './load.ts';
import { loadIn, mcpSession, NATIVE, PROTOCOLS } from './protocols.ts';
import { ADMIN_TOKEN, askJson, readFrames, type Server } from './servers.ts';

/** All kinds of load on a service at once, and their end: no run executes, and no thread is left. */

const CONNECTIONS = 4;

/** Pause between two runs of a connection: the test is about time, not about the limit of the host. */
const PAUSE_MS = 25;

/** Clients that disconnect during their run, one after another. */
const cuts = async ({ name, url }: Server, until: number): Promise<number> => {
  let runs = 0;
  do {
    const gone = new AbortController();
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: createRunBody('bench-turns')(0),
      signal: gone.signal,
    });
    if (!response.ok) throw new BenchError(`${name} answered ${response.status}`);
    gone.abort();
    runs += 1;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  } while (performance.now() < until);
  return runs;
};

/** Readers of the event log of a thread that connect and disconnect. */
const watchers = async ({ name, url }: Server, until: number): Promise<void> => {
  do {
    const gone = new AbortController();
    const response = await fetch(`${url}/v1/threads/watched/events/stream`, { signal: gone.signal });
    if (!response.ok) throw new BenchError(`${name} answered ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    gone.abort();
  } while (performance.now() < until);
};

/**
 * Interval at which an agent with its own model and provider is created, executes a run and is deleted, and an MCP
 * client opens and closes a session.
 */
const CHANGE_MS = 1000;

/** Names repeat, so that data kept by name, such as metric series, reaches its final size soon. */
const NAMES = 50;

let changed = 0;

/** Configuration changes and short-lived peers. @returns the number of runs */
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
    const frames = await readFrames(server, createRunBody(id)(0));
    if (!frames.at(-1)?.includes('run_finish'))
      throw new BenchError(`the run of ${id} ended with ${frames.at(-1)}`);
    runs += 1;
    for (const [namespace] of [...entries].reverse()) await remove(server, `/v1/config/${namespace}/${id}`);
    await remove(server, '/v1/mcp', await mcpSession(server));
    await new Promise((resolve) => setTimeout(resolve, CHANGE_MS));
  } while (performance.now() < until);
  return runs;
};

/** @returns the number of runs */
export const work = async (server: Server, duration_ms: number): Promise<number> => {
  const until = performance.now() + duration_ms;
  const rounds = { ...NATIVE, body: createRunBody('bench-rounds') };
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

/** Waits until no run executes, then deletes every thread. */
export const comeToRest = async (server: Server): Promise<void> => {
  // The shapes of the routes' responses.
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
