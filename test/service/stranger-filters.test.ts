import t from 'tap';
import { countWork } from './counted-work.ts';
import { upload } from './files/client.ts';
import { asks } from './models.ts';
import { askAsStranger, differencesIn, plain, unusedFor } from './stranger.ts';
import { ADMIN_TOKEN } from './troupe.ts';
import { runEcho, type User, type Users, withUsers } from './users.ts';

/** Walks all filters of lists with an id of another user (identity.md 1.4). */

/** Parameters of queries that can name something of another user, each with such a name. */
const filtersOf = async (service: Users, alice: User): Promise<Record<string, string>> => {
  service.models.steps.push(asks(['c1', 'risky']));
  await runEcho(alice, 'hers', { agentId: 'steps', resourceId: 'her-resource' });
  const { body: runs } = await alice.get('/v1/threads/hers/runs');
  const run = String((runs.items as { run_id: string }[])[0]?.run_id);
  const { body: child } = await alice.post('/v1/threads', { parent_thread_id: 'hers' });
  t.match(await alice.call('PATCH', `/v1/threads/${child.id}`, { visibility: 'read' }), { status: 200 });
  const { body: file } = await upload(service.url, 'text', { headers: alice.head });
  const name = { id: 'alice', kind: 'person', grants: ['member'] };
  await service.call('POST', '/v1/users', name, { authorization: `Bearer ${ADMIN_TOKEN}` });
  return {
    parent_thread_id: 'hers',
    parentThreadId: 'hers',
    thread_id: 'hers',
    thread: 'hers',
    contextId: 'hers',
    resource_id: 'her-resource',
    resourceId: 'her-resource',
    run_id: run,
    runId: run,
    run,
    after: String(file.id),
    user: 'alice',
    agent_id: 'steps',
    of_scope: 'globex',
    dataset_id: 'hers',
    credential: run,
    actor: 'alice',
  };
};

t.test('a filter by an id of another user selects what one by an unused id does (check 45)', async (t) => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  const filters = await filtersOf(service, alice);
  const { body } = await service.call('GET', '/openapi.json');
  const walk = { service, work: await countWork(t) };
  let compared = 0;
  for (const [path, { get }] of Object.entries(body.paths as Record<string, { get?: Described }>)) {
    const names = (get?.parameters ?? []).filter((each) => each.in === 'query' && each.name in filters);
    for (const { name } of names) {
      const operation = { method: 'GET', path: `${path}?${name}={filter}`, body: undefined };
      const hidden = filters[name] ?? '';
      const pair = { operation, hidden, unused: unusedFor(hidden), by: 'bob' };
      const asked = plain(await askAsStranger(walk, pair, pair.hidden));
      t.equal(asked, plain(await askAsStranger(walk, pair, pair.unused)), `${path} by ${name}`);
      if (asked.startsWith('200')) {
        t.strictSame(await differencesIn(walk, pair), [], `work of ${path} by ${name}`);
      }
      compared += 1;
    }
  }
  t.ok(compared > 20, `${compared} filters`);
});

type Described = { parameters?: { in: string; name: string }[] };
