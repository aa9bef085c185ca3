/** What the groups of routes are for, in the order in which the OpenAPI document shows them. */
const TAGS = [
  {
    name: 'runs',
    description: 'Runs of agents: start one and stream it, read it, cancel it, decide its calls.',
  },
  { name: 'threads', description: 'Conversations, to which runs belong.' },
  { name: 'messages', description: 'The history of a thread, and input that is not streamed.' },
  { name: 'mailbox', description: 'The queue of a thread.' },
  { name: 'events', description: 'The durable log of what happened, as pages and live.' },
  { name: 'chat v6', description: 'The UI message stream of the AI SDK, version 6, for `useChat`.' },
  { name: 'AG-UI', description: 'The AG-UI protocol, for its clients and CopilotKit.' },
  { name: 'a2a', description: 'A2A 1.0 over HTTP+JSON: agents as servers of tasks.' },
  { name: 'MCP', description: 'The Model Context Protocol: agents as tools.' },
  { name: 'agents', description: 'Agents of the configuration, and what they may do.' },
  {
    name: 'config',
    description: 'Everything that is configured: entries, their overrides, checks, the audit log.',
  },
  { name: 'servers', description: 'How providers, MCP servers and A2A servers are, as configured.' },
  { name: 'admin assistant', description: 'An agent that helps with the configuration.' },
  { name: 'evals', description: 'Datasets, eval runs and their comparison.' },
  { name: 'traces', description: 'What runs did, event by event.' },
  { name: 'system', description: 'The service itself: its version, statecharts, actors and statistics.' },
  { name: 'health', description: 'For whoever keeps the service running.' },
] as const;

/** What the OpenAPI document says of the service as a whole. */
export const ABOUT = {
  title: 'Troupe',
  description:
    'An agent runtime service. Times in `_at` fields are as each schema says. Errors are `{"error": "text"}`, but for ' +
    'A2A and MCP, which have forms of their own. A method that a path does not have is answered with 405 and `Allow`. ' +
    'Event streams send comments while nothing happens, so that connections are kept.',
  license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
  tags: TAGS,
};
