import t from 'tap';
import { say } from './agent-loop/agents.ts';
import type { Inference } from './models.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Budgets of users and keys (identity.md 5.1). */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const uses =
  (tokens: number): Inference =>
  (sink) => {
    sink.text('done');
    return { stop: 'EndTurn', usage: { prompt_tokens: tokens, completion_tokens: 0 } };
  };

for (const property of ['user', 'key'] as const) {
  t.test(`a budget per ${property} stops one of them, and follows a rotated key`, async (t) => {
    const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
    const { models, call } = troupe;
    const keyOf = async (user: string) => {
      const body = { name: 'laptop', user, new_user: { kind: 'person', grants: ['member', 'keys'] } };
      const { key, id } = Object((await call('POST', '/v1/keys', body, admin)).body);
      return { id: String(id), head: { authorization: `Bearer ${key}` } };
    };
    const [alice, bob] = [await keyOf('alice'), await keyOf('bob')];
    const budget = {
      id: 'b',
      per: [property],
      window: { every: 'total' },
      limits: { tokens: 2000 },
      on_exceeded: 'stop',
    };
    t.equal((await call('PUT', '/v1/config/budgets/b', budget, admin)).status, 200);
    const run = async (of: { head: Record<string, string> }, thread: string, tokens: number) => {
      models.steps.push(uses(tokens));
      return (await call('POST', '/v1/runs', say('steps', 'x', thread), of.head)).status;
    };
    t.equal(await run(alice, 'one', 2000), 200);
    t.equal(await run(bob, 'one', 10), 200, 'Bob has a separate counter');
    const rotated = await call('POST', `/v1/keys/${alice.id}/rotate`, { grace_secs: 60 }, alice.head);
    t.equal(rotated.status, 201);
    for (const head of [alice.head, { authorization: `Bearer ${Object(rotated.body).key}` }]) {
      t.equal((await call('POST', '/v1/runs', say('steps', 'x', 'two'), head)).status, 402);
    }
    const { items } = Object((await call('GET', '/v1/budgets/b/usage', undefined, admin)).body);
    const named = items.map(({ key, spent }: { key: Record<string, string>; spent: { tokens: number } }) => [
      key[property],
      spent.tokens,
    ]);
    const expected =
      property === 'user'
        ? [
            ['alice', 2000],
            ['bob', 10],
          ]
        : [
            [alice.id, 2000],
            [bob.id, 10],
          ];
    t.same(named.sort(), expected.sort());
  });
}
