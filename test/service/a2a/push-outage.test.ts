import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import t, { type Test } from 'tap';
import { freePort } from '../../ports.ts';
import { asks } from '../models.ts';
import { eventually } from '../troupe.ts';
import { eventShape } from './shapes.ts';
import { a2aFor, stateIn } from './tasks-client.ts';

/** A push receiver that is unavailable for a while (a2a.md 11.3, check 42), with the delays of the service. */

/** A receiver that does not listen yet. */
const receiver = async (t: Test) => {
  const seen: string[] = [];
  const answers: number[] = [];
  const server: Server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const event = eventShape(JSON.parse(text));
    const answer = answers.shift() ?? 200;
    seen.push(`${answer} ${stateIn(event) ?? 'artifact'}`);
    response.writeHead(answer).end();
  });
  const port = await freePort();
  const listen = async (): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  t.teardown(async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}/hook`, seen, answers, listen };
};

t.test('delivers all notifications in order once an unreachable receiver recovers', async (t) => {
  const { send, get, troupe } = await a2aFor(t);
  const hook = await receiver(t);
  troupe.models.steps.push(asks(['c1', 'pick_color']));
  const taskPushNotificationConfig = { url: hook.url };
  const { id } = await send({ tenant: 'steps', configuration: { taskPushNotificationConfig } });
  t.equal((await get(id)).status.state, 'TASK_STATE_INPUT_REQUIRED');
  t.equal((await send({ taskId: id, text: 'blue' })).status.state, 'TASK_STATE_COMPLETED');
  await eventually(
    async () => (await troupe.admin('GET', '/v1/system/actors?machine=push-delivery')).body,
    ({ items }) => Array.isArray(items) && items.some(({ state }) => state.endsWith('sending.waiting')),
  );
  hook.answers.push(500);
  await hook.listen();
  await eventually(
    async () => hook.seen,
    (seen) => seen.includes('200 COMPLETED'),
  );
  const [first = '', ...rest] = hook.seen;
  t.match(first, /^500 /);
  t.strictSame(rest, ['200 WORKING', '200 INPUT_REQUIRED', '200 WORKING', '200 artifact', '200 COMPLETED']);
  t.equal(first.slice(4), rest[0]?.slice(4), 'rejected notifications are repeated in order');
});
