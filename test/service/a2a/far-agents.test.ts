import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { planeOf } from '../config/plane.ts';
import { farAgent, startPeer } from '../remote/peer.ts';
import { eventually, startTroupe } from '../troupe.ts';

/** Remote agents: their visibility, their tokens and their discovery (a2a.md 19: 3, 55, 58). */

const messages = [{ role: 'user', content: 'Go' }];

t.test('serves no card if all agents are remote', async (t) => {
  const peer = await startPeer(t);
  const agents = [AgentSpec.parse(farAgent(peer))];
  const troupe = await startTroupe(t, {
    settings: { seed: { profile: 'minimal' }, leader_seed: true },
    app: { records: { ...NO_RECORDS, agents } },
  });
  const plane = planeOf(troupe);
  for (const id of ['default', 'echo', 'flaky', 'slow', 'steps'])
    t.ok((await plane.del(`/v1/config/agents/${id}?force=true`)).status < 300, id);
  const error = { code: 404, status: 'NOT_FOUND', message: 'no runnable local agents registered' };
  t.match(await troupe.call('GET', '/.well-known/agent-card.json'), { status: 404, body: { error } });
  const stream = await troupe.run({ agentId: 'far', messages });
  (await peer.task()).becomes('TASK_STATE_COMPLETED', 'gone');
  t.match(
    (await stream.rest()).at(-1),
    { result: { response: 'gone' } },
    'a remote agent runs without a card',
  );
});

t.test('sends the token of an agent until a PUT omits it', async (t) => {
  const peer = await startPeer(t);
  const troupe = await startTroupe(t);
  const { get, post, put } = planeOf(troupe);
  const path = '/v1/config/agents/far';
  const sent = async (): Promise<string | undefined> => {
    const stream = await troupe.run({ agentId: 'far', messages });
    (await peer.task()).becomes('TASK_STATE_COMPLETED', 'done');
    await stream.rest();
    return peer.headers.at(-1)?.authorization;
  };
  t.equal((await post('/v1/config/agents', farAgent(peer))).status, 201);
  t.equal(await sent(), 'Bearer the-token');
  const { endpoint } = (await get(path)).body;
  t.match(endpoint, { auth: { token: '***' } });
  t.equal((await put(path, { id: 'far', endpoint })).status, 200);
  t.equal(await sent(), 'Bearer the-token', 'a masked token is replaced by the stored one');
  const { auth: _, ...open } = farAgent(peer).endpoint;
  const cleared = await put(path, { id: 'far', endpoint: open });
  t.match(cleared, { status: 200, body: { endpoint: { auth: null } } });
  t.equal(await sent(), undefined);
});

const CARD = {
  name: 'Helper',
  description: 'helps',
  version: '1',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};

/** A server that serves only a card. */
const cardAt = async (t: Test, cardOf: (origin: string) => object) => {
  let asked = 0;
  const server = createServer(({ headers }, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(cardOf(`http://${headers.host}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
};

const speaks = (origin: string, protocolBinding: string) => ({
  ...CARD,
  supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding, protocolVersion: '1.0' }],
});

for (const [name, cardOf, found] of [
  ['whose card lists it', (origin) => speaks(origin, 'HTTP+JSON'), ['remote/helper']],
  ['that does not support HTTP+JSON', (origin) => speaks(origin, 'GRPC'), []],
  [
    'whose card is above 256 KiB',
    (origin) => ({ ...speaks(origin, 'HTTP+JSON'), padding: 'x'.repeat(256 * 1024) }),
    [],
  ],
] as [string, (origin: string) => object, string[]][]) {
  t.test(`publishes ${found.length ? 'with' : 'without'} the agent of a server ${name}`, async (t) => {
    const server = await cardAt(t, cardOf);
    const troupe = await startTroupe(t, { settings: { a2a_remote_url: server.url } });
    const { get, post } = planeOf(troupe);
    await eventually(async () => server.asked(), Boolean);
    const own = { id: 'own', model_id: 'echo', system_prompt: 'x' };
    t.equal((await post('/v1/config/agents', own)).status, 201);
    const { agents } = await eventually(
      async () => (await get('/v1/capabilities')).body as { agents: string[] },
      (seen) => found.every((id) => seen.agents.includes(id)),
    );
    t.ok(agents.includes('own'));
    t.strictSame(
      agents.filter((id) => id.endsWith('helper')),
      found,
    );
  });
}
