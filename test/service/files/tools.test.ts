import t from 'tap';
import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { startAgUi } from '../ag-ui/ag-ui.ts';
import { says } from '../agent-loop/agents.ts';
import { startChat } from '../chat/chat.ts';
import { asks } from '../models.ts';
import { withUsers } from '../users.ts';
import { get, upload } from './client.ts';

/** Files in tools. */

const upper = defineTool({
  id: 'upper',
  description: 'Converts a text file to upper case.',
  input: z.object({ id: z.string() }),
  async execute({ id }, { files }) {
    if (!files) throw new Error('there are no files');
    const whole = Buffer.from(await files.read(id)).toString();
    let streamed = '';
    for await (const chunk of files.stream(id)) streamed += Buffer.from(chunk).toString();
    const written = await files.write({
      name: 'upper.txt',
      media_type: 'text/plain',
      data: Buffer.from(whole.toUpperCase()),
    });
    return { data: { isSame: whole === streamed, written }, parts: [{ file_id: written }] };
  },
});

const ASK = { role: 'user', parts: [{ type: 'text', text: 'Convert it.' }] };

t.test('lets a tool read the attachment of the user and write another file (check 71)', async (t) => {
  const troupe = await startChat(t, { app: { tools: [upper] } });
  const { body } = await upload(troupe.url, 'hello');
  troupe.models.steps.push(asks(['c1', 'upper', { id: body.id }]), says('Done.'));
  await troupe.say('steps', 'C', ASK);
  const { messages } = await troupe.history('C');
  const parts = messages.flatMap((message) => message.parts);
  const file = parts.find(({ type }) => type === 'file');
  t.match(file, { mediaType: 'text/plain', filename: 'upper.txt', url: /^troupe-file:file-[0-9a-f]{32}$/ });
  const id = String(file?.url).slice('troupe-file:'.length);
  t.equal(String((await get(troupe.url, `/v1/files/${id}/content`)).bytes), 'HELLO');
  t.match(JSON.stringify(parts), '"isSame":true');
});

t.test('shows the file of a tool on AG-UI, on A2A and in the native history (check 71)', async (t) => {
  const troupe = await startAgUi(t, { app: { tools: [upper] } });
  const { body } = await upload(troupe.url, 'hello');
  const convert = () => troupe.models.steps.push(asks(['c1', 'upper', { id: body.id }]), says('Done.'));
  const written = /^troupe-file:file-[0-9a-f]{32}$/;
  convert();
  const message = { id: 'm', role: 'user', content: 'Convert it.' };
  const events = await troupe.ask({ agentId: 'steps', threadId: 'G', runId: 'r', messages: [message] });
  const shown = events.find(({ activityType }) => activityType === 'file');
  t.match(shown, { content: { url: written, mediaType: 'text/plain' } });

  const native = await troupe.call('GET', '/v1/threads/G/messages');
  const id = String(Object(shown?.content).url).slice('troupe-file:'.length);
  t.match(JSON.stringify(native.body), `"file_id":"${id}"`);
  const { messages } = await troupe.items('G');
  t.match(JSON.stringify(messages), id);

  convert();
  const sent = await troupe.call(
    'POST',
    '/v1/a2a/steps/message:send',
    { message: { messageId: 'a', role: 'ROLE_USER', parts: [{ text: 'Convert it.' }] } },
    { 'a2a-version': '1.0' },
  );
  t.match(JSON.stringify(sent.body), /"url":"troupe-file:file-[0-9a-f]{32}"/);
});

t.test('gives a tool the files of the user of its run only', async (t) => {
  const troupe = await withUsers(t, { app: { tools: [upper] } });
  const [alice, bob] = [troupe.user('alice'), troupe.user('bob')];
  const { body } = await upload(troupe.url, 'secret', { headers: alice.head });
  troupe.models.steps.push(asks(['c1', 'upper', { id: body.id }]), says('Sorry.'));
  await bob.post('/v1/runs', {
    agentId: 'steps',
    threadId: 'T',
    messages: [{ role: 'user', content: 'Convert it.' }],
  });
  const history = await bob.get('/v1/threads/T/messages');
  t.match(JSON.stringify(history.body), `file not found: ${body.id}`);
});
