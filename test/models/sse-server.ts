import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export type SeenRequest = { url: string; headers: IncomingMessage['headers']; body: string };

/** A minimal provider that responds to every request with a callback and records the requests. */
export const startSseServer = async (
  t: Test,
  answer: (response: ServerResponse, request: SeenRequest) => void,
): Promise<{ url: string; requests: SeenRequest[] }> => {
  const requests: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const seen = { url: incoming.url ?? '', headers: incoming.headers, body };
    requests.push(seen);
    answer(response, seen);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
};

/** Writes server-sent events; the response stays open. */
export const sendEvents = (response: ServerResponse, events: readonly object[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
};

/** A chunk of the chat completions protocol. */
export const chatChunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});

/** A whole completion of the Messages protocol; its last event precedes the end of the response. */
export const ANTHROPIC_ANSWER: readonly object[] = [
  {
    type: 'message_start',
    message: { id: 'm', role: 'assistant', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
