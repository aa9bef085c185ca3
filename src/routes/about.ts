/** Groups of routes in the order of the OpenAPI document. */
const TAGS = [
  {
    name: 'runs',
    description: 'Runs of agents: start one and stream it, read it, cancel it, decide its calls.',
  },
  { name: 'threads', description: 'Conversations that contain runs.' },
  { name: 'messages', description: 'The history of a thread, and input that is not streamed.' },
  { name: 'mailbox', description: 'The queue of a thread.' },
  { name: 'events', description: 'The durable event log, as pages and as a live stream.' },
  { name: 'files', description: 'Uploaded files, in the form of OpenAI.' },
  { name: 'chat v6', description: 'The UI message stream of the AI SDK, version 6, for `useChat`.' },
  { name: 'AG-UI', description: 'The AG-UI protocol, for its clients and CopilotKit.' },
  { name: 'a2a', description: 'A2A 1.0 over HTTP+JSON: agents as servers of tasks.' },
  { name: 'MCP', description: 'The Model Context Protocol: agents as tools.' },
  { name: 'OpenAI', description: 'Agents as models for clients of OpenAI.' },
  { name: 'agents', description: 'Configured agents and their permissions.' },
  { name: 'identity', description: 'Users, API keys, and whom a request acts for.' },
  {
    name: 'config',
    description: 'Configuration entries, overrides, validation and the audit log.',
  },
  { name: 'servers', description: 'Status of providers, MCP servers and A2A servers.' },
  { name: 'admin assistant', description: 'An agent that helps with the configuration.' },
  { name: 'evals', description: 'Datasets, eval runs and their comparison.' },
  { name: 'traces', description: 'Recorded events of runs.' },
  { name: 'system', description: 'The service itself: its version, statecharts, actors and statistics.' },
  { name: 'health', description: 'Health checks and metrics for operators.' },
] as const;

/** General information of the OpenAPI document. */
export const ABOUT = {
  title: 'Troupe',
  description:
    'An agent runtime service. The unit of `_at` fields is documented in each schema. Errors are `{"error": "text"}`, except for ' +
    'A2A, MCP and OpenAI, which define separate formats. A method that a path does not support gets 405 and `Allow`. ' +
    'Idle event streams send comments to keep connections open.',
  // Relative to the address of the document, which may be below a base path.
  externalDocs: { description: 'The manual of this version', url: 'docs' },
  license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
  tags: TAGS,
};
