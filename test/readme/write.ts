import { settingsMarkdown } from '../../src/settings.ts';
import { metricsMarkdown } from './metrics-table.ts';
import { replaceTable } from './replace-table.ts';

/** Writes the tables of the README that the code has: of settings and of metrics. */
replaceTable('settings', settingsMarkdown());
replaceTable('metrics', metricsMarkdown());
