import { settingsMarkdown } from '../../src/settings/index.ts';
import { adaptersMarkdown } from './adapters-table.ts';
import { benchmarkRowsMarkdown } from './benchmark-rows.ts';
import { commandsMarkdown } from './commands-table.ts';
import { ERROR_TABLES } from './errors-tables.ts';
import { EVENT_TABLES } from './events-tables.ts';
import { logEventsMarkdown } from './log-events-table.ts';
import { metricsMarkdown } from './metrics-table.ts';
import { PLUGIN_TABLES } from './plugins-tables.ts';

export type GeneratedTable = { name: string; page: string; table: () => string };

/** Generated tables of the documents, with the names of their markers. */
export const GENERATED: readonly GeneratedTable[] = [
  { name: 'settings', page: 'src/docs/reference/settings.md', table: settingsMarkdown },
  { name: 'metrics', page: 'src/docs/reference/metrics.md', table: metricsMarkdown },
  { name: 'adapters', page: 'src/docs/reference/adapters.md', table: adaptersMarkdown },
  { name: 'benchmark-rows', page: 'README.md', table: benchmarkRowsMarkdown },
  { name: 'log-events', page: 'src/docs/reference/log-events.md', table: logEventsMarkdown },
  { name: 'commands', page: 'src/docs/reference/cli.md', table: commandsMarkdown },
  ...PLUGIN_TABLES,
  ...EVENT_TABLES,
  ...ERROR_TABLES,
];
