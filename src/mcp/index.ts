export type { Authorization, McpManagerDeps } from './entries.ts';
export { ToolRecords } from './pins.ts';
export { createMcpManager, type McpManager } from './servers.ts';
export type { ReportedChange, ToolLedgerDeps } from './tool-ledger.ts';
