import { createMetrics } from '../../src/telemetry/metrics.ts';

/** The metrics of the service as the table of the README. */
export const metricsMarkdown = (): string => {
  const metrics = createMetrics();
  metrics.read({
    store: () => ({ file_bytes: 0, used_bytes: 0, rows: {} }),
    breakers: () => [],
    work: () => ({ waiting: 0 }),
    sessions: () => 0,
    mcpServers: () => [],
  });
  const rows = metrics.families.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || '–'} | ${help} |`,
  );
  return ['| Name | Type | Labels | Meaning |', '|---|---|---|---|', ...rows.sort()].join('\n');
};
