import t from 'tap';
import { asks, hangs } from '../models.ts';
import { eventually } from '../troupe.ts';
import { framesOf, startChat, textOf, typesOf, user } from './chat.ts';

/**
 * Clients that reconnect after a restart to a run that was resumed from the store (chat-and-agui.md 6, runtime.md 14).
 */

const FOLLOW = '/v1/ai-sdk/chat/T/stream';

t.test('streams a run that is resumed after a restart, including its earlier output', async (t) => {
  const chat = await startChat(t);
  chat.models.steps.push(asks(['call 1', 'get_weather', { city: 'Oslo' }]), hangs('cut'));
  const first = await chat.open('/v1/ai-sdk/chat', {
    agentId: 'steps',
    threadId: 'T',
    messages: [user('u1', 'go')],
  });
  const had = await first.until('text-delta');
  const [start] = framesOf(had);
  chat.models.steps.push(hangs('rest'));
  await chat.restart();
  await first.close();
  await eventually(
    async () => chat.models.steps.length,
    (left) => left === 0,
  );

  const newcomer = await chat.follow(FOLLOW);
  t.equal(newcomer.status, 200);
  const known = await chat.follow(FOLLOW, { 'last-event-id': had.at(-1)?.id ?? '' });
  t.equal(known.status, 200);
  await newcomer.until('text-delta');
  await chat.post('/v1/threads/T/cancel');
  const behind = framesOf(await known.rest());
  t.equal(textOf(behind), 'rest');
  t.match(behind[0], { type: 'start', messageId: start?.messageId }, 'the client continues its message');
  t.notOk(typesOf(behind).includes('tool-input-available'), 'the client already has the calls');
  t.equal(behind.at(-1)?.type, 'finish');

  const late = await chat.follow(FOLLOW);
  t.equal(late.status, 204, 'the run has ended');
  const all = newcomer.raw();
  t.match(all, /"type":"start","messageId".*"tool-input-available".*"tool-output-.*"delta":"rest"/s);
  t.equal(all.match(/"type":"start"/g)?.length, 1);
});

t.test('has no chat stream for a resumed run of another protocol', async (t) => {
  const chat = await startChat(t);
  const run = await chat.run({ agentId: 'slow', threadId: 'T', messages: [{ role: 'user', content: 'x' }] });
  await run.until('text_delta');
  await chat.restart();
  await eventually(
    async () => chat.models.waiting(),
    (waiting) => waiting === 1,
  );
  t.equal((await chat.follow(FOLLOW)).status, 204);
});
