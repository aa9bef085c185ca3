import t from 'tap';
import { ADMIN_TOKEN, startTroupe } from '../troupe.ts';
import { completed, say } from './chat.ts';

/** End users that front ends name in their own headers: openai.md 2.6. */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

t.test(
  'a key with act serves the end users that a front end names, any other ignores the header (check 6)',
  async (t) => {
    const { call } = await startTroupe(t);
    const keyOf = async (id: string, grants: string[]) => {
      t.equal((await call('POST', '/v1/users', { id, kind: 'service', grants }, admin)).status, 201, id);
      const { status, body } = await call('POST', '/v1/keys', { user: id, name: id }, admin);
      t.equal(status, 201, JSON.stringify(body));
      return { authorization: `Bearer ${String(body.secret ?? body.key ?? body.token)}` };
    };
    const front = await keyOf('front', ['member', 'act']);
    const plain = await keyOf('plain', ['member']);
    const send = async (key: Record<string, string>, headers: Record<string, string>) => {
      const answer = completed(
        await call(
          'POST',
          '/v1/chat/completions',
          { model: 'echo', messages: [say('hi')] },
          { ...key, ...headers },
        ),
      );
      t.equal(answer.status, 200, JSON.stringify(answer.body));
      return (await call('GET', `/v1/runs/${answer.run_id}`, undefined, admin)).body.owner;
    };
    t.equal(await send(front, { 'x-openwebui-user-id': 'alice' }), 'alice');
    t.equal(await send(front, { 'x-librechat-user-id': 'bob' }), 'bob');
    t.equal(await send(front, { 'x-service-user': 'carol', 'x-openwebui-user-id': 'alice' }), 'carol');
    t.equal(await send(front, {}), 'front');
    t.equal(await send(plain, { 'x-openwebui-user-id': 'alice' }), 'plain');
    const other = await call(
      'POST',
      '/v1/runs',
      { agentId: 'echo', messages: [say('hi')] },
      {
        ...front,
        'x-openwebui-user-id': 'alice',
      },
    );
    t.equal(other.status, 200);
    t.match(String(other.body.text), /"run_start"/);
  },
);
