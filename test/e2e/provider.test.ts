import { join } from 'node:path';
import t from 'tap';
import { ANTHROPIC_ANSWER, chatChunk, sendEvents, startSseServer } from '../models/sse-server.ts';
import { runCommand } from './service.ts';

/** The bundled program with a model provider of each format. */

const ANSWERS: Record<string, readonly object[]> = {
  openai: [chatChunk({ content: 'Hi' }), chatChunk({}, 'stop')],
  anthropic: ANTHROPIC_ANSWER,
  gemini: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }],
  openai_resp: [
    { type: 'response.created', response: { id: 'r', model: 'm' } },
    { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hi' },
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
  ],
};

for (const [adapter, events] of Object.entries(ANSWERS)) {
  t.test(`${adapter}: the built service streams the completion of a provider`, async (t) => {
    const mock = await startSseServer(t, (response) => {
      sendEvents(response, events);
      response.end();
    });
    const service = runCommand(
      t,
      ['dev', '--http-addr', '127.0.0.1:0', '--storage-dir', join(t.testdir(), 'data')],
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: mock.url, OPENAI_ADAPTER: adapter, AGENT_MODEL: 'm' },
    );
    const [, url = ''] = await service.says(/(http:\/\/127\.0\.0\.1:\d+)/);
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const stream = await response.text();
    t.match(stream, '"delta":"Hi"');
    t.match(stream, '"natural_end"');
    // A list of models may be requested as well.
    t.equal(mock.requests.filter(({ body }) => body !== '').length, 1);
  });
}
