import t from 'tap';
import { startWebhook } from '../../protocols/a2a/webhook.ts';
import { asks } from '../models.ts';
import { eventually, type Troupe } from '../troupe.ts';
import { a2aFor } from './tasks-client.ts';

/** Observed tasks as live actors. */

type Actor = { id: string; state: string; parent: string | null; children: string[] };

const actorsOf = async (troupe: Troupe, query: string): Promise<Actor[]> => {
  const { body } = await troupe.admin('GET', `/v1/system/actors?${query}`);
  return (body as { items: Actor[] }).items;
};

const tasksOf = (troupe: Troupe): Promise<Actor[]> => actorsOf(troupe, 'machine=a2a-task');

t.test('a task is an actor below its run while a client follows it', async (t) => {
  const { begin, subscribe, troupe } = await a2aFor(t);
  const { id } = await begin({ tenant: 'slow' });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  t.strictSame(await tasksOf(troupe), [], 'the task has no follower');
  const reader = await subscribe(id);
  await reader.next();
  t.match(await tasksOf(troupe), [{ id: `a2a-task:${id}`, state: 'working', parent: `run:${id}` }]);
  const family = await actorsOf(troupe, `run=${id}`);
  t.ok(family.some(({ id: each, children }) => each === `run:${id}` && children.includes(`a2a-task:${id}`)));
  await reader.close();
  await eventually(
    () => tasksOf(troupe),
    (found) => found.length === 0,
  );
  troupe.models.release();
});

t.test('keeps the actor of a suspended task for its webhook until the task ends', async (t) => {
  const { begin, get, troupe } = await a2aFor(t);
  const hook = await startWebhook(t);
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const { id } = await begin({
    tenant: 'steps',
    configuration: { taskPushNotificationConfig: { id: 'c1', url: hook.url } },
  });
  await eventually(
    () => tasksOf(troupe),
    ([task]) => task?.state === 'authRequired',
  );
  t.match(await actorsOf(troupe, 'machine=push-delivery'), [{ parent: `a2a-task:${id}` }]);
  const { status } = await troupe.call('POST', `/v1/a2a/tasks/${id}:cancel`);
  t.equal(status, 200);
  await eventually(
    () => tasksOf(troupe),
    (found) => found.length === 0,
  );
  t.equal((await get(id)).status.state, 'TASK_STATE_CANCELED');
});
