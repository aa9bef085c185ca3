import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

/**
 * The usual program without Troupe: `streamText` with a provider, piped into a response of node:http. Nothing is
 * stored.
 *
 * Usage: ai-proxy UPSTREAM; then POST /MODEL
 */

const provider = createOpenAICompatible({
  name: 'upstream',
  baseURL: `${process.argv[2]}/v1`,
  apiKey: 'bench',
  includeUsage: true,
});

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { messages } = JSON.parse(body);
  const model = provider.chatModel(request.url?.slice(1) ?? '');
  streamText({ model, prompt: messages[0].content }).pipeUIMessageStreamToResponse(response);
});

// By default it closes a connection that is idle for 5 s, even if a busy event loop has not yet read its next request.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', 4096, () => {
  // It listens on TCP, so its address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`);
});
process.on('disconnect', () => process.exit());
