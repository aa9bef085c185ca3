import type { Metrics } from '../observability/metrics/metrics.ts';
import { createSharedRendering } from '../observability/metrics/shared-rendering.ts';

/**
 * Renderings are shared for this long: one takes tens of milliseconds with many agents, and any client may request it.
 */
const RENDER_MS = 1000;

/** The text of the metrics for scrapers. */
export const metricsText = ({ render, contentType }: Pick<Metrics, 'render' | 'contentType'>) => ({
  render: createSharedRendering(render, RENDER_MS),
  contentType,
});
