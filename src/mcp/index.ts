export { createMcpManager, type McpManager, type McpManagerDeps } from './servers.ts';
