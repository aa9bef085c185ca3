import t from 'tap';
import { admin } from '../budget.ts';
import { eventually } from '../troupe.ts';
import { withUsers } from '../users.ts';
import { startResponses } from './responses.ts';

/** Responses and conversations of other users (openai-responses.md 5.3; identity.md 1.3). */

t.test('answers for a response of another user as for none (check 6)', async (t) => {
  const { user } = await withUsers(t);
  const [ann, ben] = [user('ann'), user('ben')];
  const mine = await ann.post('/v1/responses', { model: 'echo', input: 'hi' });
  const { id, conversation, output } = mine.body as {
    id: string;
    conversation: { id: string };
    output: { id: string }[];
  };
  const reference = { type: 'item_reference', id: output[0]?.id };
  const others: [string, string, object?][] = [
    ['GET', `/v1/responses/${id}`],
    ['GET', `/v1/responses/${id}?stream=true`],
    ['DELETE', `/v1/responses/${id}`],
    ['POST', `/v1/responses/${id}/cancel`],
    ['GET', `/v1/responses/${id}/input_items`],
    ['GET', `/v1/conversations/${conversation.id}`],
    ['GET', `/v1/conversations/${conversation.id}/items`],
    ['POST', '/v1/responses', { model: 'echo', input: 'a', conversation: conversation.id }],
    ['POST', '/v1/responses', { model: 'echo', input: [reference] }],
  ];
  for (const [method, path, body] of others) {
    const got = await ben.call(method, path, body);
    t.equal(got.status, 404, `${method} ${path}`);
    t.match(got.body, { error: { type: 'invalid_request_error' } });
  }
  const chained = { model: 'echo', input: 'a', previous_response_id: id };
  t.match(await ben.post('/v1/responses', chained), {
    status: 400,
    body: { error: { code: 'previous_response_not_found' } },
  });
  t.equal((await ann.get(`/v1/responses/${id}`)).status, 200);
});

t.test('ends a held request whose thread gets another owner', async (t) => {
  const service = await withUsers(t);
  const ann = service.user('ann');
  const ben = { id: 'ben', kind: 'person', grants: ['member'] };
  t.equal((await service.call('POST', '/v1/users', ben, admin)).status, 201);
  const held = ann.post('/v1/responses', { model: 'slow', input: 'hi', conversation: 'c1' });
  await eventually(
    async () => service.models.waiting(),
    (waiting) => waiting === 1,
  );
  t.equal((await ann.call('PATCH', '/v1/threads/c1', { owner: 'ben' })).status, 200);
  t.match(await held, { status: 200, body: { status: 'in_progress' } });
  service.models.releaseAll();
});

t.test('rejects bad bodies with the path of the parameter (check 1)', async (t) => {
  const { troupe } = await startResponses(t);
  const bad: [body: unknown, param: string | null][] = [
    [{}, 'input'],
    [{ input: 7 }, 'input'],
    [{ input: [{ type: 'message', role: 'user' }] }, 'input[0].content'],
    [{ input: [{ type: 'message', role: 'robot', content: 'a' }] }, 'input[0].role'],
    [{ input: [{ type: 'computer_call', id: 'x' }] }, 'input[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-x' }] }] },
      'input[0].content[0]',
    ],
    [{ input: 'a', tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ input: 'a', prompt: { id: 'x' } }, 'prompt'],
    [{ input: 'a', conversation: 'c', previous_response_id: 'r' }, 'previous_response_id'],
    [
      { input: [{ type: 'function_call_output', call_id: 'c', output: 'a' }], conversation: 'c' },
      'input[0].call_id',
    ],
  ];
  for (const [body, param] of bad) {
    const got = await troupe.post('/v1/responses', { model: 'echo', ...(body as object) });
    t.equal(got.status, 400, JSON.stringify(body));
    t.match(got.body, { error: { type: 'invalid_request_error', param } }, JSON.stringify(got.body));
  }
  const unknown = await troupe.post('/v1/responses', { model: 'none', input: 'a' });
  t.equal(unknown.status, 404);
  t.match(unknown.body, { error: { code: 'model_not_found', param: 'model' } });
});
