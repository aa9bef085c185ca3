import {
  type CallToolResult,
  inputRequired,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { McpProvider } from '../../../src/protocols/mcp/provider.ts';
import type { Fixture } from './fixture.ts';
import { PROMPTS } from './prompts.ts';
import { contentsOf, RESOURCES, TEMPLATES } from './resources.ts';
import { TOOLS } from './tools.ts';

/** The server that the conformance suite expects, behind the protocol core of the service. */

const INVALID_PARAMS = -32_602;

/** @param changed called by a tool of the suite: the list of tools has changed */
export const createFixtures = (changed: () => void): McpProvider => ({
  info: { name: 'fixtures', version: '1.0.0' },
  capabilities: {
    tools: { listChanged: true },
    logging: {},
    prompts: {},
    resources: { subscribe: true },
    completions: {},
  },
  checkScope() {},
  readingOf: () => undefined,
  bind(server) {
    bindTools(server, changed);
    bindPrompts(server);
    bindResources(server);
    server.setRequestHandler('completion/complete', () => ({
      completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
    }));
  },
});

const bindTools = (server: Server, changed: () => void): void => {
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, { inputSchema }]) => ({ name, description: name, inputSchema })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    if (name === 'test_trigger_tool_change') changed();
    const tool = TOOLS[name];
    if (!tool) return { content: [{ type: 'text', text: `Unknown tool: ${name}` }], isError: true };
    // The suite checks the result of a fixture, so it is not validated here.
    return (await tool.call(args, fixtureOf(server, context))) as CallToolResult;
  });
};

/** The client fields in a request of a revision without sessions. */
const Envelope = z.looseObject({
  'io.modelcontextprotocol/clientCapabilities': z.record(z.string(), z.unknown()).default({}),
});

const fixtureOf = (server: Server, { mcpReq }: ServerContext): Fixture => ({
  log: (level, data) => void mcpReq.log(z.enum(['info']).parse(level), data),
  progress(progress, total) {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    void mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
  },
  request: (method, params) => mcpReq.send({ method, params: { ...params } }, z.looseObject({})),
  answers: z.record(z.string(), z.record(z.string(), z.unknown())).catch({}).parse(mcpReq.inputResponses),
  state: mcpReq.requestState<string>(),
  capabilities: {
    ...server.getClientCapabilities(),
    ...Envelope.parse(mcpReq.envelope ?? {})['io.modelcontextprotocol/clientCapabilities'],
  },
});

const bindPrompts = (server: Server): void => {
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(PROMPTS).map(([name, { description, takes }]) => ({
      name,
      description,
      arguments: takes.map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    if (params.name === ASKING) return mcpReq.inputResponses === undefined ? ASKED : said('Thank you.');
    const prompt = PROMPTS[params.name];
    if (!prompt) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${params.name}`);
    const contents = prompt.says(params.arguments ?? {});
    return { messages: contents.map((content) => ({ role: 'user' as const, content })) };
  });
};

const said = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
});

const ASKING = 'test_input_required_result_prompt';

const ASKED = inputRequired({
  inputRequests: {
    user_context: inputRequired.elicit({
      message: 'What context should the prompt use?',
      requestedSchema: {
        type: 'object',
        properties: { context: { type: 'string' } },
        required: ['context'],
      },
    }),
  },
});

const bindResources = (server: Server): void => {
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const contents = contentsOf(uri);
    if (!contents) throw new ProtocolError(INVALID_PARAMS, 'Resource not found', { uri });
    return { contents };
  });
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.setRequestHandler(method, () => ({}));
};
