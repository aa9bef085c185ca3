import type { ServerResponse } from 'node:http';
import t from 'tap';
import { createProvider } from './create-provider.ts';
import { inferenceFailure, joined, requestOf } from './infer.ts';
import { chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Completions that end badly over an intact connection, in every protocol. */

const responses = {
  text: { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hel' },
  item: { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
};
const anthropic = {
  start: {
    type: 'message_start',
    message: { id: 'm', role: 'assistant', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
  },
  block: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  text: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
};
const gemini = (text: string, finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts: [{ text }] }, index: 0, ...(finishReason && { finishReason }) },
  ],
});

type Protocol = { adapter: string; begin: object[]; filtered: object[]; named: string };

const PROTOCOLS: Protocol[] = [
  {
    adapter: 'openai',
    begin: [chatChunk({ content: 'Hel' })],
    filtered: [chatChunk({}, 'content_filter')],
    named: 'content_filter',
  },
  {
    adapter: 'groq',
    begin: [chatChunk({ content: 'Hel' })],
    filtered: [chatChunk({}, 'content_filter')],
    named: 'content_filter',
  },
  {
    adapter: 'openai_resp',
    begin: [responses.item, responses.text],
    filtered: [
      {
        type: 'response.incomplete',
        response: {
          id: 'r',
          usage: { input_tokens: 1, output_tokens: 1 },
          incomplete_details: { reason: 'content_filter' },
        },
      },
    ],
    named: 'content_filter',
  },
  {
    adapter: 'anthropic',
    begin: [anthropic.start, anthropic.block, anthropic.text],
    filtered: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
    named: 'refusal',
  },
  { adapter: 'gemini', begin: [gemini('Hel')], filtered: [gemini('', 'SAFETY')], named: 'SAFETY' },
];

for (const { adapter, begin, filtered, named } of PROTOCOLS) {
  const fail = async (answer: (response: ServerResponse) => void) => {
    const { url } = await startSseServer(t, answer);
    const provider = createProvider({ id: 'p', adapter, api_key: 'key', base_url: url }, {});
    const model = provider.model({ id: 'm', provider_id: 'p', upstream_model: 'up' });
    return inferenceFailure(model, requestOf('x'));
  };

  t.test(`${adapter}: reports a filtered completion as content_filtered`, async (t) => {
    const { heard, error } = await fail((response) => {
      sendEvents(response, [...begin, ...filtered]);
      response.end();
    });
    t.match(error, { class: 'content_filtered', transient: false, message: `content filtered: ${named}` });
    t.equal(joined(heard, 'text'), 'Hel');
  });

  t.test(`${adapter}: reports an event with truncated JSON as an interrupted stream`, async (t) => {
    const { heard, error } = await fail((response) => {
      sendEvents(response, begin);
      response.end('data: {"type":"content_bl');
    });
    t.match(error, { class: 'stream_interrupted', transient: true });
    t.equal(joined(heard, 'text'), 'Hel');
  });

  t.test(`${adapter}: reports a response that is not an event stream as a transient failure`, async (t) => {
    const { error } = await fail((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"half');
    });
    t.ok(error.transient, error.message);
  });
}
