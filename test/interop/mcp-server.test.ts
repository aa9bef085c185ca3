import t, { type Test } from 'tap';
import { createMcpEndpoint, type McpEndpoint } from '../../src/protocols/mcp/endpoint.ts';
import { createCallerCheck, createHostChecks } from '../../src/protocols/mcp/origin.ts';
import { mcpRoutes } from '../../src/routes/mcp/index.ts';
import { serve } from '../http/serve.ts';
import { startTroupe } from '../service/troupe.ts';
import { allApplicablePass, conformanceSuite, type NotApplicable, type Outcomes } from './mcp-conformance.ts';
import { createFixtures } from './mcp-fixtures/provider.ts';

/** The MCP endpoint against the conformance suite of the MCP project: mcp.md C2, C3 and C5, check 35. */

const NO_RESUME: NotApplicable = {
  'a stream is not resumed, and its service has no listening stream': ['server-sse-polling'],
};

const NO_TASKS: NotApplicable = {
  'tasks are an extension that is not offered': ['tasks-*'],
  'no argument of a tool is asked for in a header': ['http-custom-header-server-validation'],
};

const AGENTS_ANSWER: NotApplicable = {
  'an agent answers in text': [
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
  ],
  'the suite has a tool of its own for it': ['tools-call-with-progress', 'json-schema-2020-12'],
  'agents are tools, and nothing else is offered': [
    'completion-complete',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
};

/** For 2025-03-26 the suite only covers sessions, which the others include. */
const REVISIONS: Record<string, { agents: NotApplicable; fixtures: NotApplicable }> = {
  '2025-11-25': {
    agents: {
      ...NO_RESUME,
      ...AGENTS_ANSWER,
      'the suite has a tool of its own for it, of a revision with sessions': ['tools-call-with-logging'],
      'an agent asks its client for nothing': [
        'tools-call-sampling',
        'tools-call-elicitation',
        'elicitation-sep1034-defaults',
        'elicitation-sep1330-enums',
      ],
      'nothing can be subscribed to': ['resources-subscribe', 'resources-unsubscribe'],
    },
    fixtures: NO_RESUME,
  },
  '2026-07-28': {
    agents: {
      ...NO_TASKS,
      ...AGENTS_ANSWER,
      'the suite has a tool of its own for it, of a revision without sessions': [
        'server-stateless:sep-2575-server-rejects-undeclared-capability',
        'server-stateless:sep-2575-missing-capability-http-400',
        'server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription',
      ],
      'neither prompts nor resources are offered': [
        'caching:sep-2549-prompts-list-caching-hints',
        'caching:sep-2549-resources-list-caching-hints',
        'caching:sep-2549-resources-templates-list-caching-hints',
      ],
      'no agent of the test asks for input': [
        'input-required-result-basic-elicitation',
        'input-required-result-basic-sampling',
        'input-required-result-basic-list-roots',
        'input-required-result-request-state',
        'input-required-result-multiple-input-requests',
        'input-required-result-multi-round',
        'input-required-result-non-tool-request',
        'input-required-result-result-type',
        'input-required-result-tampered-state',
        'input-required-result-capability-check',
      ],
    },
    fixtures: NO_TASKS,
  },
};

/** The protocol core of the service with the fixtures of the suite instead of agents. */
const serveFixtures = async (t: Test): Promise<string> => {
  const endpoint: McpEndpoint = createMcpEndpoint({
    provider: createFixtures(() => endpoint.toolsChanged()),
    ids: { uuid: () => crypto.randomUUID() },
    actors: { began: () => () => {} },
    log: { debug() {} },
    addReader: () => () => {},
    settings: { mcp_session_idle_secs: 3600, mcp_session_max: 100 },
  });
  const acceptsHost = createHostChecks({ listening: '127.0.0.1', names: [], publicUrls: [] });
  const families = [mcpRoutes(endpoint, createCallerCheck({ acceptsHost, origins: [] }), undefined)];
  const settings = { body_limit_bytes: 2 ** 21, sse_buffer_size: 1000 };
  const { url } = await serve(t, [], { families, settings });
  t.teardown(() => endpoint.close());
  return `${url}/v1/mcp`;
};

const suite = await conformanceSuite();

if (typeof suite === 'string') t.plan(0, suite);
else {
  /** One process of the suite for each revision, because starting it takes most of the time. */
  const run = (url: string, ...args: string[]): Promise<Outcomes> =>
    suite.run(['server', '--url', url, ...args]);

  for (const [revision, { agents, fixtures }] of Object.entries(REVISIONS)) {
    t.test(`agents conform to ${revision}`, async (t) => {
      const { url } = await startTroupe(t);
      allApplicablePass(t, await run(`${url}/v1/mcp`, '--requirements', revision), agents);
    });

    t.test(`the protocol core conforms to ${revision}`, async (t) => {
      allApplicablePass(t, await run(await serveFixtures(t), '--requirements', revision), fixtures);
    });
  }

  t.test('the protocol core conforms to 2025-06-18', async (t) => {
    const url = await serveFixtures(t);
    allApplicablePass(t, await run(url, '--suite', 'active', '--spec-version', '2025-06-18'), {});
  });
}
