import type { Route } from '../http/route.ts';
import { accessLogRoutes } from './access-log.ts';
import { agUiRunRoutes } from './ag-ui/runs.ts';
import { agUiThreadRoutes } from './ag-ui/threads.ts';
import { authorizationRoutes } from './authorizations.ts';
import { budgetRoutes } from './budgets.ts';
import { previewRoutes } from './chat/previews.ts';
import { chatRunRoutes } from './chat/runs.ts';
import { chatThreadRoutes } from './chat/threads.ts';
import { connectionRoutes } from './connections.ts';
import { controlRoutes } from './control.ts';
import { controlPlaneRoutes } from './control-plane.ts';
import { evalDatasetRoutes } from './eval-datasets.ts';
import { evalRunRoutes } from './eval-runs.ts';
import { eventRoutes } from './events.ts';
import { identityRoutes } from './identity.ts';
import { inputRoutes } from './inputs.ts';
import { inspectionRoutes } from './inspection.ts';
import { keyRoutes } from './keys.ts';
import { memberRoutes } from './members.ts';
import { messageRoutes } from './messages.ts';
import { programRoutes } from './programs.ts';
import type { RouteDeps } from './route-deps.ts';
import { runRoutes } from './runs.ts';
import { runtimeStatsRoutes } from './runtime-stats.ts';
import { sessionRoutes } from './sessions.ts';
import { signInRoutes } from './sign-in.ts';
import { systemRoutes } from './system.ts';
import { threadForkRoutes } from './thread-fork.ts';
import { threadRoutes } from './threads.ts';
import { ticketRoutes } from './tickets.ts';
import { traceRoutes } from './traces.ts';
import { usageRoutes } from './usage.ts';
import { userRoutes } from './users.ts';

/** Returns all routes that are not part of a protocol family. */
export const createRouteTable = (deps: RouteDeps): Route[] => {
  const routes = withoutTickets(deps);
  return [...routes, ...ticketRoutes(deps, routes)];
};

const withoutTickets = (deps: RouteDeps): Route[] => [
  ...systemRoutes(deps),
  ...memberRoutes(deps),
  ...runtimeStatsRoutes(deps),
  ...inspectionRoutes(deps),
  ...programRoutes(deps.programs),
  ...threadRoutes(deps),
  ...threadForkRoutes(deps),
  ...messageRoutes(deps),
  ...inputRoutes(deps),
  ...controlRoutes(deps),
  ...runRoutes(deps),
  ...eventRoutes(deps),
  ...traceRoutes(deps),
  ...evalDatasetRoutes(deps),
  ...evalRunRoutes(deps),
  ...chatRunRoutes(deps),
  ...chatThreadRoutes(deps),
  ...previewRoutes(deps),
  ...agUiRunRoutes(deps),
  ...agUiThreadRoutes(deps),
  ...identityRoutes(deps),
  ...sessionRoutes(deps),
  ...signInRoutes(deps),
  ...keyRoutes(deps),
  ...userRoutes(deps),
  ...connectionRoutes(deps),
  ...authorizationRoutes(deps),
  ...accessLogRoutes(deps),
  ...controlPlaneRoutes(deps),
  ...budgetRoutes(deps),
  ...usageRoutes(deps),
];
