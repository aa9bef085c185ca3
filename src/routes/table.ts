import type { Route } from '../http/route.ts';
import { agUiRunRoutes } from './ag-ui/runs.ts';
import { agUiThreadRoutes } from './ag-ui/threads.ts';
import { previewRoutes } from './chat/previews.ts';
import { chatRunRoutes } from './chat/runs.ts';
import { chatThreadRoutes } from './chat/threads.ts';
import { controlRoutes } from './control.ts';
import { controlPlaneRoutes } from './control-plane.ts';
import { evalDatasetRoutes } from './eval-datasets.ts';
import { evalRunRoutes } from './eval-runs.ts';
import { eventRoutes } from './events.ts';
import { inputRoutes } from './inputs.ts';
import { inspectionRoutes } from './inspection.ts';
import { messageRoutes } from './messages.ts';
import { programRoutes } from './programs.ts';
import type { Rooms } from './rooms.ts';
import { runRoutes } from './runs.ts';
import { runtimeStatsRoutes } from './runtime-stats.ts';
import { systemRoutes } from './system.ts';
import { threadRoutes } from './threads.ts';
import { traceRoutes } from './traces.ts';

/** All routes that have no protocol of their own. */
export const routesOf = (rooms: Rooms): Route[] => [
  ...systemRoutes(rooms),
  ...runtimeStatsRoutes(rooms),
  ...inspectionRoutes(rooms),
  ...programRoutes(rooms.programs),
  ...threadRoutes(rooms),
  ...messageRoutes(rooms),
  ...inputRoutes(rooms),
  ...controlRoutes(rooms),
  ...runRoutes(rooms),
  ...eventRoutes(rooms),
  ...traceRoutes(rooms),
  ...evalDatasetRoutes(rooms),
  ...evalRunRoutes(rooms),
  ...chatRunRoutes(rooms),
  ...chatThreadRoutes(rooms),
  ...previewRoutes(rooms),
  ...agUiRunRoutes(rooms),
  ...agUiThreadRoutes(rooms),
  ...controlPlaneRoutes(rooms),
];
