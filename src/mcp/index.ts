export { ToolRecords } from './pins.ts';
export { createMcpManager, type McpManager, type McpManagerDeps } from './servers.ts';
export type { ReportedChange, ToolLedgerDeps } from './tool-ledger.ts';
