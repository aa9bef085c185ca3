import t from 'tap';
import { eventually } from '../troupe.ts';
import { say, startChat } from './chat.ts';

/** Stops of the service while a client waits for a chat completion (openai.md 11): its run continues afterwards. */

for (const stream of [true, false]) {
  t.test(`continues the run of a ${stream ? 'streamed' : 'held'} completion after a restart`, async (t) => {
    const { complete, stream: streamed, troupe } = await startChat(t);
    const body = { model: 'slow', messages: [say('hi')] };
    const asked = stream ? streamed(body) : complete(body);
    const closed = asked.catch(() => undefined);
    await eventually(
      async () => troupe.models.waiting(),
      (waiting) => waiting === 1,
    );
    await troupe.restart();
    await closed;
    await eventually(
      async () => troupe.models.waiting(),
      (waiting) => waiting === 1,
    );
    troupe.models.releaseAll();
    const run = async () => Object((await troupe.call('GET', '/v1/runs?limit=1')).body).items[0];
    t.match(await eventually(run, ({ status }) => status === 'done'), {
      termination_reason: { type: 'natural_end' },
    });
  });
}
