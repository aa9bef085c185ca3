import t from 'tap';
import { http } from '../mcp/manage.ts';
import { freePort } from '../ports.ts';
import { asks } from '../service/models.ts';
import { eventually, startTroupe } from '../service/troupe.ts';
import { startMcpPlane } from './mcp-plane.ts';

/** Two services, one of which uses the agents of the other as tools. */

t.test('uses the agents of a service as tools of another one', async (t) => {
  const worker = await startTroupe(t, { settings: { http_addr: `127.0.0.1:${await freePort()}` } });
  const lastRun = async (agent: string) => {
    const { body } = await worker.call('GET', '/v1/runs');
    const runs = body.items as { agent_id: string; status: string; termination_reason?: { type: string } }[];
    return runs.find(({ agent_id }) => agent_id === agent);
  };

  // Each service needs its own data directory.
  await t.test('with an office', async (t) => {
    const { add, use, offers, status, troupe, until } = await startMcpPlane(t);
    await add(http('worker', `${worker.url}/v1/mcp`));
    await offers('mcp__worker__echo');
    t.match(
      await use(['c1', 'mcp__worker__echo', { message: 'Go' }], ['c2', 'mcp__worker__echo', { message: '' }]),
      [
        { outcome: 'succeeded', result: { data: 'echo: Go' } },
        { outcome: 'failed', result: { message: /'message' parameter is required/ } },
      ],
    );

    troupe.models.steps.push(asks(['c3', 'mcp__worker__slow', { message: 'wait' }]));
    const run = await troupe.run({ agentId: 'steps', messages: [{ role: 'user', content: 'x' }] });
    const { run_id } = await run.until('run_start');
    await eventually(
      async () => worker.models.waiting(),
      (count) => count === 1,
    );
    t.equal((await troupe.post(`/v1/runs/${run_id}/cancel`)).status, 202);
    await run.rest();
    t.match(
      await eventually(
        () => lastRun('slow'),
        (found) => found?.status === 'done',
      ),
      { termination_reason: { type: 'cancelled' } },
    );
    t.match(await status('worker'), { connected: true, consecutive_failures: 0 });

    // The negotiated revision has no sessions, so a restart of the server loses none.
    await worker.restart();
    t.match(await use(['c4', 'mcp__worker__echo', { message: 'again' }]), [
      { outcome: 'succeeded', result: { data: 'echo: again' } },
    ]);
    t.match(await until('worker', ({ connected }) => connected), { session_generation: 1 });
  });
});
