import { hostNames, integer, origins } from '../kinds.ts';
import { setting } from '../setting.ts';

/** Settings of the MCP server of this service. */
export const mcpSettings = [
  setting({
    key: 'mcp_allowed_hosts',
    env: 'SERVICE_MCP_ALLOWED_HOSTS',
    type: hostNames(),
    default: [],
    doc: 'accepted `Host` values of requests to `/v1/mcp`, in addition to `allowed_hosts`',
  }),
  setting({
    key: 'mcp_allowed_origins',
    env: 'SERVICE_MCP_ALLOWED_ORIGINS',
    type: origins(),
    default: [],
    doc: 'accepted `Origin` values of requests to `/v1/mcp`, in addition to loopback origins and the origin of the host',
  }),
  setting({
    key: 'mcp_session_idle_secs',
    env: 'SERVICE_MCP_SESSION_IDLE_SECS',
    type: integer(),
    default: 3600,
    doc: 'idle time after which a session expires; 0 = never',
  }),
  setting({
    key: 'mcp_session_max',
    env: 'SERVICE_MCP_SESSION_MAX',
    type: integer({ min: 1 }),
    default: 10_000,
    doc: 'maximum number of sessions; the session that was idle the longest is evicted first',
  }),
];
