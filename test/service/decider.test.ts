import t from 'tap';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import { asks } from './models.ts';
import { eventually } from './troupe.ts';
import { runEcho, type User, withUsers } from './users.ts';

/** The right to decide: identity.md 4, checks 47, 60, 63, 66 and 69. */

const DIGEST = digestOfCall({ tool: 'risky', arguments: {} });
const yes = { toolCallId: 'c1', action: 'resume', payload: { approved: true } };

const decide = (user: User, decision: object) => user.post('/v1/threads/t1/decision', decision);

const suspended = async (t: Parameters<typeof withUsers>[0], tool = 'risky') => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  service.models.steps.push(asks(['c1', tool]));
  await runEcho(alice, 't1', { agentId: 'steps' });
  return { service, alice };
};

t.test('records the verified user of a decision, and the name that the client sent', async (t) => {
  const { service, alice } = await suspended(t);
  t.equal((await decide(alice, { ...yes, decided_by: 'the boss' })).status, 202);
  await eventually(
    async () => service.tools.executed,
    (executed) => executed.includes('c1'),
  );
  const { body } = await alice.get('/v1/threads/t1/events');
  const events = (body.items as { event_kind: string; payload: object }[]).filter(
    ({ event_kind }) => event_kind === 'ToolPermissionResolved',
  );
  t.match(events, [
    {
      payload: {
        decided_by: 'alice',
        decided_as: 'the boss',
        digest: DIGEST,
        principal: { user: 'alice', credential: { kind: 'program' } },
      },
    },
  ]);
});

t.test('needs the grant for the tool, and from others the digest', async (t) => {
  const { service, alice } = await suspended(t);
  const narrow = service.user('alice', 'invoke', 'decide:*/get_*');
  t.match(await decide(narrow, yes), {
    status: 403,
    body: { error: "a decision on 'risky' needs decide:steps/risky", needs: ['decide:steps/risky'] },
  });
  t.equal((await decide(service.user('bob'), yes)).status, 404);
  const approver = service.user('bob', 'approver');
  t.match(await decide(approver, yes), {
    status: 422,
    body: { error: 'send the digest of what was shown' },
  });
  const edited = { approved: true, arguments: { a: 1 } };
  t.match(await decide(approver, { ...yes, payload: edited, digest: DIGEST }), {
    status: 403,
    body: { error: 'edited arguments must come from the user that the run acts for' },
  });
  t.strictSame(service.tools.executed, []);
  t.equal((await decide(approver, { ...yes, digest: DIGEST })).status, 202);
  await eventually(
    () => alice.get('/v1/threads/t1/runs'),
    ({ body }) => (body.items as { status: string }[])[0]?.status === 'done',
  );
  t.strictSame(service.tools.executed, ['c1']);
});

t.test('a call of the client is answered by the user of the run', async (t) => {
  const { service } = await suspended(t, 'pick_color');
  const bob = service.user('bob', 'member', 'write:all');
  t.match(await decide(bob, { toolCallId: 'c1', action: 'resume', payload: 'red' }), { status: 403 });
  const watcher = service.user('rita', 'approver');
  t.equal((await decide(watcher, { toolCallId: 'c1', action: 'cancel' })).status, 403);
  t.equal((await decide(bob, { toolCallId: 'c1', action: 'cancel' })).status, 202);
});

t.test('a decision in a chat request needs the same grant', async (t) => {
  const { service } = await suspended(t);
  const narrow = service.user('alice', 'invoke', 'decide:*/get_*');
  const body = {
    threadId: 't1',
    messages: [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
      {
        id: 'a1',
        role: 'assistant',
        parts: [
          {
            type: 'tool-risky',
            toolCallId: 'c1',
            state: 'approval-responded',
            input: {},
            approval: { id: 'perm_c1', approved: true },
          },
        ],
      },
    ],
  };
  t.equal((await narrow.post('/v1/ai-sdk/chat', body)).status, 403);
  t.strictSame(service.tools.executed, []);
});
