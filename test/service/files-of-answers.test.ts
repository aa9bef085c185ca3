import t from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { image, PNG } from '../models/images.ts';
import { says } from './agent-loop/agents.ts';
import { mcpClient } from './mcp/mcp.ts';
import { asks } from './models.ts';
import { startTroupe, type Troupe } from './troupe.ts';

/** Files of a completion, for callers that receive the completion as the result of a call. */

const CSV = Buffer.from('a,b').toString('base64');

const draw = defineTool({
  id: 'draw',
  description: 'Draws.',
  input: z.object({}),
  execute: () => ({
    data: 'drawn',
    parts: [
      { file: PNG, media_type: 'image/png', filename: 'a.png' },
      { file: 'AAAA', media_type: 'audio/wav' },
      { file: CSV, media_type: 'text/csv' },
      { url: 'https://a.example/b.png' },
      { data: { rows: 1 } },
    ],
  }),
});

const start = (test: Parameters<typeof startTroupe>[0]): Promise<Troupe> => {
  const agents = [
    { id: 'boss', delegates: ['artist'] },
    { id: 'artist', description: 'Draws.' },
  ].map((agent) => AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }));
  return startTroupe(test, { app: { tools: [draw], records: { ...NO_RECORDS, agents } } });
};

t.test('passes the files of a delegate to the delegating agent', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(
    asks(['c1', 'agent_run_artist', { prompt: 'Draw' }]),
    asks(['c2', 'draw']),
    says('Here.'),
    says('Thanks.'),
  );
  const messages = [{ role: 'user', content: 'Go' }];
  const events = await troupe.runToEnd({ agentId: 'boss', threadId: 'T', messages });
  const done = events.find(({ event_type }) => event_type === 'tool_call_done');
  t.match(done, { result: { status: 'success', data: { agent_id: 'artist', response: 'Here.' } } });
  const read = troupe.models.requests.at(-1)?.request.messages.at(-1)?.content;
  t.match(read, [
    { type: 'text', text: /"response":"Here\."/ },
    { ...image(), title: 'a.png' },
    { type: 'audio' },
    { type: 'document' },
    { type: 'image', source: { type: 'url' } },
    { type: 'text', text: '{"rows":1}' },
  ]);
});

t.test('returns the files of an agent to an MCP client', async (t) => {
  const troupe = await start(t);
  const session = await mcpClient(() => troupe.url).open();
  troupe.models.steps.push(asks(['c1', 'draw']), says('Here.'), asks(['c1', 'draw']), says(''));
  const files = [
    { type: 'image', mimeType: 'image/png', data: PNG },
    { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
    { type: 'resource', resource: { uri: /^troupe:runs\/.+\/files\/2$/, mimeType: 'text/csv', blob: CSV } },
    { type: 'text', text: '[image https://a.example/b.png, image/png]' },
    { type: 'resource', resource: { mimeType: 'application/json', text: '{"rows":1}' } },
  ];
  const { answer } = await session.callToEnd('artist', { message: 'Draw' });
  t.match(answer.result, { isError: false, content: [{ type: 'text', text: 'Here.' }, ...files] });
  const { answer: second } = await session.callToEnd('artist', { message: 'Draw' });
  t.match(second.result, { content: files });
});

t.test('returns uploaded files of an agent to MCP clients as links (checks 70, 71)', async (t) => {
  const write = defineTool({
    id: 'write',
    description: 'Writes a file.',
    input: z.object({}),
    async execute(_, { files }) {
      const file_id = await files?.write({ name: 'a.csv', media_type: 'text/csv', data: Buffer.from('a,b') });
      return { data: 'written', parts: file_id === undefined ? [] : [{ file_id }] };
    },
  });
  const agents = [{ id: 'artist', description: 'Draws.' }].map((agent) =>
    AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }),
  );
  const troupe = await startTroupe(t, { app: { tools: [write], records: { ...NO_RECORDS, agents } } });
  const client = mcpClient(() => troupe.url);
  const session = await client.open();
  troupe.models.steps.push(asks(['c1', 'write']), says('Here.'), asks(['c1', 'write']), says('Here.'));
  const { answer } = await session.callToEnd('artist', { message: 'Write' });
  const [text, link] = Object(answer.result).content;
  t.match(text, { type: 'text', text: 'Here.' });
  t.match(link, { type: 'resource_link', name: 'a.csv', mimeType: 'text/csv', size: 3 });
  t.ok(link.uri.startsWith(`${troupe.url}/v1/files/file-`), link.uri);
  t.equal(await (await fetch(link.uri)).text(), 'a,b');

  const old = await client.open({ protocolVersion: '2025-03-26' });
  const { answer: second } = await old.callToEnd('artist', { message: 'Write' });
  t.match(Object(second.result).content, [
    { type: 'text', text: 'Here.' },
    { type: 'text', text: /^\[file a\.csv, text\/csv, 3 bytes\] http:.*\/content\?expires=\d+&signature=/ },
  ]);
});
