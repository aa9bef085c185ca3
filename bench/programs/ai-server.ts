import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { simulateReadableStream, streamText } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

/** The typical implementation: `streamText` piped into a response of node:http. Nothing is stored. */

const tokens = Number(process.argv[2]);

const parts: LanguageModelV3StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '0' },
  ...Array.from({ length: tokens }, () => ({ type: 'text-delta', id: '0', delta: 'token ' }) as const),
  { type: 'text-end', id: '0' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: tokens, text: tokens, reasoning: 0 },
    },
  },
];

const allAtOnce = (): ReadableStream<LanguageModelV3StreamPart> =>
  simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null });

const oneATurn = (): ReadableStream<LanguageModelV3StreamPart> => {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      const part = parts[at];
      at += 1;
      await new Promise(setImmediate);
      if (part) controller.enqueue(part);
      else controller.close();
    },
  });
};

const modelOf = (stream: () => ReadableStream<LanguageModelV3StreamPart>) =>
  new MockLanguageModelV3({ doStream: async () => ({ stream: stream() }) });

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { messages } = JSON.parse(body);
  // A new mock per request, because the mock retains all its calls.
  const model = modelOf(request.url === '/turns' ? oneATurn : allAtOnce);
  await streamText({ model, prompt: messages[0].content }).pipeUIMessageStreamToResponse(response);
});

server.listen(0, '127.0.0.1', () => {
  // It listens on TCP, so its address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`);
});
process.on('disconnect', () => process.exit());
