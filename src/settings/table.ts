import type { Entries } from './entries.ts';
import { a2aSettings } from './rows/a2a.ts';
import { adminSettings } from './rows/admin.ts';
import { clusterSettings } from './rows/cluster.ts';
import { configurationSettings } from './rows/configuration.ts';
import { evalSettings } from './rows/evals.ts';
import { fileSettings } from './rows/files.ts';
import { identitySettings } from './rows/identity.ts';
import { mcpSettings } from './rows/mcp.ts';
import { openAiSettings } from './rows/openai.ts';
import { mailboxSettings, runSettings } from './rows/runs.ts';
import { seedSettings } from './rows/seed.ts';
import { serverSettings } from './rows/server.ts';
import { telemetrySettings } from './rows/telemetry.ts';
import { traceSettings } from './rows/traces.ts';
import type { Setting } from './setting.ts';

/** The table, in the order of the help and the manual. */
export const settingGroups = [
  { title: 'Server', rows: serverSettings },
  { title: 'Cluster', rows: clusterSettings },
  { title: 'Admin API', rows: adminSettings },
  { title: 'Identity', rows: identitySettings },
  { title: 'Configuration', rows: configurationSettings },
  { title: 'Seed', rows: seedSettings },
  { title: 'Mailbox', rows: mailboxSettings },
  { title: 'Runs', rows: runSettings },
  { title: 'Files', rows: fileSettings },
  { title: 'A2A', rows: a2aSettings },
  { title: 'MCP', rows: mcpSettings },
  { title: 'OpenAI', rows: openAiSettings },
  { title: 'Evaluations', rows: evalSettings },
  { title: 'Traces', rows: traceSettings },
  { title: 'Telemetry', rows: telemetrySettings },
] as const;

export const settingRows: readonly Setting[] = settingGroups.flatMap(({ rows }) => [...rows]);

type AtKey<K extends string, T> = K extends `${infer Section}.${infer Rest}`
  ? { [S in Section]: AtKey<Rest, T> }
  : { [S in K]: T };

type Placed<R> = R extends Setting<infer K, infer T> ? AtKey<K, T> : never;

type Merged<U> = (U extends unknown ? (part: U) => void : never) extends (whole: infer All) => void
  ? All
  : never;

type Row = (typeof settingGroups)[number]['rows'][number];

export type SettingKey = Row['key'];

/** Every setting under its key, after defaults. */
export type Settings = Merged<Placed<Row>> & { entries: Entries };
