import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { code, tableOf } from './fields.ts';

/** The metrics of the service as the table of the manual. */
export const metricsMarkdown = (): string => {
  const metrics = createMetrics();
  metrics.read({
    store: () => ({ file_bytes: 0, used_bytes: 0, rows: {} }),
    breakers: () => [],
    work: () => ({ waiting: 0 }),
    sessions: () => 0,
    signedIn: () => 0,
    budgets: () => [],
    files: () => ({ files: 0, bytes: 0 }),
    mcpServers: () => [],
  });
  const rows = metrics.families.map(({ name, type, labels, help }) => [
    code(name),
    type,
    labels.map(code).join(', ') || '–',
    help,
  ]);
  return tableOf(['Name', 'Type', 'Labels', 'Meaning'], rows.sort());
};
