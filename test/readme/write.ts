import { settingsMarkdown } from '../../src/settings.ts';
import { adaptersMarkdown } from './adapters-table.ts';
import { metricsMarkdown } from './metrics-table.ts';
import { replaceTable } from './replace-table.ts';

/** Writes the tables of the README that the code has: of settings, metrics and adapters. */
replaceTable('settings', settingsMarkdown());
replaceTable('metrics', metricsMarkdown());
replaceTable('adapters', adaptersMarkdown());
