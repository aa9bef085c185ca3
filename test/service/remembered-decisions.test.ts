import t from 'tap';
import { asks } from './models.ts';
import { withTools } from './suspended.ts';
import { ADMIN_TOKEN, eventually } from './troupe.ts';

/** Remembered decisions: identity.md 4, rule 5, and check 68. */

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_TOKEN);

const start = async (t: Parameters<typeof withTools>[0]) => {
  const { troupe, tools } = await withTools(t);
  const permission = { rules: [{ tool: 'note', behavior: 'ask' }] };
  const agent = { id: 'own', model_id: 'steps', plugin_ids: ['permission'], sections: { permission } };
  t.equal((await troupe.call('PUT', '/v1/config/agents/own', agent, ADMIN)).status, 200);
  const userWith = async (id: string, ...grants: string[]) => {
    const made = { name: id, user: id, new_user: { kind: 'person', grants } };
    const { body } = await troupe.call('POST', '/v1/keys', made, ADMIN);
    const head = bearer(body.key);
    return {
      /** Starts a run on the thread `uid`, or a new one, that calls `note`; returns its status. */
      async run(call: string, threadId: unknown) {
        troupe.models.steps.push(asks([call, 'note']));
        const messages = [{ role: 'user', content: 'Hello' }];
        const begun = await troupe.call('POST', '/v1/runs', { agentId: 'own', threadId, messages }, head);
        t.equal(begun.status, 200, JSON.stringify(begun.body));
        return tools.executed.includes(call) ? 'executed' : 'waiting';
      },
      decide: (threadId: unknown, payload: object, toolCallId = 'perm_c1') =>
        troupe.call(
          'POST',
          `/v1/threads/${threadId}/decision`,
          { toolCallId, action: 'resume', payload },
          head,
        ),
      call: (method: string, path: string, body?: unknown) => troupe.call(method, path, body, head),
    };
  };
  return { troupe, tools, userWith };
};

t.test(
  'an approval counts in runs of the same user, while its author has the grant (check 68)',
  async (t) => {
    const { troupe, tools, userWith } = await start(t);
    const alice = await userWith('alice', 'member');
    const bob = await userWith('bob', 'member', 'write:all');
    t.equal(await alice.run('c1', 't1'), 'waiting');
    t.match(await alice.decide('t1', { approved: true, remember: 'thread', pattern: '*' }), { status: 422 });
    t.equal((await alice.decide('t1', { approved: true, remember: 'thread' })).status, 202);
    await eventually(
      async () => tools.executed,
      (executed) => executed.includes('c1'),
    );
    t.equal(await alice.run('c2', 't1'), 'executed');
    const { body } = await alice.call('GET', '/v1/threads/t1');
    t.equal(await bob.run('c3', body.uid ?? body.id), 'waiting', 'the run of another user');
    t.equal(
      (await troupe.call('POST', `/v1/threads/${body.uid ?? body.id}/cancel`, undefined, ADMIN)).status,
      202,
    );
    t.equal(await alice.run('c4', 't1'), 'executed', 'still for the first user');
    const narrowed = { grants: ['invoke', 'decide:other/*'] };
    t.equal((await troupe.call('PATCH', '/v1/users/alice', narrowed, ADMIN)).status, 200);
    t.equal(await alice.run('c5', 't1'), 'waiting', 'after the author has lost the grant');
  },
);
