/** Snippets that make the same call of an agent with each protocol. */

export type SnippetKind = 'chat' | 'runs' | 'agui' | 'a2a' | 'client' | 'react';

export const SNIPPET_KINDS: readonly SnippetKind[] = ['chat', 'runs', 'agui', 'a2a', 'client', 'react'];

export type Called = { url: string; agentId: string; threadId: string | undefined };

const json = (value: unknown): string => JSON.stringify(value);

/** Quotes a text for a shell with single quotes, whatever it contains. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (url: string, body: unknown): string =>
  [
    `curl -N ${quoted(url)} \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${quoted(json(body))}`,
  ].join('\n');

const id = encodeURIComponent;

const SNIPPETS: Record<SnippetKind, (called: Called) => string> = {
  chat: ({ url, agentId, threadId }) =>
    curl(`${url}/v1/ai-sdk/agents/${id(agentId)}/runs`, {
      ...(threadId !== undefined && { threadId }),
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
    }),
  runs: ({ url, agentId, threadId }) =>
    curl(`${url}/v1/runs`, {
      agentId,
      ...(threadId !== undefined && { threadId }),
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  agui: ({ url, agentId, threadId }) =>
    curl(`${url}/v1/ag-ui/agents/${id(agentId)}/runs`, {
      threadId: threadId ?? 'my-thread',
      runId: 'my-run',
      messages: [{ id: 'm1', role: 'user', content: 'Hello' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  a2a: ({ url, agentId, threadId }) =>
    curl(`${url}/v1/a2a/${id(agentId)}/message:stream`, {
      message: {
        messageId: 'm1',
        role: 'ROLE_USER',
        ...(threadId !== undefined && { contextId: threadId }),
        parts: [{ text: 'Hello' }],
      },
    }),
  client: ({ url, agentId, threadId }) =>
    [
      "import { createClient } from 'troupe/client';",
      '',
      `const client = createClient({ url: ${json(url)} });`,
      'const run = client.runs.stream({',
      `  agentId: ${json(agentId)},`,
      ...(threadId === undefined ? [] : [`  threadId: ${json(threadId)},`]),
      "  messages: [{ role: 'user', content: 'Hello' }],",
      '});',
      'console.log(await run.text());',
    ].join('\n'),
  react: ({ url, agentId, threadId }) =>
    [
      "import { useTroupeChat } from 'troupe/react';",
      '',
      'const { messages, sendMessage, isBusy, stop } = useTroupeChat({',
      `  url: ${json(url)},`,
      `  agentId: ${json(agentId)},`,
      `  threadId: ${json(threadId ?? 'my-thread')},`,
      '});',
    ].join('\n'),
};

export const snippetOf = (kind: SnippetKind, called: Called): string => SNIPPETS[kind](called);

export const LANGUAGES: Record<SnippetKind, string> = {
  chat: 'sh',
  runs: 'sh',
  agui: 'sh',
  a2a: 'sh',
  client: 'ts',
  react: 'tsx',
};
