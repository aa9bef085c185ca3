import { hostNames, integer, origins } from '../kinds.ts';
import { setting } from '../setting.ts';

/** MCP, of which this service is a server. */
export const mcpSettings = [
  setting({
    key: 'mcp_allowed_hosts',
    env: 'SERVICE_MCP_ALLOWED_HOSTS',
    type: hostNames(),
    default: [],
    doc: 'names that requests to `/v1/mcp` may have in `Host`, besides those of `allowed_hosts`',
  }),
  setting({
    key: 'mcp_allowed_origins',
    env: 'SERVICE_MCP_ALLOWED_ORIGINS',
    type: origins(),
    default: [],
    doc: '`Origin` of requests to `/v1/mcp`, besides those of this machine and of the host itself',
  }),
  setting({
    key: 'mcp_session_idle_secs',
    env: 'SERVICE_MCP_SESSION_IDLE_SECS',
    type: integer(),
    default: 3600,
    doc: 'idle time after which a session is unknown; 0 = never',
  }),
  setting({
    key: 'mcp_session_max',
    env: 'SERVICE_MCP_SESSION_MAX',
    type: integer({ min: 1 }),
    default: 10_000,
    doc: 'sessions kept; those that were idle longest make room',
  }),
];
