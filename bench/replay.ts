import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ADMIN_TOKEN, readFrames, type Server } from './servers.ts';

/**
 * A service with many moving runs, at the cost of one: the actor stream and the list of runs are made from those of a
 * single recorded run, and other requests are forwarded to its service. The page receives the same frames in every
 * measurement, whatever else the host does.
 */

type Transition = {
  type: 'transition';
  actor: string;
  machine: string;
  from: string;
  event: string;
  to: string;
  transition: string;
  time: number;
};
type Actor = { type: 'actor' | 'began'; id: string; machine: string; state: string };
type Frame = Transition | Actor | { type: 'ended' };

const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

const framesIn = (text: string): Frame[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Frame);

/** Follows one run from its start to its end. */
const record = async (server: Server, agentId: string): Promise<Frame[]> => {
  const stop = new AbortController();
  const response = await fetch(`${server.url}/v1/system/actors/stream?machine=run`, {
    headers,
    signal: stop.signal,
  });
  await readFrames(server, JSON.stringify({ agentId, messages: [{ role: 'user', content: 'Go.' }] }));
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes('"type":"ended"')) break;
  }
  stop.abort();
  return framesIn(text);
};

/** The transitions of a round, after the last of which the run is in its first state again. */
const roundOf = (frames: readonly Frame[]): Transition[] => {
  const moves = frames.filter((frame) => frame.type === 'transition');
  for (const [index, { from }] of moves.entries()) {
    const end = moves.findIndex(({ to }, place) => place > index && to === from);
    if (end > 0) return moves.slice(index, end + 1);
  }
  return moves;
};

const runIdOf = (index: number): string => `run-${String(index).padStart(6, '0')}`;

const sse = (frame: object): string => `data: ${JSON.stringify(frame)}\n\n`;

const TICK_MS = 20;

/** Sends all actors, then their transitions in turn. */
const stream = (response: ServerResponse, round: readonly Transition[], plan: Plan): void => {
  const { runs, a_second } = plan;
  const places = Array.from({ length: runs }, (_, index) => index % round.length);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, place] of places.entries()) {
    const actor = {
      id: `run:${runIdOf(index)}`,
      machine: 'run',
      state: round[place]?.from,
      since: Date.now(),
    };
    response.write(sse({ type: 'actor', ...actor, parent: null, children: [] }));
  }
  let [next, sent] = [0, 0];
  const began = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * a_second;
    let text = '';
    for (; sent < due; sent += 1) {
      // Steps through all runs in an order without a pattern.
      next = (next + 7919) % runs;
      const place = places[next] ?? 0;
      text += sse({ ...round[place], actor: `run:${runIdOf(next)}`, time: Date.now() });
      places[next] = (place + 1) % round.length;
    }
    if (text !== '') response.write(text);
  }, TICK_MS);
  response.on('close', () => clearInterval(timer));
};

/** A page of running runs; their steps grow from one read to the next. */
const page = (template: object, { runs }: Plan, url: URL, read: number): string => {
  const limit = Number(url.searchParams.get('limit') ?? 50);
  const start = Number(url.searchParams.get('cursor') || 0);
  const items = Array.from({ length: Math.min(limit, runs - start) }, (_, index) => ({
    ...template,
    run_id: runIdOf(start + index),
    preview: `Where is the parcel ${start + index}?`,
    status: 'running',
    steps: read + index,
    input_tokens: read * 100 + index,
    updated_at: Math.floor(Date.now() / 1000),
    created_at: Math.floor(Date.now() / 1000) - index,
  }));
  const end = start + items.length;
  return JSON.stringify({
    items,
    total: runs,
    has_more: end < runs,
    next_cursor: end < runs ? String(end) : null,
  });
};

export type Plan = { runs: number; a_second: number };

export type Replay = { url: string; close(): void };

/** @param server has the agent, whose runs take several rounds */
export const startReplay = async (server: Server, agentId: string, plan: Plan): Promise<Replay> => {
  const round = roundOf(await record(server, agentId));
  const listed = await fetch(`${server.url}/v1/runs?limit=1`, { headers });
  const { items } = (await listed.json()) as { items: object[] };
  let reads = 0;
  const front = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', server.url);
    if (url.pathname === '/v1/system/actors/stream') return stream(outgoing, round, plan);
    if (url.pathname === '/v1/runs' && incoming.method === 'GET') {
      reads += 1;
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(page(items[0] ?? {}, plan, url, reads));
      return undefined;
    }
    const forwarded = request(
      url,
      { method: incoming.method, headers: { ...incoming.headers, host: url.host } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
    return undefined;
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  // `listen` with a port gives an address with a port.
  const { port } = front.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      front.close();
      front.closeAllConnections();
    },
  };
};
