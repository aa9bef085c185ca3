import t from 'tap';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Agents that delegate to each other (config.md 6.1). */

t.test('reports a circle of delegates and publishes it nevertheless', async (t) => {
  const { call } = await startTroupe(t);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const put = async (id: string, ...delegates: string[]): Promise<number> =>
    (await call('PUT', `/v1/config/agents/${id}`, { id, model_id: 'echo', delegates }, headers)).status;
  for (const [id, ...delegates] of [['ping'], ['pong', 'ping'], ['ping', 'pong']] as [
    string,
    ...string[],
  ][]) {
    t.equal(await put(id, ...delegates), 200);
  }
  const { diagnostics } = (await call('GET', '/v1/config/diagnostics', undefined, headers)).body;
  t.strictSame(diagnostics, [
    {
      code: 'agent_delegate_circle',
      severity: 'warning',
      resource: { namespace: 'agents', id: 'ping' },
      depends_on: { namespace: 'agents', id: 'pong' },
      message: "agents delegate in a circle: 'ping' → 'pong' → 'ping'",
    },
  ]);
});
