import t from 'tap';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** The audit log of configuration writes names the principal: identity.md 7, and check 93. */

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_TOKEN);

t.test('names user, scope and credential of every configuration write (check 93)', async (t) => {
  const troupe = await startTroupe(t);
  const { body: made } = await troupe.call(
    'POST',
    '/v1/keys',
    {
      name: 'editor',
      user: 'ed',
      new_user: { kind: 'person', grants: ['configure:agents', 'configure:budgets'] },
    },
    ADMIN,
  );
  const { body: echo } = await troupe.call('GET', '/v1/config/agents/echo', undefined, ADMIN);
  const { id: _, ...spec } = (echo.spec ?? echo) as Record<string, unknown>;
  const budget = {
    id: 'b',
    match: {},
    per: [],
    window: { every: 'day' },
    limits: { tokens: 1000 },
    on_exceeded: 'stop',
  };
  const write = async (method: string, path: string, body?: unknown) => {
    const answer = await troupe.call(method, `/v1/config/${path}`, body, bearer(made.key));
    t.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const agent = { ...spec, id: 'new', system_prompt: 'One.' };
  await write('POST', 'agents', agent);
  await write('PUT', 'agents/new', { ...agent, system_prompt: 'Two.' });
  await write('PATCH', 'agents/echo/overrides', { system_prompt: 'Three.' });
  await write('DELETE', 'agents/echo/overrides/system_prompt');
  await write('PATCH', 'agents/echo/overrides', { system_prompt: 'Four.' });
  await write('DELETE', 'agents/echo/overrides');
  const before = await troupe.call('GET', '/v1/audit-log?resource=agents/new', undefined, ADMIN);
  const [version] = (before.body.items as { id: string }[]).slice(-1);
  await write('POST', 'agents/new/restore', { version: version?.id });
  await write('DELETE', 'agents/new');
  await write('POST', 'budgets', budget);
  await write('DELETE', 'budgets/b');

  const { body } = await troupe.call('GET', '/v1/audit-log?user=ed&limit=100', undefined, ADMIN);
  const events = body.items as Record<string, unknown>[];
  t.ok(events.length >= 10, `${events.length} events`);
  for (const event of events) {
    t.match(
      event,
      {
        user: 'ed',
        scope: 'default',
        credential: { kind: 'key', id: made.id },
        actor: made.actor,
        ip: '127.0.0.1',
      },
      String(event.resource),
    );
  }
  const refused = await troupe.call('PUT', '/v1/config/providers/test', {}, bearer(made.key));
  t.match(refused, { status: 403, body: { code: 'forbidden', needs: ['configure:providers'] } });
});
