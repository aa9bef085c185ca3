import { isUtf8 } from 'node:buffer';
import t from 'tap';
import { CHARACTERS, wellFormed } from '../http/characters.ts';
import { mcpClient } from './mcp/mcp.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Text keeps its bytes through every protocol, on either HTTP server and on every version of Node. */

const AGENT = 'echo';

/** For each protocol, a request with a text that the model returns. */
const SURFACES: [name: string, path: string, body: (text: string, id: string) => object][] = [
  ['run', '/v1/runs', (content) => ({ agentId: AGENT, messages: [{ role: 'user', content }] })],
  [
    'chat',
    '/v1/ai-sdk/chat',
    (text, id) => ({
      agentId: AGENT,
      threadId: `chat-${id}`,
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }],
    }),
  ],
  [
    'AG-UI',
    '/v1/ag-ui/run',
    (content, id) => ({
      agentId: AGENT,
      threadId: `ag-ui-${id}`,
      runId: `run-${id}`,
      messages: [{ id: 'u1', role: 'user', content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  ],
  [
    'A2A',
    `/v1/a2a/${AGENT}/message:send`,
    (text, id) => ({ message: { messageId: `send-${id}`, role: 'ROLE_USER', parts: [{ text }] } }),
  ],
  [
    'A2A stream',
    `/v1/a2a/${AGENT}/message:stream`,
    (text, id) => ({ message: { messageId: `stream-${id}`, role: 'ROLE_USER', parts: [{ text }] } }),
  ],
];

/** The text as JSON without quotes: lone surrogates are escaped, or replaced where a protocol cuts text. */
const onWire = (text: string): Buffer[] =>
  [text, wellFormed(text)].map((each) => Buffer.from(JSON.stringify(each).slice(1, -1)));

const contains = (bytes: Buffer, text: string): boolean =>
  isUtf8(bytes) && onWire(text).some((expected) => bytes.includes(expected));

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

t.test('every protocol returns each kind of character as UTF-8', async (t) => {
  const { url } = await startTroupe(t);
  const session = await mcpClient(() => url).open();
  for (const [index, text] of CHARACTERS.entries()) {
    for (const [name, path, body] of SURFACES) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body(text, `${index}`)),
      });
      const bytes = await bytesOf(response);
      t.ok(contains(bytes, `echo: ${text}`), `${name}, text ${index}`);
    }
    const called = await session.call(AGENT, { message: text });
    await called.rest();
    t.ok(contains(Buffer.from(called.raw()), `echo: ${text}`), `MCP, text ${index}`);
  }
});

t.test('stored text and console data keep their bytes', async (t) => {
  const { url, call } = await startTroupe(t);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  for (const [index, text] of CHARACTERS.entries()) {
    const thread = `thread-${index}`;
    const { status } = await call(
      'POST',
      '/v1/config/agents',
      {
        id: `agent-${index}`,
        model_id: AGENT,
        description: text,
      },
      { authorization },
    );
    t.equal(status, 201);
    await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: AGENT, threadId: thread, messages: [{ role: 'user', content: text }] }),
    }).then(bytesOf);
    for (const path of [
      `/v1/threads/${thread}/messages`,
      '/v1/config/agents',
      `/v1/ai-sdk/threads/${thread}/messages`,
      `/v1/ag-ui/threads/${thread}/messages`,
    ]) {
      const bytes = await bytesOf(await fetch(url + path, { headers: { authorization } }));
      t.ok(contains(bytes, text), `${path}, text ${index}`);
    }
  }
});
